"""The sources of a cluster are at most three, and each of its own."""

import dataclasses

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import block
from tests.unit.ultracluster.capacity.three_sources import RESERVED, SPILL, cluster

from ultracluster import OnDemand
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_rejects_a_fourth_source(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4120: \S+: queue.capacity: got 4 sources"):
        cluster(stack, block(), RESERVED, SPILL, OnDemand(name="more"))
    assert stack.node.try_find_child("Cluster") is None


@pytest.mark.parametrize(
    ("names", "says"), [(("spill", "spill"), "two sources are called"), ((None, None), "have no name")]
)
def test_rejects_sources_with_the_same_name(
    stack: cdk.Stack, names: tuple[str | None, str | None], says: str
) -> None:
    with pytest.raises(FindingsError, match=f"UC4121.*{says}"):
        cluster(stack, *(OnDemand(name=each) for each in names))


def test_refuses_more_nodes_than_a_block_has(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4102: \S+: node_count: got 65 nodes"):
        cluster(stack, block(), node_count=65)
    with pytest.raises(FindingsError, match=r"UC4102: \S+: capacity\[0\]\.max_nodes: got 65 nodes"):
        cluster(stack, dataclasses.replace(block(), max_nodes=65))
    assert stack.node.try_find_child("Cluster") is None


def test_refuses_capacity_in_which_the_type_is_not_sold(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4104: \S+: capacity\[0\]: trn1n.32xlarge is not sold as"):
        cluster(stack, block(), instance_type="trn1n.32xlarge")
