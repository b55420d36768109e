"""Rules for subnets, their addresses and the network interfaces of nodes."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.nic_layouts import (
    NIC_LAYOUTS,
    NetworkInterface,
    NicLayout,
    addresses_per_node,
)
from ultracluster_catalog.places.addresses import (
    LARGEST_SUBNET_PREFIX,
    RESERVED_PER_SUBNET,
    subnet_addresses,
    subnet_prefix,
)
from ultracluster_catalog.places.cluster_subnet import FILE_SYSTEM_ADDRESSES, NODE_SERVICES
from ultracluster_catalog.places.zones import region_of_zone_id
from ultracluster_rules.findings import Finding, FindingsError, Severity, quote
from ultracluster_rules.numbers import find_unsafe_numbers

__all__ = [
    "check_free_addresses",
    "check_network_interfaces",
    "check_task_interface",
    "check_zone_id",
    "check_zone_region",
    "cluster_addresses",
    "network_interfaces",
    "smallest_subnet_prefix",
]


_PRIMARY: Final = (0, 0)


def network_interfaces(
    instance_type: InstanceType, layout: NicLayout = "batch"
) -> tuple[NetworkInterface, ...]:
    """Return the network interfaces of an instance, primary first, ordered by card and device.

    Args:
        instance_type: Instance type.
        layout: Name in `NIC_LAYOUTS`, or interfaces in any order. Default: ``batch``, which multi-node parallel jobs
            need on Trainium2.

    Raises:
        FindingsError: UC4002 for an unknown layout; UC1030 or UC4010 to UC4015 for interfaces that EC2 would reject.
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
    """Check network interfaces for what EC2 would reject, and for EFA interfaces that are left unused.

    Args:
        instance_type: Instance type.
        interfaces: Interfaces in any order.

    Returns:
        UC1030 for unsafe numbers, or else UC4010 to UC4016.
    """
    layout = tuple(interfaces)
    if unsafe := [finding for item in layout for finding in find_unsafe_numbers(item)]:
        return unsafe
    return [
        *_check_primary(layout),
        *_check_places(instance_type, layout),
        *_check_efa(instance_type, layout),
    ]


