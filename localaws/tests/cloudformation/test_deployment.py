"""The order of creation, updates in place and replacements."""

from typing import Any

import pytest
from tests.cloudformation.small_templates import group, parameter, subnet_template

pytestmark = pytest.mark.slow


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
