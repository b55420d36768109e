from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE_ID, ZONE, of_type, only

import ultracluster as uc
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.synth


def cluster(stack: cdk.Stack, **changes: Any) -> uc.UltraCluster:
    given: dict[str, Any] = {
        "instance_type": "trn2.48xlarge",
        "node_count": 4,
        "image_id": IMAGE_ID,
        "zone_id": ZONE,
    } | changes
    return uc.UltraCluster(stack, "Cluster", **given)


def group_of(stack: cdk.Stack) -> object:
    return only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"].get("PlacementGroup")


def test_on_demand_nodes_are_placed_in_a_new_group_by_default(stack: cdk.Stack) -> None:
    cluster(stack)
    assert len(of_type(stack, "AWS::EC2::PlacementGroup")) == 1
    assert group_of(stack) is not None


def test_nodes_are_placed_in_no_group_when_asked(stack: cdk.Stack) -> None:
    cluster(stack, placement="none")
    assert of_type(stack, "AWS::EC2::PlacementGroup") == []
    assert group_of(stack) is None


def test_nodes_are_placed_in_an_existing_group(stack: cdk.Stack) -> None:
    cluster(stack, placement=uc.ClusterPlacement(stack, "Mine", placement_group_name="training"))
    assert of_type(stack, "AWS::EC2::PlacementGroup") == []
    assert group_of(stack) == "training"


def test_rejects_a_group_for_a_block(stack: cdk.Stack) -> None:
    block = uc.CapacityBlock.from_reservation_id("cr-0123456789abcdef0", zone_id=ZONE)
    placement = uc.ClusterPlacement(stack, "Mine", placement_group_name="training")
    with pytest.raises(FindingsError, match="UC4020"):
        cluster(stack, capacity=block, placement=placement)


@pytest.mark.parametrize("name", ["other", None])
def test_rejects_another_group_than_that_of_the_reservation(stack: cdk.Stack, name: str | None) -> None:
    capacity = uc.CapacityReservation.from_reservation_id(
        "cr-0123456789abcdef0", zone_id=ZONE, placement_group_name="training"
    )
    placement = uc.ClusterPlacement(stack, "Mine", placement_group_name=name) if name else "none"
    with pytest.raises(FindingsError, match="UC4023"):
        cluster(stack, capacity=capacity, placement=placement)


def test_accepts_the_group_of_the_reservation(stack: cdk.Stack) -> None:
    capacity = uc.CapacityReservation.from_reservation_id(
        "cr-0123456789abcdef0", zone_id=ZONE, placement_group_name="training"
    )
    cluster(
        stack,
        capacity=capacity,
        placement=uc.ClusterPlacement(stack, "Mine", placement_group_name="training"),
    )
    assert group_of(stack) == "training"
