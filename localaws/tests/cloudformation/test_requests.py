"""The template, tags and state that a request for a stack comes with."""

import json
from typing import Any

import pytest
from tests.cloudformation.small_templates import group, parameter
from tests.refusals import refusal

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.requests import refuse_unsettled
from ultracluster_local.cloudformation.stacks import Stack, stacks_of

pytestmark = pytest.mark.slow

ONE = {"Resources": {"Logs": group(1)}}


def tags(stacks: Any) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in stacks.describe("one")["Tags"]}


def test_a_template_is_read_from_a_bucket(stacks: Any) -> None:
    s3 = stacks.local.client("s3")
    s3.create_bucket(Bucket="templates")
    s3.put_object(Bucket="templates", Key="deep/one.json", Body=json.dumps(ONE).encode())

    url = "https://s3.us-east-1.amazonaws.com/templates/deep/one.json?versionId=1"
    stacks.api.create_stack(StackName="one", TemplateURL=url)

    assert list(stacks.ids("one")) == ["Logs"]


def test_an_update_can_use_the_template_that_the_stack_has(stacks: Any) -> None:
    template = {"Parameters": {"P": {"Type": "String"}}, "Resources": {"V": parameter({"Ref": "P"})}}
    stacks.create("one", template, Parameters=[{"ParameterKey": "P", "ParameterValue": "a"}])

    stacks.api.update_stack(
        StackName="one", UsePreviousTemplate=True, Parameters=[{"ParameterKey": "P", "ParameterValue": "b"}]
    )

    name = stacks.ids("one")["V"]
    assert stacks.local.client("ssm").get_parameter(Name=name)["Parameter"]["Value"] == "b"


def test_a_request_without_a_template_is_refused(stacks: Any) -> None:
    said = refusal(stacks.api.create_stack, StackName="one")

    assert said == ("ValidationError", "Either Template URL or Template Body must be specified.")


def test_an_update_keeps_the_tags_of_a_stack_unless_it_has_its_own(stacks: Any) -> None:
    stacks.create("one", ONE, Tags=[{"Key": "team", "Value": "research"}])

    stacks.update("one", {"Resources": {"Logs": group(3)}})
    assert tags(stacks) == {"team": "research"}

    stacks.update("one", {"Resources": {"Logs": group(5)}}, Tags=[{"Key": "cost", "Value": "7"}])
    assert tags(stacks) == {"cost": "7"}


def test_a_stack_that_does_not_exist_is_named_in_the_refusal(stacks: Any) -> None:
    assert "absent does not exist" in refusal(stacks.api.describe_stacks, StackName="absent")[1]


@pytest.mark.parametrize(
    ("status", "updatable"),
    [
        ("CREATE_COMPLETE", True),
        ("UPDATE_ROLLBACK_COMPLETE", True),
        ("UPDATE_IN_PROGRESS", False),
        ("ROLLBACK_COMPLETE", False),
        ("ROLLBACK_FAILED", False),
        ("UPDATE_ROLLBACK_FAILED", False),
        ("DELETE_FAILED", False),
    ],
)
def test_only_a_settled_stack_that_was_created_can_be_updated(
    stacks: Any, status: str, *, updatable: bool
) -> None:
    stacks.create("one", ONE)
    stack: Stack = stacks_of("us-east-1").get("one")
    stack.enter(status)

    if updatable:
        refuse_unsettled(stack)
    else:
        with pytest.raises(ValidationError, match=f"is in {status} state and can not be updated"):
            refuse_unsettled(stack)
