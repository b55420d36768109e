"""Nodes are billed in any case if they are of the first source, or reserved."""

from dataclasses import replace

from tests.unit.stacks.cost.estimates import NODES

from ultracluster_stacks.cost import Footprint, NodeSupply


def test_nodes_of_the_first_source_and_reserved_ones_are_billed_in_any_case() -> None:
    first: NodeSupply = replace(NODES, name="", reserved=False)
    spill = replace(NODES, name="spill", reserved=False)
    reserved = replace(NODES, name="reserved", reserved=True)
    footprint = Footprint(cluster="c", region="us-east-2", supplies=(first, spill, reserved))

    assert footprint.paid_supplies() == (first, reserved)
