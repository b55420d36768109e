"""Removed resources are deleted, except those that are to be kept."""

from typing import Any

import pytest
from tests.cloudformation.small_templates import group, subnet_template

pytestmark = pytest.mark.slow


def test_replaced_resource_with_the_retain_policy_stays(stacks: Any) -> None:
    first, second = subnet_template("10.0.1.0/24"), subnet_template("10.0.2.0/24")
    for template in (first, second):
        template["Resources"]["Subnet"]["UpdateReplacePolicy"] = "Retain"
    stacks.create("one", first)
    old = stacks.ids("one")["Subnet"]
    stacks.update("one", second)
    assert stacks.local.client("ec2").describe_subnets(SubnetIds=[old])["Subnets"]


def test_removed_resources_are_deleted_and_retained_ones_are_not(stacks: Any) -> None:
    stacks.create(
        "one", {"Resources": {"Keep": group(1), "Gone": group(5), "Kept": group(3, DeletionPolicy="Retain")}}
    )
    stacks.update("one", {"Resources": {"Keep": group(1)}})
    found = stacks.local.client("logs").describe_log_groups()["logGroups"]
    assert sorted(one["retentionInDays"] for one in found) == [1, 3]
    assert ("Kept", "DELETE_SKIPPED") in stacks.events("one")
