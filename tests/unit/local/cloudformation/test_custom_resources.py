"""Custom resources: answers, failures, updates, the Provider framework, Node handlers, buckets that empty themselves."""

import shutil
from typing import Any

import pytest

pytestmark = pytest.mark.deploy

TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
ROLE = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": TRUST}}

INLINE = """
import cfnresponse

def handler(event, context):
    properties = event["ResourceProperties"]
    if properties.get("Fail") == event["RequestType"]:
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, reason="told to fail")
        return
    data = {"Request": event["RequestType"], "Number": properties["Number"], "Old": str(event.get("OldResourceProperties"))}
    cfnresponse.send(event, context, cfnresponse.SUCCESS, data, properties.get("Id", "fixed"))
"""


def function(code: str, *, runtime: str = "python3.13", **variables: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Runtime": runtime,
            "Handler": "index.handler",
            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Code": {"ZipFile": code},
            "Environment": {"Variables": variables},
        },
    }


def custom(code: str = INLINE, *, runtime: str = "python3.13", **properties: Any) -> dict[str, Any]:
    token = {"Fn::GetAtt": ["Function", "Arn"]}
    return {
        "Resources": {
            "Role": ROLE,
            "Function": function(code, runtime=runtime),
            "Thing": {"Type": "Custom::Thing", "Properties": {"ServiceToken": token, **properties}},
        },
        "Outputs": {
            "Request": {"Value": {"Fn::GetAtt": ["Thing", "Request"]}},
            "Number": {"Value": {"Fn::GetAtt": ["Thing", "Number"]}},
        },
    }


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


def test_function_sees_the_local_aws_and_no_variable_of_ours(
    stacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "secret")
    code = """
import os, cfnresponse
def handler(event, context):
    said = os.environ["AWS_ENDPOINT_URL"] + " " + os.environ.get("AWS_SESSION_TOKEN", "none")
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {"Request": said, "Number": "1"})
"""
    stacks.create("one", custom(code, Number=1))
    assert stacks.outputs("one")["Request"] == f"{stacks.local.endpoint} none"


def test_provider_framework_asks_until_it_is_complete(stacks: Any) -> None:
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


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not on PATH; run `make env`")
def test_node_handler_runs_and_answers_by_https_as_the_handlers_of_the_cdk_do(stacks: Any) -> None:
    code = """
const https = require('https');
exports.handler = (event) => new Promise((resolve, reject) => {
  const body = JSON.stringify({ ...event, Status: 'SUCCESS', PhysicalResourceId: 'node', Data: { Request: 'node', Number: '1' } });
  const url = new URL(event.ResponseURL);
  const request = https.request({ hostname: url.hostname, path: url.pathname, method: 'PUT',
    headers: { 'content-length': Buffer.byteLength(body) } }, (response) => { response.resume(); resolve(); });
  request.on('error', reject);
  request.end(body);
});
"""
    assert stacks.create("one", custom(code, runtime="nodejs22.x", Number=1)) == "CREATE_COMPLETE"
    assert stacks.ids("one")["Thing"] == "node"


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
