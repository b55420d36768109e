"""Layouts of network interfaces use every card with EFA, and differ in addresses and in the slots of card 0."""

import pytest

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.machines.nic_layouts import NIC_LAYOUTS, NetworkInterface, addresses_per_node

TYPES = [machine.name for machine in INSTANCE_TYPES.values()]


@pytest.mark.parametrize("layout", NIC_LAYOUTS)
@pytest.mark.parametrize("name", TYPES)
def test_a_layout_uses_each_slot_once_and_efa_on_every_card_that_supports_it(layout: str, name: str) -> None:
    machine = INSTANCE_TYPES[name]
    interfaces = NIC_LAYOUTS[layout](machine)

    assert (interfaces[0].card, interfaces[0].device) == (0, 0)
    assert len({(one.card, one.device) for one in interfaces}) == len(interfaces)
    assert {one.card for one in interfaces if one.has_efa} == {
        card.index for card in machine.network_cards if card.efa
    }


@pytest.mark.parametrize(("layout", "addresses"), [("batch", 1), ("ec2-guide", 1), ("all-efa", 16)])
def test_efa_only_interfaces_need_no_address(layout: str, addresses: int) -> None:
    assert addresses_per_node(NIC_LAYOUTS[layout](INSTANCE_TYPES["trn2.48xlarge"])) == addresses


def test_the_layout_for_batch_leaves_the_second_slot_of_card_0_to_the_task() -> None:
    on_card_0 = {
        layout: [one for one in build(INSTANCE_TYPES["trn2.48xlarge"]) if one.card == 0]
        for layout, build in NIC_LAYOUTS.items()
    }

    assert on_card_0["batch"] == [NetworkInterface(card=0, device=0, interface_type="efa")]
    assert [one.interface_type for one in on_card_0["ec2-guide"]] == ["interface", "efa-only"]
