"""`network` of a cluster: VPC, subnet, addresses and network interfaces of the nodes, and the rules about them."""

import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from ultracluster_catalog.machines import nic_layouts
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.nic_layouts import (
    NIC_LAYOUTS,
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
from ultracluster_spec.arguments import find_wrong_fields
from ultracluster_spec.bounds import Between, Checked, Known
from ultracluster_spec.buckets import BucketName
from ultracluster_spec.did_you_mean import suggestion
from ultracluster_spec.findings import Finding, FindingsError, Severity, quote, reject, require
from ultracluster_spec.names import AccountId, placement_group_name, resource_id
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At, rule
from ultracluster_spec.values import Value

_PRIMARY: Final = (0, 0)

# Sizes of a VPC and of a subnet that EC2 accepts, and what it refuses (Amazon VPC User Guide, "VPC CIDR blocks", November 2026).
_SMALLEST_PREFIX: Final = 16
_LARGEST_PREFIX: Final = 28
_SERVICE: Final = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9-]+)*")
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
) -> tuple[nic_layouts.NetworkInterface, ...]:
    """Return the network interfaces of an instance, primary first, ordered by card and device.

    Raises:
        FindingsError: UC4002 for an unknown layout; UC1030 or UC4010 to UC4015 for interfaces that EC2 would reject.
    """
    if not isinstance(layout, str):
        reject(_check_layout(instance_type, tuple(layout)))
        return tuple(sorted(layout, key=lambda item: (item.card, item.device)))
    reject(NIC_LAYOUT.check(layout))
    return NIC_LAYOUTS[layout](instance_type)


def check_network_interfaces(
    instance_type: InstanceType, interfaces: Iterable[nic_layouts.NetworkInterface]
) -> list[Finding]:
    """Check for interfaces that EC2 rejects (UC1030, UC4010 to UC4015) or leaves without EFA (UC4016)."""
    layout = tuple(interfaces)
    errors = _check_layout(instance_type, layout)
    unsafe = any(find_wrong_fields(item) for item in layout)
    return errors if unsafe else [*errors, *check_efa_use(instance_type, layout)]


def _check_layout(
    instance_type: InstanceType, layout: tuple[nic_layouts.NetworkInterface, ...]
) -> list[Finding]:
    if unsafe := [finding for item in layout for finding in find_wrong_fields(item)]:
        return unsafe
    return [
        *_check_primary(layout),
        *_check_places(instance_type, layout),
        *_check_efa(instance_type, layout),
    ]


def check_task_interface(
    instance_type: InstanceType, interfaces: Iterable[nic_layouts.NetworkInterface]
) -> list[Finding]:
    """Check that network card 0 has a slot for the interface of a multi-node task (UC4017).

    A warning: that Amazon ECS attaches to card 0 only is inferred, not documented.
    """
    slots = instance_type.network_cards[0].max_interfaces
    taken = sum(item.card == 0 for item in interfaces)
    return require(
        taken < slots,
        "UC4017",
        f"the layout uses {taken} of the {slots} slots of network card 0 of {instance_type.name}; without a "
        "free slot for the network interface of its task, a multi-node job may never start",
        remedy="Use the layout batch, which leaves one slot free",
    )


def _check_primary(interfaces: tuple[nic_layouts.NetworkInterface, ...]) -> list[Finding]:
    primary = [item for item in interfaces if (item.card, item.device) == _PRIMARY]
    if not primary:
        problem = "no interface on network card 0, device index 0"
    elif any(item.interface_type == "efa-only" for item in primary):
        problem = "the primary interface is efa-only, so the instance would have no IP address"
    else:
        return []
    return [
        Finding(
            "UC4010",
            problem,
            allowed="an interface of type interface or efa on network card 0, device index 0",
        )
    ]


