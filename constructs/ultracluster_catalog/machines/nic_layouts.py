"""Named layouts of the network interfaces of an instance."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from ultracluster_catalog.machines.instance_type import InstanceType

__all__ = ["NIC_LAYOUTS", "NetworkInterface", "NicLayout", "addresses_per_node"]


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkInterface:
    """One network interface of a launch template.

    Attributes:
        card: NetworkCardIndex.
        device: DeviceIndex on that card.
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
        """IPv4 addresses of the interface in its subnet; an EFA-only interface has none."""
        return 0 if self.interface_type == "efa-only" else 1


NicLayout: TypeAlias = str | Sequence[NetworkInterface]
"""A name in `NIC_LAYOUTS`, or the interfaces themselves."""

_NamedLayout = Callable[[InstanceType], tuple[NetworkInterface, ...]]


def _primary(instance_type: InstanceType, *, with_efa: bool) -> NetworkInterface:
    efa = with_efa and instance_type.network_cards[0].efa
    return NetworkInterface(card=0, device=0, interface_type="efa" if efa else "interface")


def _on_further_cards(
    instance_type: InstanceType, interface_type: Literal["efa", "efa-only"], *, device: int
) -> tuple[NetworkInterface, ...]:
    return tuple(
        NetworkInterface(card=card.index, device=device, interface_type=interface_type)
        for card in instance_type.network_cards[1:]
        if card.efa
    )


def _batch(instance_type: InstanceType) -> tuple[NetworkInterface, ...]:
    """Return the layout for multi-node parallel jobs: EFA with ENA on card 0, EFA-only on the others.

    The other slots of card 0 stay free, because ECS attaches the interface of the task there, and card 0 of
    trn2.48xlarge has only two slots. A node uses one address instead of one per card.

    On the other cards EC2 accepts the device indexes 0 and 1. Every published template for Trainium has 1, which
    aws/aws-k8s-tester#531 (2024-12) confirms on trn1; AWS's Batch templates for p5 and p6 have 0
    (awslabs/awsome-distributed-ai, 2026-07).
    """
    device = 1 if instance_type.neuron_devices else 0
    primary = _primary(instance_type, with_efa=True)
    return (primary, *_on_further_cards(instance_type, "efa-only", device=device))


def _ec2_guide(instance_type: InstanceType) -> tuple[NetworkInterface, ...]:
    """Return the layout that the EC2 User Guide recommends: ENA and EFA-only on card 0, EFA-only on the others.

    It separates IP and EFA traffic. Not for multi-node parallel jobs on a type with two slots on card 0.
    """
    interfaces = [_primary(instance_type, with_efa=False)]
    if instance_type.network_cards[0].efa:
        interfaces.append(NetworkInterface(card=0, device=1, interface_type="efa-only"))
    return (*interfaces, *_on_further_cards(instance_type, "efa-only", device=0))


def _all_efa(instance_type: InstanceType) -> tuple[NetworkInterface, ...]:
    """Return the layout of the Neuron samples: EFA with ENA on every card, with one address per card."""
    primary = _primary(instance_type, with_efa=True)
    return (primary, *_on_further_cards(instance_type, "efa", device=1))


NIC_LAYOUTS: Final[Mapping[str, _NamedLayout]] = MappingProxyType(
    {"batch": _batch, "ec2-guide": _ec2_guide, "all-efa": _all_efa}
)
"""Layouts by name: functions from an instance type to its network interfaces, primary first.

On a type without EFA, each layout is one plain interface.
"""


def addresses_per_node(interfaces: Iterable[NetworkInterface]) -> int:
    """Return the number of IPv4 addresses of one node in its subnet, without those of its tasks."""
    return sum(item.addresses for item in interfaces)
