"""`network` of a cluster: VPC, subnet and network interfaces of the nodes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from ultracluster_catalog.machines import nic_layouts
from ultracluster_rules.network import FREE_ADDRESSES, NIC_LAYOUT, SUBNET_PREFIX, check_cidr, check_endpoints
from ultracluster_rules.record import RuleRecord
from ultracluster_rules.values import Checked
from ultracluster_spec.buckets import BucketName
from ultracluster_spec.names import AccountId, placement_group_name, resource_id
from ultracluster_spec.rules import At, rule
from ultracluster_spec.values import Value

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
)
