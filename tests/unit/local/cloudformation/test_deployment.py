"""Creation, update, replacement and rollback of a stack."""

from typing import Any

import pytest
from tests.unit.local.cloudformation.small_templates import group, parameter, subnet_template

pytestmark = pytest.mark.deploy

MISSING_VPC = {
    "Type": "AWS::EC2::Subnet",
    "Properties": {"VpcId": "vpc-00000000000000000", "CidrBlock": "10.0.0.0/24"},
}


def test_creates_in_the_order_of_references_and_depends_on(stacks: Any) -> None:
    template = {
        "Resources": {
            "Last": parameter("x", DependsOn=["Middle"]),
            "Middle": parameter({"Ref": "First"}),
            "First": parameter("y"),
        }
    }
    assert stacks.create("one", template) == "CREATE_COMPLETE"
    done = [name for name, status in stacks.events("one") if status == "CREATE_COMPLETE"]
    assert done == ["First", "Middle", "Last", "one"]


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


def test_updates_in_place_keep_the_physical_id(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Logs": group(30)}})
    before = stacks.ids("one")
    assert stacks.update("one", {"Resources": {"Logs": group(7)}}) == "UPDATE_COMPLETE"
    assert stacks.ids("one") == before
    found = stacks.local.client("logs").describe_log_groups()["logGroups"]
    assert [one["retentionInDays"] for one in found] == [7]


def test_replacement_makes_the_new_one_first_passes_its_id_on_and_deletes_the_old_one(stacks: Any) -> None:
    stacks.create("one", subnet_template("10.0.1.0/24"))
    old = stacks.ids("one")["Subnet"]
    assert stacks.update("one", subnet_template("10.0.2.0/24")) == "UPDATE_COMPLETE"
    new = stacks.ids("one")["Subnet"]
    assert new != old
    ids = stacks.ids("one")
    value = stacks.local.client("ssm").get_parameter(Name=ids["User"])["Parameter"]["Value"]
    assert value == new
    filters = [{"Name": "vpc-id", "Values": [ids["Vpc"]]}]
    found = stacks.local.client("ec2").describe_subnets(Filters=filters)["Subnets"]
    assert [one["SubnetId"] for one in found] == [new]


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
