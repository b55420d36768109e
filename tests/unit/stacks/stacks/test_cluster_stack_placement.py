"""Nodes stand in the placement group of the rollout, or where the cluster decides."""

from collections.abc import Callable

import pytest
from tests.unit.ultracluster import builders

import ultracluster as uc
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.stacks.cluster_stack import node_placement

pytestmark = pytest.mark.slow

ON_DEMAND = {
    "market_type: capacity-block": "market_type: on-demand",
    "          reservation_id: cr-0123456789abcdef0\n": "",
}


@pytest.mark.parametrize("choice", ["auto", "none"])
def test_a_choice_is_passed_on(configured: Callable[..., Cluster], choice: str) -> None:
    config = configured(**{"{cidr: 10.0.0.0/16}": f"{{placement: {choice}}}"})

    assert node_placement(builders.new_stack(), config) == choice


def test_any_other_name_is_that_of_an_existing_group(configured: Callable[..., Cluster]) -> None:
    stack = builders.new_stack()
    placement = node_placement(stack, configured(**ON_DEMAND, **{"{cidr: 10.0.0.0/16}": "{placement: ours}"}))

    assert isinstance(placement, uc.ClusterPlacement)
    assert placement.placement_group_name == "ours"
    assert builders.of_type(stack, "AWS::EC2::PlacementGroup") == []