def _check_places(
    instance_type: InstanceType, interfaces: tuple[nic_layouts.NetworkInterface, ...]
) -> list[Finding]:
    findings = []
    cards = {card.index: card for card in instance_type.network_cards}
    for index, item in enumerate(interfaces):
        if item.card not in cards:
            findings.append(
                Finding(
                    "UC4011",
                    f"network card {quote(item.card)} does not exist on {instance_type.name}",
                    allowed=f"0 to {len(cards) - 1}",
                    path=f"nic_layout[{index}].card",
                )
            )
        elif not 0 <= item.device < cards[item.card].max_interfaces:
            findings.append(
                Finding(
                    "UC4012",
                    f"device index {quote(item.device)} is outside network card {item.card} of {instance_type.name}",
                    allowed=f"0 to {cards[item.card].max_interfaces - 1}",
                    path=f"nic_layout[{index}].device",
                )
            )
    places = [(item.card, item.device) for item in interfaces]
    findings += [
        Finding(
            "UC4013",
            f"{count} interfaces on network card {place[0]}, device index {place[1]}",
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


def check_efa_use(
    instance_type: InstanceType, interfaces: Iterable[nic_layouts.NetworkInterface]
) -> list[Finding]:
    """Check whether all EFA interfaces of an instance are used (UC4016)."""
    cards = {card.index for card in instance_type.network_cards if card.efa}
    used = len(cards & {item.card for item in interfaces if item.has_efa})
    return require(
        used >= instance_type.efa_interfaces,
        "UC4016",
        f"{used} of the {instance_type.efa_interfaces} EFA interfaces of {instance_type.name} are used",
        remedy="Add one on each network card with EFA: bandwidth between nodes grows with each.",
    )


def _check_efa(
    instance_type: InstanceType, interfaces: tuple[nic_layouts.NetworkInterface, ...]
) -> list[Finding]:
    efa_cards = {card.index for card in instance_type.network_cards if card.efa}
    known_cards = {card.index for card in instance_type.network_cards}
    efa = [(index, item.card) for index, item in enumerate(interfaces) if item.has_efa]
    cards = [card for _, card in efa]
    attached = Counter(cards)
    findings = [
        Finding(
            "UC4014",
            f"{count} EFA interfaces on network card {card}",
            allowed="one interface of type efa or efa-only for each network card",
            path=f"nic_layout[{efa[_second(cards, card)][0]}].interface_type",
        )
        for card, count in attached.items()
        if count > 1
    ]
    findings += [
        Finding(
            "UC4015",
            f"network card {card} of {instance_type.name} does not support EFA",
            allowed="an interface of type interface on this card",
            path=f"nic_layout[{efa[cards.index(card)][0]}].interface_type",
        )
        for card in attached
        if card in known_cards - efa_cards
    ]
    return findings


def cluster_addresses(
    *, instance_type: InstanceType, nodes: int, nic_layout: NicLayout, endpoints: int = 0
) -> int:
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
        interface_endpoints=len(NODE_SERVICES) + endpoints,
        file_system_interfaces=FILE_SYSTEM_ADDRESSES,
    )


def addresses_of_existing_subnet(
    *,
    instance_type: InstanceType,
    nodes: int,
    nic_layout: NicLayout,
    file_system_interfaces: int = FILE_SYSTEM_ADDRESSES,
) -> int:
    """Return how many free addresses a cluster needs in an existing subnet, see `check_available_addresses`."""
    _require_counts(nodes=nodes, file_system_interfaces=file_system_interfaces)
    per_node = addresses_per_node(network_interfaces(instance_type, nic_layout))
    needed = subnet_addresses(
        nodes=nodes, addresses_per_node=per_node, file_system_interfaces=file_system_interfaces
    )
    return needed - RESERVED_PER_SUBNET


def check_available_addresses(
    *,
    instance_type: InstanceType,
    nodes: int,
    nic_layout: NicLayout,
    available_addresses: int,
    file_system_interfaces: int = FILE_SYSTEM_ADDRESSES,
) -> list[Finding]:
    """Check whether an existing subnet has enough free addresses for a cluster (UC3002).

    Args:
        instance_type: Type of the nodes.
        nodes: Maximum number of nodes, with one task of a multi-node job on each.
        nic_layout: Network interface layout of the nodes.
        available_addresses: AvailableIpAddressCount of the subnet, which excludes the addresses reserved by AWS.
        file_system_interfaces: Addresses to reserve for file systems. Default: 128, enough for 100 object servers.

    Raises:
        FindingsError: UC3001 for a negative count, or what `network_interfaces` raises.
    """
    needed = addresses_of_existing_subnet(
        instance_type=instance_type,
        nodes=nodes,
        nic_layout=nic_layout,
        file_system_interfaces=file_system_interfaces,
    )
    per_node = addresses_per_node(network_interfaces(instance_type, nic_layout))
    return require(
        needed <= available_addresses,
        FREE_ADDRESSES.code,
        f"{nodes} nodes with {per_node} addresses and a task each, and {file_system_interfaces} "
        f"addresses for file systems, need {needed}; got {quote(available_addresses)}",
        path="available_addresses",
        allowed=f"{needed} or more free addresses",
        remedy="Use a larger subnet, fewer nodes, or the layout batch, which uses one address per node",
    )


def smallest_subnet_prefix(needed: int) -> int:
    """Return the prefix length of the smallest subnet with enough addresses, or raise UC3002."""
    try:
        return subnet_prefix(needed)
    except ValueError:
        raise FindingsError.of(
            FREE_ADDRESSES.code,
            f"the cluster needs {needed} addresses, including {RESERVED_PER_SUBNET} reserved by AWS; "
            f"a subnet of /{LARGEST_SUBNET_PREFIX} has {2 ** (32 - LARGEST_SUBNET_PREFIX)}",
            remedy="Use fewer nodes per cluster, or use a layout of network interfaces with fewer addresses "
            "per node.",
        ) from None


def check_endpoints(services: Sequence[str], *, path: str) -> list[Finding]:
    """Check that further interface endpoints are each of one more service (UC3112)."""
    findings = []
    for index, service in enumerate(services):
        taken = service in (*NODE_SERVICES, "s3", *services[:index])
        if taken or not _SERVICE.fullmatch(service):
            problem = f"the network has an endpoint for {service}" if taken else f"got {quote(service)}"
            findings.append(
                Finding(
                    "UC3112",
                    problem,
                    allowed="the name of a service after com.amazonaws.REGION, such as secretsmanager",
                    remedy="Remove it" if taken else "",
                    path=f"{path}[{index}]",
                )
            )
    return findings


def check_zone_id(zone_id: str) -> list[Finding]:
    """Check whether a text is the zone ID of a known Region (UC3003)."""
    try:
        region_of_zone_id(zone_id)
    except ValueError:
        return [
            Finding(
                "UC3003",
                f"{quote(zone_id)} is not a zone ID of a known Region",
                allowed="a zone ID such as use2-az3",
                remedy="`aws ec2 describe-availability-zones` shows the zone ID of each zone name.",
            )
        ]
    return []


def check_cidr(cidr: str, *, path: str = "") -> list[Finding]:
    """Check whether a text is a network that EC2 accepts for a VPC (UC3103)."""
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
    return [Finding("UC3103", problem, allowed=allowed, remedy=remedy, path=path)]


def _nearest_network(cidr: str) -> str:
    try:
        return f"The network with this address is {ipaddress.IPv4Network(cidr, strict=False)}"
    except ValueError:
        return ""


def check_subnet_size(vpc: ipaddress.IPv4Network, prefix: int, *, needed: int) -> list[Finding]:
    """Check whether a subnet fits into its VPC and has enough addresses (UC3105)."""
    if prefix < vpc.prefixlen:
        return [
            Finding(
                SUBNET_PREFIX.code,
                f"a subnet of /{prefix} is larger than its VPC, {vpc}",
                allowed=f"{vpc.prefixlen} to {_LARGEST_PREFIX}",
            )
        ]
    size = 2 ** (32 - prefix)
    return require(
        needed <= size,
        SUBNET_PREFIX.code,
        f"the nodes, their tasks, the endpoints and the file system need {needed:,} addresses, but a /{prefix} "
        f"has {size:,}",
        remedy=f"Use /{32 - (needed - 1).bit_length()}, fewer nodes, or the layout batch, which uses one address per node",
    )


def check_nat_gateway_room(vpc: ipaddress.IPv4Network, prefix: int) -> list[Finding]:
    """Check whether a VPC has addresses for a NAT gateway beside the subnet of the nodes (UC3105)."""
    return require(
        prefix > vpc.prefixlen,
        SUBNET_PREFIX.code,
        f"the nodes' subnet takes all of {vpc} and leaves no addresses for the NAT gateway",
        remedy="Use a larger cidr or a smaller subnet",
    )


def check_node_addresses(network: ipaddress.IPv4Network, *, needed: int) -> list[Finding]:
    """Check whether a subnet has an address for each interface of the nodes (UC3002)."""
    free = network.num_addresses - RESERVED_PER_SUBNET
    return require(
        needed <= free,
        FREE_ADDRESSES.code,
        f"the nodes take {needed} addresses, and {network} has {free}",
        allowed=f"{needed} addresses or more, and those of endpoints and file systems",
        remedy="Use a larger subnet, or efa-only interfaces, which take no address",
    )


def warn_of_unknown_efa_rules(group: str) -> Finding:
    """Return the warning (UC3106) about an existing security group whose rules are not known."""
    return Finding(
        "UC3106",
        f"the rules of {group} are unknown; unless it allows all traffic from and to itself, EFA fails, "
        "and jobs hang or fall back to TCP",
        remedy="Make sure that it has both rules, or set add_efa_rules to true",
    )


def check_zone_region(zone: str, *, zone_region: str, region: str) -> list[Finding]:
    """Check whether a zone is in the Region of a cluster (UC3102)."""
    return require(
        zone_region == region,
        "UC3102",
        f"zone {zone} is in {zone_region}, not in {region}",
        remedy="Use the zone ID of the reservation, and the Region of that zone",
    )


def _require_counts(**counts: int) -> None:
    reject(
        Finding("UC3001", f"got {quote(count)}", path=name, allowed="0 or more")
        for name, count in counts.items()
        if count < 0
    )


EXISTING_SUBNET: Final = "UC3107"
EXISTING_GROUP: Final = "UC3109"
"""Codes of the rules about an existing subnet and its security groups."""

_OF_NEW_VPC: Final = (
    "nat_gateway",
    "subnet_prefix",
    "endpoints",
    "limit_endpoints",
    "allowed_accounts",
    "allowed_buckets",
)

_SecurityGroupId = Annotated[str, resource_id("sg", code=EXISTING_GROUP)]


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkInterface(Value):
    """A network interface of every node."""

    card: int
    """Index of the network card, starting at 0."""

    device: int = 0
    """Device index on the card. Default: 0."""

    interface_type: Literal["interface", "efa", "efa-only"]
    """`interface`: ENA only. `efa`: EFA and ENA, one address. `efa-only`: EFA, no address."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Network(Value):
    """The VPC of a cluster, new or existing. The nodes are in one private subnet in the zone of the capacity."""

    cidr: Annotated[
        str,
        Checked(check_cidr, {"pattern": r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/(1[6-9]|2[0-8])$"}),
    ] = "10.0.0.0/16"
    """CIDR block of the VPC: an IPv4 network of /16 to /28. Clusters whose VPCs are never connected can use the same one.
    Default: 10.0.0.0/16."""

    nic_layout: Annotated[str, NIC_LAYOUT] = "batch"
    """Layout of network interfaces on the network cards. `batch` uses one address per node and leaves room for the interface
    of a multi-node parallel job. Default: batch."""

    network_interfaces: tuple[NetworkInterface, ...] = ()
    """Explicit list of network interfaces, instead of a named layout. Default: those of `nic_layout`."""

    placement: Annotated[
        str, placement_group_name("auto, none, or the name of an existing cluster placement group")
    ] = "auto"
    """Cluster placement group of the nodes. `auto`: a new group for on-demand nodes, none with a Capacity Block or a
    reservation. `none`: no group. Otherwise the name of an existing group. Default: auto."""

    subnet_prefix: Annotated[int, SUBNET_PREFIX] | None = None
    """Prefix length of the nodes' subnet, 16 to 28. Default: 20, or less if the nodes need more addresses; the whole VPC if
    that is smaller."""

    nat_gateway: bool = False
    """Whether to create a NAT gateway, through which nodes reach the internet over HTTPS; billed per hour and per GB.
    Default: no; nodes reach only AWS services, through VPC endpoints."""

    endpoints: tuple[str, ...] = ()
    """Further services to create interface endpoints for in a new VPC, such as secretsmanager; each is billed by the hour.
    Default: those that nodes use."""

    limit_endpoints: bool | None = None
    """Whether endpoints of a new VPC have policies that allow this account, the buckets and images that this file names, and
    what nodes need of AWS. Default: yes, without `nat_gateway`."""

    allowed_accounts: tuple[AccountId, ...] = ()
    """Further accounts whose buckets, images, logs and callers the endpoints allow. Default: none."""

    allowed_buckets: tuple[BucketName, ...] = ()
    """Further buckets of other accounts that the endpoints allow. Default: those that this file names."""

    vpc_id: Annotated[str, resource_id("vpc", code=EXISTING_SUBNET)] | None = None
    """ID of an existing VPC, with `subnet_id`. Default: a new VPC."""

    subnet_id: Annotated[str, resource_id("subnet", code=EXISTING_SUBNET)] | None = None
    """ID of an existing private subnet in the zone, with `vpc_id`, without public addresses and with a NAT gateway or VPC
    endpoints: none are added, and `cidr` is ignored. Default: a new subnet."""

    available_addresses: Annotated[int, FREE_ADDRESSES] | None = None
    """AvailableIpAddressCount of the existing subnet before the first deployment, checked against the needs of the cluster.
    Default: not checked."""

    security_group_id: _SecurityGroupId | None = None
    """ID of an existing security group for the nodes, with `subnet_id`. Default: a new one."""

    add_efa_rules: bool = False
    """Whether to add the two rules that EFA requires to the existing security group. EC2 refuses duplicate rules. Default:
    no; they must exist."""

    default_security_group_id: _SecurityGroupId | None = None
    """ID of the default security group of the existing VPC, which tasks of multi-node jobs take, to add the rules that they
    need: all traffic with itself, and HTTPS out. EC2 refuses duplicate rules. Default: none are added; they must exist."""

    @property
    def layout(self) -> nic_layouts.NicLayout:
        """Name of the layout, or the explicit list of interfaces."""
        explicit = (
            nic_layouts.NetworkInterface(**interface.known()) for interface in self.network_interfaces
        )
        return tuple(explicit) or self.nic_layout


@rule()
def endpoints_are_new(network: Network) -> Iterator[At]:
    """Endpoints are of services, and of none that the network has already."""
    for finding in check_endpoints(network.endpoints, path="endpoints"):
        yield At.of("endpoints", finding)


@rule(EXISTING_SUBNET)
def existing_subnet_is_whole(network: Network) -> Iterator[At]:
    """An existing subnet has its VPC, and no settings of a new one."""
    if (network.vpc_id is None) != (network.subnet_id is None):
        given, missing = ("subnet_id", "vpc_id") if network.vpc_id is None else ("vpc_id", "subnet_id")
        remedy = "Set both for an existing subnet, or neither for a new one"
        yield At(given, f"{given} is set without {missing}", remedy=remedy)
    existing = network.subnet_id is not None
    for name in _OF_NEW_VPC if existing else ("available_addresses",):
        if network.differs(name):
            yield At(
                name,
                f"{name} is for {'a new VPC' if existing else 'an existing subnet'} only",
                remedy="Remove it" if existing else "Remove it, or set vpc_id and subnet_id",
            )


@rule(EXISTING_GROUP)
def rules_are_added_to_an_existing_group(network: Network) -> Iterator[At]:
    """Rules for EFA are added to an existing security group only."""
    if network.add_efa_rules and network.security_group_id is None:
        problem = "add_efa_rules is for an existing security group only"
        yield At("add_efa_rules", problem, remedy="Remove it: a new group has the rules")


@rule(EXISTING_GROUP)
def groups_are_of_an_existing_vpc(network: Network) -> Iterator[At]:
    """Existing security groups are of an existing VPC."""
    if network.default_security_group_id is not None and network.subnet_id is None:
        problem = "default_security_group_id is for an existing VPC only"
        remedy = "Remove it: the default group of a new VPC has the rules"
        yield At("default_security_group_id", problem, remedy=remedy)
    if network.security_group_id is not None and network.subnet_id is None:
        problem = "security_group_id is set without subnet_id, but a new VPC has no existing group"
        yield At("security_group_id", problem, remedy="Set vpc_id and subnet_id of its VPC")


NETWORK_RULES: Final = (
    endpoints_are_new,
    existing_subnet_is_whole,
    rules_are_added_to_an_existing_group,
    groups_are_of_an_existing_vpc,
)
"""Rules about a network by itself."""

RECORDS: Final = (
    RuleRecord(
        "UC3001",
        "A count that determines the size of a subnet is not negative.",
        remedy="Specify 0 for interfaces that the subnet does not hold.",
        source="Our decision: a negative count would make the subnet too small for the rest.",
        example='cluster_addresses(nodes=0, instance_type=get_instance_type("trn2.48xlarge"), nic_layout="batch")',
    ),
    RuleRecord(
        "UC3002",
        "A subnet has an address for everything that the cluster puts into it.",
        remedy="Use a larger subnet, fewer nodes, or the layout batch, whose nodes take one address each and one for a task.",
        source="Amazon VPC user guide: AWS keeps 5 addresses of a subnet. EC2 user guide, EFA, 2026-10: each interface but efa-only takes an address.",
        example="network: {vpc_id: vpc-0123456789abcdef0, subnet_id: subnet-0123456789abcdef0, available_addresses: 200}",
        in_templates=True,
    ),
    RuleRecord(
        "UC3003",
        "A zone ID belongs to a Region that the catalogue knows.",
        remedy="`aws ec2 describe-availability-zones` shows the zone ID of each zone name of your account.",
        source="Zone ids of DescribeInstanceTypeOfferings as moto 5.2.5 ships them, about 2026-08.",
        example="zone_id: use2-az3",
    ),
    RuleRecord(
        "UC3102",
        "A zone belongs to the Region of its cluster.",
        remedy="Use the zone ID of the reservation, and the Region of that zone.",
        source="Zone ids of DescribeInstanceTypeOfferings as moto 5.2.5 ships them, about 2026-08.",
        example="zone_id: use2-az3",
    ),
    RuleRecord(
        "UC3103",
        "A VPC is an IPv4 network of /16 to /28 that EC2 accepts.",
        remedy="Specify a network address without host bits and a prefix of /16 to /28.",
        source="Amazon VPC user guide, VPC CIDR blocks: /16 to /28, and no link-local or loopback addresses.",
        example="network: {cidr: 10.0.0.0/16}",
    ),
    RuleRecord(
        "UC3105",
        "The subnet of the nodes is inside the VPC and large enough for all addresses.",
        remedy="Use a larger cidr or subnet_prefix, fewer nodes, or the layout batch, which needs one address per node.",
        source="Amazon VPC user guide: AWS keeps 5 addresses of a subnet. Our decision: 128 are kept for the file system, so that it can grow.",
        example="network: {cidr: 10.0.0.0/23}",
    ),
    RuleRecord(
        "UC3106",
        "An existing security group allows EFA traffic: all traffic from and to itself.",
        severity=Severity.WARNING,
        remedy="Set `add_efa_rules: true`, or check the group: it needs rules for all traffic from itself and to itself. Rules with addresses, even 0.0.0.0/0, do not allow EFA traffic.",
        source="EC2 user guide, get started with EFA, 2026-10; FSx for Lustre guide, limit access with security groups, 2026-10.",
        suppressible=True,
    ),
    RuleRecord(
        "UC3107",
        "A subnet is either an existing one, specified with its VPC, or a new one.",
        remedy="Set both vpc_id and subnet_id for an existing subnet, or neither for a new one; cidr applies to a new one only.",
        source="Our decision: nothing is looked up at synthesis, so the VPC of a subnet must be given.",
        example="network: {vpc_id: vpc-0123456789abcdef0, subnet_id: subnet-0123456789abcdef0}",
    ),
    RuleRecord(
        "UC3109",
        "An existing security group is specified by its ID, together with its subnet.",
        remedy="Set vpc_id and subnet_id of the VPC of the security group; omit the group for a new VPC, which creates one with the required rules.",
        source="Amazon VPC user guide, security groups: a group is used in its VPC only.",
    ),
    RuleRecord(
        "UC3112",
        "Additional interface endpoints of a network are each for a different service.",
        remedy="List services, as they are named after com.amazonaws.REGION, for which the network has no endpoint yet, once each.",
        source="Amazon VPC User Guide, AWS services that integrate with AWS PrivateLink.",
        example="network: {endpoints: [secretsmanager]}",
    ),
    RuleRecord(
        "UC4002",
        "A layout of network interfaces is one of the named ones.",
        remedy="Use a named layout, or `network_interfaces` for a custom layout.",
        source="EC2 user guide, EFA on accelerated instance types, 2026-10; Neuron EKS samples, 2026-08.",
        example="network: {nic_layout: batch}",
    ),
    RuleRecord(
        "UC4010",
        "The primary interface is on network card 0, device index 0, and has an IP address.",
        remedy="Begin with an interface of type efa or interface on card 0, device 0: the node needs its address.",
        source="EC2 user guide, EFA, 2026-10: the primary interface is card 0, device 0, and cannot be efa-only.",
        example="network: {nic_layout: all-efa}",
        in_templates=True,
    ),
    RuleRecord(
        "UC4011",
        "A network interface is on a network card that the instance type has.",
        remedy="Count network cards from 0: a trn2.48xlarge has the cards 0 to 15.",
        source="DescribeInstanceTypes as moto 5.2.5 ships it, about 2026-08.",
        example="network: {nic_layout: batch}",
        in_templates=True,
    ),
    RuleRecord(
        "UC4012",
        "A device index is below the number of interfaces that its network card takes.",
        remedy="Use a device index below the number of interfaces of the card: 0 and 1 on the cards of a trn2.48xlarge, which take 2.",
        source="DescribeInstanceTypes as moto 5.2.5 ships it, about 2026-08.",
        example="network: {nic_layout: batch}",
        in_templates=True,
    ),
    RuleRecord(
        "UC4013",
        "Two network interfaces never share a network card and device index.",
        remedy="Use a different pair of card and device index for each interface; `device` defaults to 0.",
        source="EC2 user guide, multiple network cards, 2026-10.",
        example="network: {nic_layout: batch}",
        in_templates=True,
    ),
    RuleRecord(
        "UC4014",
        "A network card carries one EFA or EFA-only interface at most.",
        remedy="Keep one EFA or EFA-only interface on each card, and put the next one on the next card.",
        source="EC2 user guide, EFA, 2026-10: one EFA or EFA-only interface for each network card.",
        example="network: {nic_layout: batch}",
        in_templates=True,
    ),
    RuleRecord(
        "UC4015",
        "An EFA or EFA-only interface is on a network card that supports EFA.",
        remedy="Use an interface of type interface on this card, or a type with EFA, such as trn1.32xlarge.",
        source="DescribeInstanceTypes as moto 5.2.5 ships it, about 2026-08: a trn1.2xlarge has no EFA, and card 0 of a p6-b300.48xlarge has none.",
        in_templates=True,
    ),
    RuleRecord(
        "UC4016",
        "Every EFA interface of an instance type is used.",
        severity=Severity.WARNING,
        remedy="Add one EFA interface on each further card: bandwidth between nodes grows with each, and the instance costs the same.",
        source="EC2 user guide, EFA on accelerated instance types, 2026-10.",
        example="network: {nic_layout: batch}",
        in_templates=True,
        suppressible=True,
    ),
    RuleRecord(
        "UC4017",
        "Network card 0 has a slot left for the interface of a multi-node task.",
        severity=Severity.WARNING,
        remedy="Use the layout batch, or run jobs of one node only on these nodes.",
        source="Inferred in 2026-11 from the ECS guide (one awsvpc task on a p5.48xlarge, whose card 0 takes two interfaces); AWS does not document it.",
        in_templates=True,
        suppressible=True,
    ),
)
