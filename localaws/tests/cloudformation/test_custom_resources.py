"""Custom resources: answers, failures, updates, the Provider framework, Node handlers, buckets that empty themselves."""

from typing import Any

import pytest
from tests.cloudformation.custom_templates import ROLE, custom, function

pytestmark = pytest.mark.slow


def test_function_answers_and_its_data_are_attributes(stacks: Any) -> None:
    assert stacks.create("one", custom(Number=4, Flag=True)) == "CREATE_COMPLETE"
    assert stacks.outputs("one") == {"Request": "Create", "Number": "4"}
    assert stacks.ids("one")["Thing"] == "fixed"


def test_update_sends_the_old_properties_and_delete_is_sent_at_the_end(stacks: Any) -> None:
    stacks.create("one", custom(Number=4))
    assert stacks.update("one", custom(Number=5)) == "UPDATE_COMPLETE"
    assert stacks.outputs("one") == {"Request": "Update", "Number": "5"}
    assert stacks.delete("one") == "DELETE_COMPLETE"


def test_another_physical_id_after_an_update_deletes_the_old_one(stacks: Any) -> None:
    stacks.create("one", custom(Number=4, Id="a"))
    stacks.update("one", custom(Number=4, Id="b"))
    assert stacks.ids("one")["Thing"] == "b"
    thing = [status for name, status in stacks.events("one") if name == "Thing"]
    assert thing[-4:] == ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE", "DELETE_IN_PROGRESS", "DELETE_COMPLETE"]


def test_failure_rolls_the_stack_back_with_its_reason(stacks: Any) -> None:
    assert stacks.create("one", custom(Number=4, Fail="Create")) == "ROLLBACK_COMPLETE"
    assert "told to fail" in stacks.reasons("one")["Thing"]
    assert stacks.local.client("lambda").list_functions()["Functions"] == []


def test_failed_update_sends_the_old_properties_back(stacks: Any) -> None:
    stacks.create("one", custom(Number=4))
    assert stacks.update("one", custom(Number=5, Fail="Update")) == "UPDATE_ROLLBACK_COMPLETE"
    assert stacks.outputs("one")["Number"] == "4"


def test_function_that_crashes_fails_at_once_with_its_error(stacks: Any) -> None:
    code = "def handler(event, context):\n    raise RuntimeError('broken')\n"
    assert stacks.create("one", custom(code, Number=1)) == "ROLLBACK_COMPLETE"
    assert "broken" in stacks.reasons("one")["Thing"]


def test_the_provider_framework_polls_until_completion(stacks: Any) -> None:
    on_event = """
def handler(event, context):
    return {"PhysicalResourceId": "made", "Data": {"Request": event["RequestType"]}}
"""
    is_complete = """
import os, pathlib
def handler(event, context):
    seen = pathlib.Path(os.environ["TMPDIR"]) / event["RequestId"]
    if not seen.exists():
        seen.touch()
        return {"IsComplete": False}
    return {"IsComplete": True, "Data": {"Number": event["PhysicalResourceId"]}}
"""
    template = custom(Number=1)
    template["Resources"] |= {
        "OnEvent": function(on_event),
        "IsComplete": function(is_complete),
        "Function": function(
            "def handler(event, context):\n    raise RuntimeError('the framework itself is not run')\n",
            USER_ON_EVENT_FUNCTION_ARN={"Fn::GetAtt": ["OnEvent", "Arn"]},
            USER_IS_COMPLETE_FUNCTION_ARN={"Fn::GetAtt": ["IsComplete", "Arn"]},
        ),
    }
    assert stacks.create("one", template) == "CREATE_COMPLETE", stacks.reasons("one")
    assert stacks.outputs("one") == {"Request": "Create", "Number": "made"}


def test_bucket_with_auto_delete_is_emptied_before_it_goes(stacks: Any) -> None:
    template = {
        "Resources": {
            "Role": ROLE,
            "Function": function("not run"),
            "Bucket": {
                "Type": "AWS::S3::Bucket",
                "Properties": {"VersioningConfiguration": {"Status": "Enabled"}},
            },
            "Empty": {
                "Type": "Custom::S3AutoDeleteObjects",
                "Properties": {
                    "ServiceToken": {"Fn::GetAtt": ["Function", "Arn"]},
                    "BucketName": {"Ref": "Bucket"},
                },
            },
        }
    }
    stacks.create("one", template)
    s3, bucket = stacks.local.client("s3"), stacks.ids("one")["Bucket"]
    for body in (b"1", b"2"):
        s3.put_object(Bucket=bucket, Key="a", Body=body)
    s3.delete_object(Bucket=bucket, Key="a")
    assert stacks.delete("one") == "DELETE_COMPLETE"
    assert bucket not in [one["Name"] for one in s3.list_buckets()["Buckets"]]
