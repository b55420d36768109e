"""Which network interface goes on which network card of an instance: named layouts and the rules they keep."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from ultracluster_catalog.machines.instance_type import InstanceType, NetworkCard

__all__ = ["NIC_LAYOUTS", "NetworkInterface", "NicLayout", "addresses_per_node"]


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


def addresses_per_node(interfaces: Iterable[NetworkInterface]) -> int:
    """Count the IPv4 addresses that one node takes from its subnet, without those of its tasks."""
    return sum(item.addresses for item in interfaces)
