import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from tests.unit.ultracluster.builders import RESERVATION, ZONE, block, of_type, only, ultra_cluster

import ultracluster as uc
from ultracluster import CapacityReservation, ClusterPlacement
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow
CLUSTER = ec2.PlacementGroupStrategy.CLUSTER


def test_a_block_gets_no_placement_group(stack: cdk.Stack) -> None:
    assert ClusterPlacement.for_capacity(stack, "Placement", block()) is None
    assert of_type(stack, "AWS::EC2::PlacementGroup") == []


def test_a_reservation_outside_any_group_gets_none(stack: cdk.Stack) -> None:
    reservation = CapacityReservation(reservation_id=RESERVATION, zone_id=ZONE)
    assert ClusterPlacement.for_capacity(stack, "Placement", reservation) is None


def test_a_reservation_keeps_the_group_that_it_was_made_in(stack: cdk.Stack) -> None:
    reservation = CapacityReservation(reservation_id=RESERVATION, zone_id=ZONE, placement_group="training")
    placement = ClusterPlacement.for_capacity(stack, "Placement", reservation)
    assert placement.placement_group_name == "training"
    assert of_type(stack, "AWS::EC2::PlacementGroup") == []


def group_of(stack: cdk.Stack) -> object:
    return only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"].get("PlacementGroup")


def test_nodes_are_placed_in_no_group_when_asked(stack: cdk.Stack) -> None:
    ultra_cluster(stack, placement="none")
    assert of_type(stack, "AWS::EC2::PlacementGroup") == []
    assert group_of(stack) is None


def test_nodes_are_placed_in_an_existing_group(stack: cdk.Stack) -> None:
    ultra_cluster(stack, placement=uc.ClusterPlacement(stack, "Mine", placement_group_name="training"))
    assert of_type(stack, "AWS::EC2::PlacementGroup") == []
    assert group_of(stack) == "training"


def test_nodes_are_placed_in_a_group_of_the_cdk(stack: cdk.Stack) -> None:
    ultra_cluster(stack, placement=ec2.PlacementGroup(stack, "Mine", strategy=CLUSTER))
    assert group_of(stack) == {"Fn::GetAtt": ["MineC1B42D3A", "GroupName"]}


def test_nodes_are_placed_in_an_imported_group_of_the_cdk(stack: cdk.Stack) -> None:
    group = ec2.PlacementGroup.from_placement_group_name(stack, "Mine", "training")
    capacity = uc.CapacityReservation(reservation_id=RESERVATION, zone_id=ZONE, placement_group="training")
    ultra_cluster(stack, capacity=capacity, placement=group)
    assert group_of(stack) == "training"


def test_the_strategy_of_the_cdk_makes_a_group(stack: cdk.Stack) -> None:
    ultra_cluster(stack, placement=CLUSTER)
    assert only(stack, "AWS::EC2::PlacementGroup")["Strategy"] == "cluster"


def test_a_group_that_keeps_nodes_apart_is_refused(stack: cdk.Stack) -> None:
    spread = ec2.PlacementGroupStrategy.SPREAD
    for placement in (spread, ec2.PlacementGroup(stack, "Apart", strategy=spread)):
        with pytest.raises(FindingsError, match=r"UC4061: .*placement: got SPREAD"):
            ultra_cluster(stack, placement=placement)


@pytest.mark.parametrize("name", ["other", None])
def test_rejects_another_group_than_that_of_the_reservation(stack: cdk.Stack, name: str | None) -> None:
    capacity = uc.CapacityReservation(
        reservation_id="cr-0123456789abcdef0", zone_id=ZONE, placement_group="training"
    )
    placement = uc.ClusterPlacement(stack, "Mine", placement_group_name=name) if name else "none"
    with pytest.raises(FindingsError, match="UC4023"):
        ultra_cluster(stack, capacity=capacity, placement=placement)
