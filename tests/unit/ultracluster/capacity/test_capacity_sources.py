"""Several sources of capacity behind one queue."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import (
    RESERVATION,
    ZONE,
    block,
    new_stack,
    only,
)
from tests.unit.ultracluster.capacity.three_sources import GROUP, OTHER, RESERVED, SPILL, cluster

from ultracluster import (
    BlockLifecycle,
    Capacity,
    CapacityBlock,
    CapacityReservation,
    ClusterPlacement,
    Network,
    OnDemand,
    Queue,
    ReservationGroup,
    UltraCluster,
)
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_the_network_has_addresses_for_the_nodes_of_all_sources(stack: cdk.Stack) -> None:
    other = CapacityReservation(reservation_id=OTHER, zone_id=ZONE, name="other")
    # 150 nodes with 17 addresses each fit into a subnet of 4,096, 300 do not.
    cluster(stack, OnDemand(), other, node_count=150, network=Network(nic_layout="all-efa"))
    assert only(stack, "AWS::EC2::Subnet")["CidrBlock"].endswith("/19")


def variables(resources: Mapping[str, Any]) -> dict[str, Any]:
    """The environment of the function that looks after the block."""
    (found,) = (
        each["Properties"]["Environment"]["Variables"]
        for each in resources.values()
        if "UC_RESERVATION_ID" in each.get("Properties", {}).get("Environment", {}).get("Variables", {})
    )
    return dict(found)


def test_only_the_block_is_opened_and_closed(three: UltraCluster, resources: Mapping[str, Any]) -> None:
    given = variables(resources)
    first, *others = (cdk.Stack.of(three).resolve(each.arn) for each in three.queue.environments)
    assert given["UC_COMPUTE_ENVIRONMENT"] == first
    assert "UC_ADDITIONAL_JOB_QUEUES" not in given
    (updates,) = (
        statement
        for role in resources.values()
        if role["Type"] == "AWS::IAM::Role"
        for policy in role["Properties"].get("Policies", [])
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Action"] == "batch:UpdateComputeEnvironment"
    )
    assert updates["Resource"] == first
    assert len(others) == 2


def test_a_block_that_is_not_the_first_source_has_a_life_cycle() -> None:
    stack = new_stack()
    later = CapacityBlock(reservation_id=RESERVATION, zone_id=ZONE, name="later")
    whole = cluster(stack, OnDemand(), later)
    second = stack.resolve(whole.queue.environments[1].arn)
    found = assertions.Template.from_stack(stack).to_json()["Resources"]
    assert variables(found)["UC_COMPUTE_ENVIRONMENT"] == second
    assert whole.block_lifecycle is whole.block_lifecycles[0]


def logical_ids(*sources: Capacity) -> dict[str, set[str]]:
    stack = new_stack()
    cluster(stack, *sources)
    found = assertions.Template.from_stack(stack).to_json()["Resources"]
    kinds = {"AWS::Batch::ComputeEnvironment", "AWS::EC2::LaunchTemplate", "AWS::Batch::JobQueue"}
    return {kind: {name for name, resource in found.items() if resource["Type"] == kind} for kind in kinds}


def test_another_source_in_front_replaces_nothing() -> None:
    before = logical_ids(OnDemand())
    new = CapacityBlock(reservation_id=RESERVATION, zone_id=ZONE, name="december")
    after = logical_ids(new, OnDemand())
    for kind, ids in before.items():
        assert ids <= after[kind]
        assert len(after[kind] - ids) == (0 if kind == "AWS::Batch::JobQueue" else 1)


def test_a_group_of_reservations_is_used_and_nothing_beyond_it(stack: cdk.Stack) -> None:
    source = ReservationGroup(resource_group_arn=GROUP, zone_id=ZONE)
    cluster(stack, source)
    data = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    assert data["CapacityReservationSpecification"] == {
        "CapacityReservationPreference": "capacity-reservations-only",
        "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": GROUP},
    }
    assert "InstanceMarketOptions" not in data


def test_the_life_cycle_names_what_the_queue_launches_into_instead(stack: cdk.Stack) -> None:
    whole = cluster(stack, RESERVED, SPILL)
    with pytest.raises(FindingsError, match=f"UC4116.*launched into.*{OTHER}"):
        BlockLifecycle(stack, "Lifecycle", block=block(), queue=whole.queue)


def test_a_placement_group_applies_to_the_sources_that_can_use_it(stack: cdk.Stack) -> None:
    mine = ClusterPlacement(stack, "Mine", placement_group_name="mine")
    outside = CapacityReservation(
        reservation_id="cr-00000000000000001", zone_id=ZONE, name="outside", max_nodes=1
    )
    whole = cluster(
        stack, block(), RESERVED, outside, SPILL, placement=mine, queue=Queue(capacity=("capacity", "spill"))
    )
    names = [each.placement.placement_group_name if each.placement else None for each in whole.node_groups]
    assert names == [None, "near", "mine", "mine"]


def test_a_reservation_can_be_made_inside_the_group(stack: cdk.Stack) -> None:
    placement = ClusterPlacement(stack, "Placement")
    *_, kind, name = stack.resolve(placement.placement_group_arn)["Fn::Join"][1]
    assert (kind, name) == (":placement-group/", stack.resolve(placement.placement_group_name))


@pytest.mark.parametrize("group", [None, "near"])
def test_nodes_of_a_group_of_reservations_are_placed_where_these_were_made(
    stack: cdk.Stack, group: str | None
) -> None:
    cluster(
        stack,
        ReservationGroup(resource_group_arn=GROUP, zone_id=ZONE, placement_group=group),
    )
    resources = only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]
    assert resources.get("PlacementGroup") == group
