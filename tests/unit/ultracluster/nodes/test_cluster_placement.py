import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import RESERVATION, ZONE, block, of_type, only

from ultracluster import CapacityReservation, ClusterPlacement

pytestmark = pytest.mark.synth


def test_on_demand_nodes_get_a_cluster_placement_group(stack: cdk.Stack) -> None:
    placement = ClusterPlacement.for_capacity(stack, "Placement", None)
    assert placement.placement_group_name
    assert only(stack, "AWS::EC2::PlacementGroup") == {"Strategy": "cluster"}


def test_a_block_gets_no_placement_group(stack: cdk.Stack) -> None:
    assert ClusterPlacement.for_capacity(stack, "Placement", block()) is None
    assert of_type(stack, "AWS::EC2::PlacementGroup") == []


def test_a_reservation_outside_any_group_gets_none(stack: cdk.Stack) -> None:
    reservation = CapacityReservation.from_reservation_id(RESERVATION, zone_id=ZONE)
    assert ClusterPlacement.for_capacity(stack, "Placement", reservation) is None


def test_a_reservation_keeps_the_group_that_it_was_made_in(stack: cdk.Stack) -> None:
    reservation = CapacityReservation.from_reservation_id(
        RESERVATION, zone_id=ZONE, placement_group_name="training"
    )
    placement = ClusterPlacement.for_capacity(stack, "Placement", reservation)
    assert placement.placement_group_name == "training"
    assert of_type(stack, "AWS::EC2::PlacementGroup") == []
