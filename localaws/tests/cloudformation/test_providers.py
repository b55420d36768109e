"""A provider says what it cannot update, and does not miss what is gone."""

from contextlib import nullcontext
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local.cloudformation.providers import unless_gone

pytestmark = pytest.mark.slow


def role(path: str) -> dict[str, Any]:
    properties = {
        "RoleName": "mine",
        "Path": path,
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": []},
    }
    return {"Resources": {"Role": {"Type": "AWS::IAM::Role", "Properties": properties}}}


def test_custom_named_resource_cannot_be_replaced(stacks: Any) -> None:
    stacks.create("one", role("/"))
    assert stacks.update("one", role("/other/")) == "UPDATE_ROLLBACK_COMPLETE"
    assert "custom-named resource requires replacing. Rename mine" in stacks.reasons("one")["Role"]


def test_update_that_the_local_aws_does_not_support_fails_with_the_reason(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Address": {"Type": "AWS::EC2::EIP"}}})
    attached = {"Type": "AWS::EC2::EIP", "Properties": {"InstanceId": "i-00000000000000000"}}
    assert stacks.update("one", {"Resources": {"Address": attached}}) == "UPDATE_ROLLBACK_COMPLETE"
    said = stacks.reasons("one")["Address"]
    assert "The local AWS cannot update InstanceId of AWS::EC2::EIP in place" in said


@pytest.mark.parametrize(
    ("code", "gone"),
    [
        ("NoSuchEntity", True),
        ("ResourceNotFoundException", True),
        ("AWS.SimpleQueueService.NonExistentQueue", True),
        ("DependencyViolation", False),
    ],
)
def test_what_is_gone_already_is_not_missed_at_a_deletion(code: str, *, gone: bool) -> None:
    error = ClientError({"Error": {"Code": code, "Message": ""}}, "Delete")

    with nullcontext() if gone else pytest.raises(ClientError), unless_gone():
        raise error
