from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from tests.unit.ultracluster.builders import RESERVATION, ZONE, block, of_type, only, ultra_cluster

import ultracluster as uc
from ultracluster import Capacity, CapacityReservation, ClusterPlacement
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow
CLUSTER = ec2.PlacementGroupStrategy.CLUSTER
RESERVED = CapacityReservation(reservation_id=RESERVATION, zone_id=ZONE, placement_group="training")


@pytest.mark.parametrize(
    ("capacity", "group"),
    [
        (block(), None),
        (CapacityReservation(reservation_id=RESERVATION, zone_id=ZONE), None),
        (RESERVED, "training"),
    ],
)
def test_reserved_capacity_keeps_the_group_that_it_was_made_in_and_gets_no_other(
    stack: cdk.Stack, capacity: Capacity, group: str | None
) -> None:
    placement = ClusterPlacement.for_capacity(stack, "Placement", capacity)
    assert (placement and placement.placement_group_name) == group
    assert of_type(stack, "AWS::EC2::PlacementGroup") == []


def group_of(stack: cdk.Stack) -> object:
    return only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"].get("PlacementGroup")


@pytest.mark.parametrize(
    ("placement", "group"),
    [
        (lambda _: "none", None),
        (lambda stack: ClusterPlacement(stack, "Mine", placement_group_name="training"), "training"),
        (lambda stack: ec2.PlacementGroup.from_placement_group_name(stack, "Mine", "training"), "training"),
    ],
)
def test_nodes_are_placed_in_the_given_group_and_none_is_made(
    stack: cdk.Stack, placement: Callable[[cdk.Stack], Any], group: str | None
) -> None:
    ultra_cluster(stack, placement=placement(stack))
    assert of_type(stack, "AWS::EC2::PlacementGroup") == []
    assert group_of(stack) == group


def test_nodes_are_placed_in_a_group_of_the_cdk(stack: cdk.Stack) -> None:
    ultra_cluster(stack, placement=ec2.PlacementGroup(stack, "Mine", strategy=CLUSTER))
    assert group_of(stack) == {"Fn::GetAtt": ["MineC1B42D3A", "GroupName"]}


def test_the_strategy_of_the_cdk_makes_a_group(stack: cdk.Stack) -> None:
    ultra_cluster(stack, placement=CLUSTER)
    assert only(stack, "AWS::EC2::PlacementGroup")["Strategy"] == "cluster"


def test_a_group_that_keeps_nodes_apart_is_refused(stack: cdk.Stack) -> None:
    spread = ec2.PlacementGroupStrategy.SPREAD
    for placement in (spread, ec2.PlacementGroup(stack, "Apart", strategy=spread)):
        with pytest.raises(FindingsError, match=r"UC4061: .*placement: got SPREAD"):
            ultra_cluster(stack, placement=placement)


def test_nodes_in_a_reservation_may_be_given_its_group(stack: cdk.Stack) -> None:
    same = ec2.PlacementGroup.from_placement_group_name(stack, "Same", "training")
    ultra_cluster(stack, capacity=RESERVED, placement=same)
    assert group_of(stack) == "training"


@pytest.mark.parametrize("name", ["other", None])
def test_rejects_another_group_than_that_of_the_reservation(stack: cdk.Stack, name: str | None) -> None:
    placement = uc.ClusterPlacement(stack, "Mine", placement_group_name=name) if name else "none"
    with pytest.raises(FindingsError, match="UC4023"):
        ultra_cluster(stack, capacity=RESERVED, placement=placement)
