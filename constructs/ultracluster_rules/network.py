"""Rules for subnets, their addresses and the network interfaces of nodes."""

import ipaddress
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
from ultracluster_rules.did_you_mean import suggestion
from ultracluster_rules.findings import Finding, FindingsError, Severity, quote
from ultracluster_rules.numbers import find_unsafe_numbers
from ultracluster_rules.values import Between, Known

_PRIMARY: Final = (0, 0)

# Sizes of a VPC and of a subnet that EC2 accepts, and what it refuses (Amazon VPC User Guide, "VPC CIDR blocks", November 2026).
_SMALLEST_PREFIX: Final = 16
_LARGEST_PREFIX: Final = 28
_REFUSED: Final = tuple(
    map(ipaddress.IPv4Network, ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4"))
)

FREE_ADDRESSES: Final = Between(code="UC3002", least=0, most=65_531)
"""Number of free addresses of a subnet."""

NIC_LAYOUT: Final = Known(
    code="UC4002", names=tuple(NIC_LAYOUTS), explain=lambda got: suggestion(got, NIC_LAYOUTS)
)
"""A layout of network interfaces is one of the catalogue."""

SUBNET_PREFIX: Final = Between(code="UC3105", least=_SMALLEST_PREFIX, most=_LARGEST_PREFIX)
"""Prefix length of a subnet."""


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
    if findings := NIC_LAYOUT.check(layout):
        raise FindingsError(findings)
    return NIC_LAYOUTS[layout](instance_type)


def check_network_interfaces(
    instance_type: InstanceType, interfaces: Iterable[NetworkInterface]
) -> list[Finding]:
    """Check network interfaces for what EC2 would reject, and for EFA interfaces that are left unused.

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


def check_efa_use(instance_type: InstanceType, interfaces: Iterable[NetworkInterface]) -> list[Finding]:
    """Check whether all EFA interfaces of an instance are used.

    Returns:
        UC4016, a warning, if some are not.
    """
    cards = {card.index for card in instance_type.network_cards if card.efa}
    used = len(cards & {item.card for item in interfaces if item.has_efa})
    if used >= instance_type.efa_interfaces:
        return []
    return [
        Finding(
            code="UC4016",
            problem=f"{used} of the {instance_type.efa_interfaces} EFA interfaces of {instance_type.name} are used",
            remedy="Add one on each network card with EFA: bandwidth between nodes grows with each.",
        )
    ]


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
    findings += check_efa_use(instance_type, interfaces)
    return findings


def cluster_addresses(*, instance_type: InstanceType, nodes: int, nic_layout: NicLayout) -> int:
    """Return the number of addresses that the subnet of a cluster needs, including those reserved by AWS.

    The node of precompile jobs is not counted: it terminates before the other nodes start, or uses addresses that are
    reserved for the file system.

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


def check_available_addresses(
    *,
    instance_type: InstanceType,
    nodes: int,
    nic_layout: NicLayout,
    available_addresses: int,
    file_system_interfaces: int = FILE_SYSTEM_ADDRESSES,
) -> list[Finding]:
    """Check whether an existing subnet has enough free addresses for a cluster.

    Args:
        instance_type: Type of the nodes.
        nodes: Maximum number of nodes, with one task of a multi-node job on each.
        nic_layout: Network interface layout of the nodes.
        available_addresses: AvailableIpAddressCount of the subnet, which excludes the addresses reserved by AWS.
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
    if needed <= available_addresses:
        return []
    return [
        Finding(
            code=FREE_ADDRESSES.code,
            path="available_addresses",
            problem=f"{nodes} nodes with {per_node} addresses and a task each, and {file_system_interfaces} "
            f"addresses for file systems, need {needed}; got {quote(available_addresses)}",
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
                    code=FREE_ADDRESSES.code,
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
                problem=f"{quote(zone_id)} is not a zone ID of a known Region",
                allowed="a zone ID such as use2-az3",
                remedy="`aws ec2 describe-availability-zones` shows the zone ID of each zone name.",
            )
        ]
    return []


def check_cidr(cidr: str, *, path: str = "") -> list[Finding]:
    """Check whether a text is a network that EC2 accepts for a VPC.

    Args:
        cidr: Such as ``10.0.0.0/16``.
        path: Path in the input.

    Returns:
        UC3103 if it is not.
    """
    problem, remedy = f"got {quote(cidr)}", ""
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError:
        remedy = _nearest_network(cidr)
    else:
        refused = next((other for other in _REFUSED if network.overlaps(other)), None)
        if str(network) == cidr and _SMALLEST_PREFIX <= network.prefixlen <= _LARGEST_PREFIX:
            if refused is None:
                return []
            problem = f"got {cidr}, which is in the reserved {refused}"
    allowed = "an IPv4 network of /16 to /28, such as 10.0.0.0/16"
    return [Finding(code="UC3103", problem=problem, allowed=allowed, remedy=remedy, path=path)]


def _nearest_network(cidr: str) -> str:
    try:
        return f"The network with this address is {ipaddress.IPv4Network(cidr, strict=False)}"
    except ValueError:
        return ""


def check_subnet_size(vpc: ipaddress.IPv4Network, prefix: int, *, needed: int) -> list[Finding]:
    """Check whether a subnet fits into its VPC and has enough addresses.

    Args:
        vpc: Addresses of the VPC.
        prefix: Prefix length of the subnet.
        needed: Number of addresses, as `cluster_addresses` counts them.

    Returns:
        UC3105 if it does not.
    """
    if prefix < vpc.prefixlen:
        return [
            Finding(
                code=SUBNET_PREFIX.code,
                problem=f"a subnet of /{prefix} is larger than its VPC, {vpc}",
                allowed=f"{vpc.prefixlen} to {_LARGEST_PREFIX}",
            )
        ]
    size = 2 ** (32 - prefix)
    if needed <= size:
        return []
    return [
        Finding(
            code=SUBNET_PREFIX.code,
            problem=f"the nodes, their tasks, the endpoints and the file system need {needed:,} addresses, but a /{prefix} "
            f"has {size:,}",
            remedy=f"Use /{32 - (needed - 1).bit_length()}, fewer nodes, or the layout batch, which uses one address per node",
        )
    ]


def check_nat_gateway_room(vpc: ipaddress.IPv4Network, prefix: int) -> list[Finding]:
    """Check whether a VPC has addresses for a NAT gateway beside the subnet of the nodes.

    Returns:
        UC3105 if it has none.
    """
    if prefix > vpc.prefixlen:
        return []
    return [
        Finding(
            code=SUBNET_PREFIX.code,
            problem=f"the nodes' subnet takes all of {vpc} and leaves no addresses for the NAT gateway",
            remedy="Use a larger cidr or a smaller subnet",
        )
    ]


def check_subnet_in_vpc(subnet: ipaddress.IPv4Network, vpc: ipaddress.IPv4Network) -> list[Finding]:
    """Check whether a subnet is part of its VPC.

    Returns:
        UC3105 if it is not.
    """
    if subnet.subnet_of(vpc):
        return []
    problem = f"{subnet} is not inside {vpc} of its VPC"
    return [Finding(code=SUBNET_PREFIX.code, problem=problem, allowed=f"a part of {vpc}")]


def check_subnets_apart(subnet: ipaddress.IPv4Network, other: ipaddress.IPv4Network) -> list[Finding]:
    """Check that two subnets of a VPC do not overlap.

    Returns:
        UC3105 if they overlap.
    """
    if not subnet.overlaps(other):
        return []
    problem = f"{subnet} overlaps {other} of another subnet"
    return [Finding(code=SUBNET_PREFIX.code, problem=problem, allowed="addresses that no other subnet has")]


def check_node_addresses(network: ipaddress.IPv4Network, *, needed: int) -> list[Finding]:
    """Check whether a subnet has an address for each interface of the nodes.

    Returns:
        UC3002 if it has too few.
    """
    free = network.num_addresses - RESERVED_PER_SUBNET
    if needed <= free:
        return []
    return [
        Finding(
            code=FREE_ADDRESSES.code,
            problem=f"the nodes take {needed} addresses, and {network} has {free}",
            allowed=f"{needed} addresses or more, and those of endpoints and file systems",
            remedy="Use a larger subnet, or efa-only interfaces, which take no address",
        )
    ]


def warn_of_unknown_efa_rules(group: str) -> Finding:
    """Return the warning (UC3106) about an existing security group whose rules are not known."""
    return Finding(
        code="UC3106",
        problem=f"the rules of {group} are unknown; unless it allows all traffic from and to itself, EFA fails, "
        "and jobs hang or fall back to TCP",
        remedy="Make sure that it has both rules, or set add_efa_rules to true",
    )


def check_zone_region(zone: str, *, zone_region: str, region: str) -> list[Finding]:
    """Check whether a zone is in the Region of a cluster.

    Returns:
        UC3102 if it is not.
    """
    if zone_region == region:
        return []
    return [
        Finding(
            code="UC3102",
            problem=f"zone {zone} is in {zone_region}, not in {region}",
            remedy="Use the zone ID of the reservation, and the Region of that zone",
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