def check_task_interface(
    instance_type: InstanceType, interfaces: Iterable[NetworkInterface]
) -> list[Finding]:
    """Check whether network card 0 has a free slot for the network interface of a multi-node task.

    Args:
        instance_type: Type of the nodes.
        interfaces: Network interfaces of a node.

    Returns:
        UC4017 if card 0 is full. A warning: that Amazon ECS attaches to card 0 only is inferred, not documented.
    """
    slots = instance_type.network_cards[0].max_interfaces
    taken = sum(item.card == 0 for item in interfaces)
    if taken < slots:
        return []
    return [
        Finding(
            code="UC4017",
            problem=f"the layout uses {taken} of the {slots} slots of network card 0 of {instance_type.name}; without a "
            "free slot for the network interface of its task, a multi-node job may never start",
            remedy="Use the layout batch, which leaves one slot free",
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
    """Return the index of the second occurrence."""
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


def cluster_addresses(*, instance_type: InstanceType, nodes: int, nic_layout: NicLayout) -> int:
    """Return the number of addresses that the subnet of a cluster needs, including those reserved by AWS.

    The node of precompile jobs is not counted: it terminates before the other nodes start, or uses addresses that are
    reserved for the file system.

    Args:
        instance_type: Type of the nodes.
        nodes: Maximum number of nodes, with one task of a multi-node job on each.
        nic_layout: Network interface layout of the nodes.

    Raises:
        FindingsError: UC3001 for a negative count, or what `network_interfaces` raises.
    """
    _require_counts(nodes=nodes)
    return subnet_addresses(
        nodes=nodes,
        addresses_per_node=addresses_per_node(network_interfaces(instance_type, nic_layout)),
        interface_endpoints=len(NODE_SERVICES),
        file_system_interfaces=FILE_SYSTEM_ADDRESSES,
    )


def check_free_addresses(
    *,
    instance_type: InstanceType,
    nodes: int,
    nic_layout: NicLayout,
    free_addresses: int,
    file_system_interfaces: int = FILE_SYSTEM_ADDRESSES,
) -> list[Finding]:
    """Check whether an existing subnet has enough free addresses for a cluster.

    Args:
        instance_type: Type of the nodes.
        nodes: Maximum number of nodes, with one task of a multi-node job on each.
        nic_layout: Network interface layout of the nodes.
        free_addresses: AvailableIpAddressCount of the subnet, which excludes the addresses reserved by AWS.
        file_system_interfaces: Addresses to reserve for file systems. Default: 128, enough for 100 object servers.

    Returns:
        UC3002 if there are too few.

    Raises:
        FindingsError: UC3001 for a negative count, or what `network_interfaces` raises.
    """
    _require_counts(nodes=nodes, file_system_interfaces=file_system_interfaces)
    per_node = addresses_per_node(network_interfaces(instance_type, nic_layout))
    needed = (
        subnet_addresses(
            nodes=nodes, addresses_per_node=per_node, file_system_interfaces=file_system_interfaces
        )
        - RESERVED_PER_SUBNET
    )
    if needed <= free_addresses:
        return []
    return [
        Finding(
            code="UC3002",
            path="free_addresses",
            problem=f"{nodes} nodes with {per_node} addresses and a task each, and {file_system_interfaces} "
            f"addresses for file systems, need {needed}; got {quote(free_addresses)}",
            allowed=f"{needed} or more free addresses",
            remedy="Use a larger subnet, fewer nodes, or the layout batch, which uses one address per node",
        )
    ]


def smallest_subnet_prefix(needed: int) -> int:
    """Return the prefix length of the smallest subnet with enough addresses.

    Args:
        needed: Number of addresses, as `cluster_addresses` counts them.

    Raises:
        FindingsError: UC3002 if the largest subnet that AWS allows is too small.
    """
    try:
        return subnet_prefix(needed)
    except ValueError:
        raise FindingsError(
            [
                Finding(
                    code="UC3002",
                    problem=f"the cluster needs {needed} addresses, including {RESERVED_PER_SUBNET} reserved by AWS; "
                    f"a subnet of /{LARGEST_SUBNET_PREFIX} has {2 ** (32 - LARGEST_SUBNET_PREFIX)}",
                    remedy="Use fewer nodes per cluster, or use a layout of network interfaces with fewer addresses "
                    "per node.",
                )
            ]
        ) from None


def check_zone_id(zone_id: str) -> list[Finding]:
    """Check whether a text is the zone ID of a known Region.

    Args:
        zone_id: Such as ``use2-az3``.

    Returns:
        UC3003 if it is not.
    """
    try:
        region_of_zone_id(zone_id)
    except ValueError:
        return [
            Finding(
                code="UC3003",
                problem=f"{quote(zone_id)} is not a zone id of a known Region",
                allowed="a zone id such as use2-az3",
                remedy="`aws ec2 describe-availability-zones` shows the zone id of each zone name.",
            )
        ]
    return []


def check_zone_region(zone: str, *, zone_region: str, region: str) -> list[Finding]:
    """Check whether a zone is in the Region of a cluster.

    Args:
        zone: Zone ID or name of the zone.
        zone_region: Region of the zone.
        region: Region of the cluster.

    Returns:
        UC3102 if it is not.
    """
    if zone_region == region:
        return []
    return [
        Finding(
            code="UC3102",
            problem=f"zone {zone} is in {zone_region}, not in {region}",
            remedy="Give the zone id that the reservation names, and the Region of that zone",
        )
    ]


def _require_counts(**counts: int) -> None:
    findings = [
        Finding(code="UC3001", path=name, problem=f"got {quote(count)}", allowed="0 or more")
        for name, count in counts.items()
        if count < 0
    ]
    if findings:
        raise FindingsError(findings)
