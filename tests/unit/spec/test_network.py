"""An existing subnet, a NAT gateway and the slots of network card 0, in a rollout file."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Literal

import pytest
from tests.unit.stacks.config.machine_edits import NETWORK_LINE, cluster, with_interfaces

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.machines.nic_layouts import NIC_LAYOUTS, NetworkInterface, addresses_per_node
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.instance_type import get_instance_type
from ultracluster_spec.network import (
    check_available_addresses,
    check_network_interfaces,
    check_task_interface,
    check_zone_id,
    cluster_addresses,
    network_interfaces,
    smallest_subnet_prefix,
)
from ultracluster_stacks.config import LoadedRollout

Load = Callable[..., LoadedRollout]


def test_interfaces_are_laid_out_one_by_one(load: Load) -> None:
    interfaces = ["card: 0, interface_type: efa"] + [
        f"card: {card}, interface_type: efa-only" for card in range(1, 16)
    ]
    loaded = load((NETWORK_LINE, with_interfaces(*interfaces)))
    assert loaded.warnings == ()
    layout = cluster(loaded).network.layout
    assert [(each.card, each.device) for each in layout if not isinstance(each, str)] == [
        (card, 0) for card in range(16)
    ]


_InterfaceType = Literal["interface", "efa", "efa-only"]


_INTERFACE_TYPES: tuple[_InterfaceType, ...] = ("interface", "efa", "efa-only")


_TYPES = tuple(INSTANCE_TYPES.values())


_EFA_TYPES = tuple(row for row in _TYPES if row.efa_interfaces)


_TRN2 = get_instance_type("trn2.48xlarge")


def _interface(card: int, device: int, interface_type: _InterfaceType = "interface") -> NetworkInterface:
    return NetworkInterface(card=card, device=device, interface_type=interface_type)


def _codes(instance_type: InstanceType, *interfaces: NetworkInterface) -> set[str]:
    """Codes of what stops; the warning about unused EFA is asked for where it matters."""
    return {finding.code for finding in check_network_interfaces(instance_type, interfaces)} - {"UC4016"}


@pytest.mark.parametrize("layout", NIC_LAYOUTS)
def test_every_layout_is_legal_and_uses_all_efa_on_every_type(layout: str) -> None:
    for row in _TYPES:
        interfaces = network_interfaces(row, layout)
        assert check_network_interfaces(row, interfaces) == [], row.name
        assert sum(item.has_efa for item in interfaces) == row.efa_interfaces


@pytest.mark.parametrize("layout", NIC_LAYOUTS)
def test_every_layout_fits_what_ec2_describes(layout: str, described_types: Mapping[str, Any]) -> None:
    for row in _TYPES:
        network = described_types[row.name]["NetworkInfo"]
        cards = {card["NetworkCardIndex"]: card for card in network["NetworkCards"]}
        interfaces = network_interfaces(row, layout)

        assert all(item.interface_type in cards[item.card]["InterfaceTypes"] for item in interfaces)
        assert all(item.device < cards[item.card]["MaximumNetworkInterfaces"] for item in interfaces)
        assert len(interfaces) <= network["MaximumNetworkInterfaces"]


def test_the_default_layout_leaves_a_slot_on_card_zero_for_the_task_of_a_multi_node_job() -> None:
    for row in _TYPES:
        on_card_zero = [item for item in network_interfaces(row) if item.card == 0]
        assert len(on_card_zero) == 1
        assert row.network_cards[0].max_interfaces > len(on_card_zero)


def test_lays_out_trn2_for_batch_with_one_address() -> None:
    interfaces = network_interfaces(_TRN2)

    assert interfaces == (
        _interface(0, 0, "efa"),
        # As in every published template for Trainium: aws/aws-k8s-tester#531.
        *(_interface(card, 1, "efa-only") for card in range(1, 16)),
    )
    assert addresses_per_node(interfaces) == 1
    assert {item.device for item in network_interfaces(get_instance_type("p5.48xlarge"))} == {0}


def test_lays_out_trn2_as_the_ec2_guide_does() -> None:
    interfaces = network_interfaces(_TRN2, "ec2-guide")

    assert interfaces == (
        _interface(0, 0),
        _interface(0, 1, "efa-only"),
        *(_interface(card, 0, "efa-only") for card in range(1, 16)),
    )
    assert addresses_per_node(interfaces) == 1


def test_lays_out_trn2_as_the_neuron_samples_do_with_sixteen_addresses() -> None:
    interfaces = network_interfaces(_TRN2, "all-efa")

    assert interfaces == (_interface(0, 0, "efa"), *(_interface(card, 1, "efa") for card in range(1, 16)))
    assert addresses_per_node(interfaces) == 16


@pytest.mark.parametrize("layout", NIC_LAYOUTS)
def test_card_zero_of_p6_b300_has_a_plain_interface_only(layout: str) -> None:
    interfaces = network_interfaces(get_instance_type("p6-b300.48xlarge"), layout)

    assert [item for item in interfaces if item.card == 0] == [_interface(0, 0)]
    assert {item.card for item in interfaces} == set(range(17))


def test_refuses_an_unknown_layout() -> None:
    with pytest.raises(FindingsError) as caught:
        network_interfaces(_TRN2, "fastest")

    (finding,) = caught.value.findings
    assert (finding.code, finding.allowed) == ("UC4002", "batch, ec2-guide, all-efa")
    assert "'fastest'" in finding.problem


def test_refuses_a_layout_without_a_primary_interface() -> None:
    for row in _TYPES:
        assert _codes(row) == {"UC4010"}
        assert _codes(row, _interface(0, 1)) == {"UC4010"}
        assert _codes(row, _interface(0, 0), _interface(0, 1)) == set()


def test_refuses_a_primary_interface_without_an_ip_address() -> None:
    for row in _EFA_TYPES:
        efa_only = {"UC4010"} if row.network_cards[0].efa else {"UC4010", "UC4015"}
        assert _codes(row, _interface(0, 0, "efa-only")) == efa_only
        assert _codes(row, _interface(0, 0, "efa")) == efa_only - {"UC4010"}


def test_refuses_a_card_that_the_type_does_not_have() -> None:
    for row in _TYPES:
        last = len(row.network_cards) - 1
        primary = _interface(0, 0)
        assert _codes(row, primary, _interface(last, 1)) == set()
        assert _codes(row, primary, _interface(last + 1, 0)) == {"UC4011"}
        assert _codes(row, primary, _interface(-1, 0)) == {"UC4011"}


def test_refuses_a_device_index_outside_the_card() -> None:
    for row in _TYPES:
        for card in row.network_cards:
            primary = () if card.max_interfaces == 1 and card.index == 0 else (_interface(0, 0),)
            assert _codes(row, *primary, _interface(card.index, card.max_interfaces - 1)) == set()
            assert _codes(row, *primary, _interface(card.index, card.max_interfaces)) == {"UC4012"}
            assert _codes(row, *primary, _interface(card.index, -1)) == {"UC4012"}


def test_refuses_two_interfaces_in_one_place() -> None:
    for row in _TYPES:
        assert _codes(row, _interface(0, 0), _interface(0, 0)) == {"UC4013"}
        assert _codes(row, _interface(0, 0), _interface(0, 1)) == set()


def test_refuses_two_efa_on_one_card() -> None:
    for row in _EFA_TYPES:
        card = next(card.index for card in row.network_cards if card.efa)
        first: NetworkInterface = _interface(card, 0, "efa")
        primary = () if card == 0 else (_interface(0, 0),)
        assert _codes(row, *primary, first, _interface(card, 1, "efa-only")) == {"UC4014"}
        assert _codes(row, *primary, first, _interface(card, 1)) == set()


def test_refuses_efa_on_a_card_without_it() -> None:
    for row in _TYPES:
        for card in row.network_cards:
            primary = _interface(0, 0)
            assert _codes(row, primary, _interface(card.index, 1, "efa-only")) == (
                set() if card.efa else {"UC4015"}
            )


def test_an_efa_interface_on_a_card_that_does_not_exist_is_one_problem_not_two() -> None:
    assert _codes(_TRN2, _interface(0, 0), _interface(16, 0, "efa-only")) == {"UC4011"}


def test_warns_about_each_efa_interface_that_is_left_out() -> None:
    for row in _EFA_TYPES:
        interfaces = network_interfaces(row, "ec2-guide")
        for left_out in (item for item in interfaces if item.has_efa):
            (finding,) = check_network_interfaces(row, [item for item in interfaces if item != left_out])
            assert finding.code == "UC4016"
            assert f"{row.efa_interfaces - 1} of the {row.efa_interfaces}" in finding.problem


def test_says_which_cards_and_device_indexes_there_are() -> None:
    findings = check_network_interfaces(
        _TRN2, [*network_interfaces(_TRN2), _interface(16, 0), _interface(1, 2)]
    )
    assert [(finding.code, finding.allowed) for finding in findings] == [
        ("UC4011", "0 to 15"),
        ("UC4012", "0 to 1"),
    ]
    last = len(network_interfaces(_TRN2))
    assert [finding.path for finding in findings] == [
        f"nic_layout[{last}].card",
        f"nic_layout[{last + 1}].device",
    ]


@pytest.mark.parametrize("name", ["trn1.2xlarge", "trn2.3xlarge", "p5.4xlarge"])
def test_accepts_of_all_small_layouts_exactly_those_that_keep_the_rules_of_ec2(name: str) -> None:
    row = get_instance_type(name)
    slots, efa = row.network_cards[0].max_interfaces, row.network_cards[0].efa
    every = [
        _interface(card, device, interface_type)
        for card, device in itertools.product((-1, 0, 1), range(-1, slots + 1))
        for interface_type in _INTERFACE_TYPES
    ]
    accepted = 0
    for size in (0, 1, 2):
        for interfaces in itertools.combinations_with_replacement(every, size):
            types = {item.device: item.interface_type for item in interfaces}
            legal = (
                all(item.card == 0 and item.device in range(slots) for item in interfaces)
                and len(types) == size
                and types.get(0) in {"interface", "efa"}
                and sum(item.has_efa for item in interfaces) <= efa
            )
            accepted += legal
            assert (_codes(row, *interfaces) == set()) == legal, interfaces
            assert _codes(row, *interfaces) == _codes(row, *reversed(interfaces))
    assert accepted > 1


@pytest.mark.parametrize("name", sorted(INSTANCE_TYPES))
@pytest.mark.parametrize("on_first_card", [0, -1])
def test_a_task_has_a_slot_until_the_first_card_is_full(name: str, on_first_card: int) -> None:
    row = get_instance_type(name)
    taken = row.network_cards[0].max_interfaces + on_first_card
    interfaces = [_interface(0, device, "interface") for device in range(taken)]
    codes = [finding.code for finding in check_task_interface(row, [*interfaces, _interface(1, 0)])]
    assert codes == (["UC4017"] if on_first_card == 0 else [])


def test_a_custom_layout_is_sorted() -> None:
    row = get_instance_type("trn2.48xlarge")
    own = [_interface(1, 0), _interface(0, 0, "efa")]
    assert network_interfaces(row, own) == (own[1], own[0])


def test_a_custom_layout_that_ec2_would_refuse_is_refused_as_a_whole() -> None:
    with pytest.raises(FindingsError) as raised:
        network_interfaces(get_instance_type("trn2.48xlarge"), [_interface(1, 2), _interface(99, 0)])
    assert [finding.code for finding in raised.value.findings] == ["UC4010", "UC4012", "UC4011"]


TRN2 = get_instance_type("trn2.48xlarge")


@pytest.mark.parametrize(
    ("nodes", "layout", "addresses"),
    # AWS keeps 5, the endpoints take 9, the file system 128; a node takes its own addresses and one for its task.
    [(0, "batch", 142), (4, "batch", 150), (4, "all-efa", 210), (64, "all-efa", 1230)],
)
def test_counts_everything_that_shares_the_subnet(nodes: int, layout: str, addresses: int) -> None:
    assert cluster_addresses(instance_type=TRN2, nodes=nodes, nic_layout=layout) == addresses


@pytest.mark.parametrize(
    ("layout", "file_systems", "needed"), [("batch", 128, 136), ("batch", 0, 8), ("all-efa", 3, 71)]
)
def test_a_subnet_has_just_enough_available_addresses_or_one_too_few(
    layout: str, file_systems: int, needed: int
) -> None:
    def codes(free: int) -> list[str]:
        findings = check_available_addresses(
            instance_type=TRN2,
            nodes=4,
            nic_layout=layout,
            available_addresses=free,
            file_system_interfaces=file_systems,
        )
        return [finding.code for finding in findings]

    assert codes(needed) == []
    assert codes(needed - 1) == ["UC3002"]


@pytest.mark.parametrize(
    "zone_id",
    ["us-east-2a", "use2", "use2-az", "use2-az3x", "xuse2-az3", "USE2-AZ3", "use9-az1", "", "use2-az3\n"],
)
def test_refuses_an_invalid_zone_id(zone_id: str) -> None:
    (finding,) = check_zone_id(zone_id)
    assert finding.code == "UC3003"
    assert ascii(zone_id) in finding.problem
    assert "describe-availability-zones" in finding.remedy


def test_rejects_a_cluster_that_no_subnet_holds() -> None:
    assert smallest_subnet_prefix(65_536) == 16
    with pytest.raises(FindingsError) as caught:
        smallest_subnet_prefix(65_537)

    (finding,) = caught.value.findings
    assert finding.code == "UC3002"
    assert "65537 addresses" in finding.problem
    assert "fewer nodes" in finding.remedy


def test_rejects_negative_counts_all_together() -> None:
    with pytest.raises(FindingsError) as caught:
        check_available_addresses(
            instance_type=TRN2, nodes=-1, nic_layout="batch", available_addresses=9, file_system_interfaces=-5
        )

    assert str(caught.value).splitlines() == [
        "UC3001: nodes: got -1. Allowed: 0 or more.",
        "UC3001: file_system_interfaces: got -5. Allowed: 0 or more.",
    ]
