"""Rollback of what fails, and the deletion of a stack."""

from typing import Any

import pytest
from tests.cloudformation.small_templates import group, subnet_template
from tests.refusals import refusal

pytestmark = pytest.mark.slow

MISSING_VPC = {
    "Type": "AWS::EC2::Subnet",
    "Properties": {"VpcId": "vpc-00000000000000000", "CidrBlock": "10.0.0.0/24"},
}


def test_failed_creation_is_rolled_back_with_the_reason_and_leaves_nothing(stacks: Any) -> None:
    template = {"Resources": {"Logs": group(30), "Subnet": {**MISSING_VPC, "DependsOn": "Logs"}}}
    assert stacks.create("one", template) == "ROLLBACK_COMPLETE"
    assert "vpc-00000000000000000" in stacks.reasons("one")["Subnet"]
    assert stacks.local.client("logs").describe_log_groups()["logGroups"] == []


def test_failed_creation_stays_when_rollback_is_disabled(stacks: Any) -> None:
    template = {"Resources": {"Logs": group(30), "Subnet": {**MISSING_VPC, "DependsOn": "Logs"}}}
    assert stacks.create("one", template, DisableRollback=True) == "CREATE_FAILED"
    assert list(stacks.ids("one")) == ["Logs"]
    assert stacks.delete("one") == "DELETE_COMPLETE"


def test_failed_update_restores_what_was_updated_replaced_and_added(stacks: Any) -> None:
    template = subnet_template("10.0.1.0/24")
    template["Resources"]["Logs"] = group(30)
    stacks.create("one", template)
    before = stacks.ids("one")
    changed = subnet_template("10.0.2.0/24")
    changed["Resources"] |= {
        "Logs": group(7),
        "Added": group(1),
        "Broken": {**MISSING_VPC, "DependsOn": ["Logs", "Added", "User"]},
    }
    assert stacks.update("one", changed) == "UPDATE_ROLLBACK_COMPLETE"
    assert stacks.ids("one") == before
    found = stacks.local.client("logs").describe_log_groups()["logGroups"]
    assert [one["retentionInDays"] for one in found] == [30]
    subnet = stacks.local.client("ec2").describe_subnets(SubnetIds=[before["Subnet"]])["Subnets"][0]
    assert subnet["CidrBlock"] == "10.0.1.0/24"
    value = stacks.local.client("ssm").get_parameter(Name=before["User"])["Parameter"]["Value"]
    assert value == before["Subnet"]


def test_stack_can_be_updated_after_a_rolled_back_update(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Logs": group(30)}})
    stacks.update("one", {"Resources": {"Logs": group(7), "Broken": {**MISSING_VPC, "DependsOn": "Logs"}}})
    assert stacks.update("one", {"Resources": {"Logs": group(14)}}) == "UPDATE_COMPLETE"


def test_deleting_a_stack_leaves_retained_resources_and_nothing_else(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Gone": group(5), "Kept": group(3, DeletionPolicy="Retain")}})
    assert stacks.delete("one") == "DELETE_COMPLETE"
    found = stacks.local.client("logs").describe_log_groups()["logGroups"]
    assert [one["retentionInDays"] for one in found] == [3]


def test_a_failed_deletion_lists_the_remaining_resources_and_can_be_tried_again(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}, "Logs": group(1)}})
    bucket = stacks.ids("one")["Bucket"]
    stacks.local.client("s3").put_object(Bucket=bucket, Key="a", Body=b"")
    assert stacks.delete("one") == "DELETE_FAILED"
    assert list(stacks.ids("one")) == ["Bucket"]
    stacks.local.client("s3").delete_object(Bucket=bucket, Key="a")
    assert stacks.delete("one") == "DELETE_COMPLETE"


def test_a_resource_that_a_deletion_retains_stays(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Gone": group(1), "Kept": {"Type": "AWS::S3::Bucket"}}})
    bucket = stacks.ids("one")["Kept"]
    stacks.local.client("s3").put_object(Bucket=bucket, Key="a", Body=b"")
    asked = {"StackName": "one", "RetainResources": ["Kept"]}

    assert "DELETE_FAILED state" in refusal(stacks.api.delete_stack, **asked)[1]
    assert stacks.delete("one") == "DELETE_FAILED"
    stacks.api.delete_stack(**asked)
    assert stacks.api.describe_stacks()["Stacks"] == []
    assert stacks.local.client("s3").list_objects_v2(Bucket=bucket)["KeyCount"] == 1
