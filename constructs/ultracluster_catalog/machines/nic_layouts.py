"""Which network interface goes on which network card of an instance: named layouts and the rules they keep."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from ultracluster_catalog.machines.instance_type import InstanceType, NetworkCard
from ultracluster_rules.findings import Finding, FindingsError, Severity, quote
from ultracluster_rules.plain_numbers import refuse_other_numbers

__all__ = [
    "NIC_LAYOUTS",
    "NetworkInterface",
    "NicLayout",
    "addresses_per_node",
    "check_network_interfaces",
    "check_task_interface",
    "network_interfaces",
]

_PRIMARY: Final = (0, 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkInterface:
    """One network interface of a launch template.

    Attributes:
        card: The NetworkCardIndex.
        device: The DeviceIndex on that card.
        interface_type: ``interface`` (ENA), ``efa`` (EFA with ENA) or ``efa-only`` (EFA without ENA).
    """

    card: int
    device: int
    interface_type: Literal["interface", "efa", "efa-only"]

    def __post_init__(self) -> None:
        refuse_other_numbers(self)

    @property
    def has_efa(self) -> bool:
        """Whether the interface has an EFA device."""
        return self.interface_type != "interface"

    @property
    def addresses(self) -> int:
        """IPv4 addresses that the interface takes from its subnet: an EFA-only one has no IP and takes none."""
        return 0 if self.interface_type == "efa-only" else 1


NicLayout: TypeAlias = str | Sequence[NetworkInterface]
"""A layout: a name of `NIC_LAYOUTS`, or the interfaces themselves."""

_NamedLayout = Callable[[InstanceType], tuple[NetworkInterface, ...]]


def _primary(instance_type: InstanceType, *, with_efa: bool) -> NetworkInterface:
    efa = with_efa and instance_type.network_cards[0].efa
    return NetworkInterface(card=0, device=0, interface_type="efa" if efa else "interface")


def _further_efa_cards(instance_type: InstanceType) -> tuple[NetworkCard, ...]:
    return tuple(card for card in instance_type.network_cards[1:] if card.efa)


def _batch(instance_type: InstanceType) -> tuple[NetworkInterface, ...]:
    """Lay out for multi-node parallel jobs: EFA with ENA on card 0, EFA-only on the others.

    Card 0 keeps its further slots free, because ECS attaches the task's own interface there, and card 0 of
    trn2.48xlarge has two slots in all. One address per node instead of one per card.

    Device index 0 on the further cards: AWS publishes both 0 and 1. The EC2 User Guide (page "Maximize network
    bandwidth", read October 2026) gives index 0 to EFA-only and index 1 to ENA interfaces, and AWS's Batch
    templates for p5 and p6 (awslabs/awsome-distributed-ai, July 2026) use 0; index 1 comes from older `efa`
    samples, where each card also had an ENA device. Besides, with 0 everywhere, index 1 is free on every
    reading of "the next free device index" for the interface of the task.
    """
    return (
        _primary(instance_type, with_efa=True),
        *(
            NetworkInterface(card=card.index, device=0, interface_type="efa-only")
            for card in _further_efa_cards(instance_type)
        ),
    )


def _ec2_guide(instance_type: InstanceType) -> tuple[NetworkInterface, ...]:
    """Lay out as the EC2 User Guide recommends: ENA and EFA-only on card 0, EFA-only on the others.

    Keeps IP traffic and EFA apart. Not for multi-node parallel jobs on a type with two slots on card 0.
    """
    first = instance_type.network_cards[0]
    return (
        _primary(instance_type, with_efa=False),
        *((NetworkInterface(card=0, device=1, interface_type="efa-only"),) if first.efa else ()),
        *(
            NetworkInterface(card=card.index, device=0, interface_type="efa-only")
            for card in _further_efa_cards(instance_type)
        ),
    )


def _all_efa(instance_type: InstanceType) -> tuple[NetworkInterface, ...]:
    """Lay out as the Neuron samples do: EFA with ENA on every card, so one address per card."""
    return (
        _primary(instance_type, with_efa=True),
        *(
            NetworkInterface(card=card.index, device=1, interface_type="efa")
            for card in _further_efa_cards(instance_type)
        ),
    )


NIC_LAYOUTS: Final[Mapping[str, _NamedLayout]] = MappingProxyType(
    {"batch": _batch, "ec2-guide": _ec2_guide, "all-efa": _all_efa}
)
"""The layouts by name: from an instance type to its network interfaces, primary first.

On a type without EFA each of them is one plain interface.
"""


def network_interfaces(
    instance_type: InstanceType, layout: NicLayout = "batch"
) -> tuple[NetworkInterface, ...]:
    """Lay out the network interfaces of an instance.

    Args:
        instance_type: The type to lay out for.
        layout: A name of `NIC_LAYOUTS`, or interfaces in any order. Default: ``batch``, which multi-node
            parallel jobs need on Trainium2.

    Returns:
        The interfaces, primary first, in order of card and device.

    Raises:
        FindingsError: UC4002 for an unknown layout; UC4010 to UC4015 for interfaces that EC2 would refuse.
    """
    if not isinstance(layout, str):
        errors = [
            finding
            for finding in check_network_interfaces(instance_type, layout)
            if finding.severity is Severity.ERROR
        ]
        if errors:
            raise FindingsError(errors)
        return tuple(sorted(layout, key=lambda item: (item.card, item.device)))
    if layout not in NIC_LAYOUTS:
        raise FindingsError(
            [
                Finding(
                    code="UC4002",
                    problem=f"{quote(layout)} is not a layout of network interfaces",
                    allowed=", ".join(NIC_LAYOUTS),
                )
            ]
        )
    return NIC_LAYOUTS[layout](instance_type)


def check_network_interfaces(
    instance_type: InstanceType, interfaces: Iterable[NetworkInterface]
) -> list[Finding]:
    """Find what EC2 would refuse in a layout, and EFA interfaces that it leaves unused.

    Args:
        instance_type: The type that the layout is for.
        interfaces: The interfaces in any order.

    Returns:
        All problems; empty for a legal and complete layout.
    """
    chosen = tuple(interfaces)
    return [
        *_check_primary(chosen),
        *_check_places(instance_type, chosen),
        *_check_efa(instance_type, chosen),
    ]


def check_task_interface(
    instance_type: InstanceType, interfaces: Iterable[NetworkInterface]
) -> list[Finding]:
    """Find out whether card 0 has a slot left for the network interface of a multi-node task.

    Args:
        instance_type: The type that the layout is for.
        interfaces: The interfaces of a node.

    Returns:
        UC4017 when card 0 is full. A warning: that Amazon ECS attaches on card 0 only is inferred, not documented.
    """
    slots = instance_type.network_cards[0].max_interfaces
    taken = sum(item.card == 0 for item in interfaces)
    if taken < slots:
        return []
    return [
        Finding(
            code="UC4017",
            problem=f"the layout takes {taken} of the {slots} slots of network card 0 of {instance_type.name}, so that "
            "the network interface of a multi-node task may find none and the job never start",
            remedy="Use the layout batch, which leaves one",
        )
    ]


def _check_primary(interfaces: tuple[NetworkInterface, ...]) -> list[Finding]:
    primary = [item for item in interfaces if (item.card, item.device) == _PRIMARY]
    if not primary:
        problem = "no interface on network card 0, device index 0"
    elif any(item.interface_type == "efa-only" for item in primary):
        problem = "the primary interface is efa-only, so the instance would have no IP address"
    else:
        return []
    return [
        Finding(
            code="UC4010",
            problem=problem,
            allowed="an interface of type interface or efa on network card 0, device index 0",
        )
    ]


def _check_places(instance_type: InstanceType, interfaces: tuple[NetworkInterface, ...]) -> list[Finding]:
    findings = []
    cards = {card.index: card for card in instance_type.network_cards}
    for index, item in enumerate(interfaces):
        if item.card not in cards:
            findings.append(
                Finding(
                    code="UC4011",
                    problem=f"network card {quote(item.card)} does not exist on {instance_type.name}",
                    allowed=f"0 to {len(cards) - 1}",
                    path=f"nic_layout[{index}].card",
                )
            )
        elif not 0 <= item.device < cards[item.card].max_interfaces:
            findings.append(
                Finding(
                    code="UC4012",
                    problem=f"device index {quote(item.device)} is outside network card {item.card} of {instance_type.name}",
                    allowed=f"0 to {cards[item.card].max_interfaces - 1}",
                    path=f"nic_layout[{index}].device",
                )
            )
    places = [(item.card, item.device) for item in interfaces]
    findings += [
        Finding(
            code="UC4013",
            problem=f"{count} interfaces on network card {place[0]}, device index {place[1]}",
            allowed="one for each pair of network card and device index",
            path=f"nic_layout[{_second(places, place)}]",
        )
        for place, count in Counter(places).items()
        if count > 1
    ]
    return findings


def _second(values: list[Any], value: Any) -> int:
    """The index at which a value stands for the second time: that of the one too many."""
    return values.index(value, values.index(value) + 1)


def _check_efa(instance_type: InstanceType, interfaces: tuple[NetworkInterface, ...]) -> list[Finding]:
    efa_cards = {card.index for card in instance_type.network_cards if card.efa}
    known_cards = {card.index for card in instance_type.network_cards}
    efa = [(index, item.card) for index, item in enumerate(interfaces) if item.has_efa]
    cards = [card for _, card in efa]
    attached = Counter(cards)
    findings = [
        Finding(
            code="UC4014",
            problem=f"{count} EFA interfaces on network card {card}",
            allowed="one interface of type efa or efa-only for each network card",
            path=f"nic_layout[{efa[_second(cards, card)][0]}].interface_type",
        )
        for card, count in attached.items()
        if count > 1
    ]
    findings += [
        Finding(
            code="UC4015",
            problem=f"network card {card} of {instance_type.name} does not support EFA",
            allowed="an interface of type interface on this card",
            path=f"nic_layout[{efa[cards.index(card)][0]}].interface_type",
        )
        for card in attached
        if card in known_cards - efa_cards
    ]
    used = len(efa_cards & attached.keys())
    if used < instance_type.efa_interfaces:
        findings.append(
            Finding(
                code="UC4016",
                problem=f"{used} of the {instance_type.efa_interfaces} EFA interfaces of {instance_type.name} are used",
                remedy="Add one on each network card with EFA: bandwidth between nodes grows with each.",
            )
        )
    return findings


def addresses_per_node(interfaces: Iterable[NetworkInterface]) -> int:
    """Count the IPv4 addresses that one node takes from its subnet, without those of its tasks."""
    return sum(item.addresses for item in interfaces)
