"""`network` of a cluster: its addresses and how the nodes' interfaces are laid out."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from ultracluster_catalog.machines.nic_layouts import NetworkInterface, NicLayout
from ultracluster_rules.network import FREE_ADDRESSES, NIC_LAYOUT, SUBNET_PREFIX, check_cidr
from ultracluster_stacks.config.models.constraints import constraint, refusal_of, resource_id
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import placement_group_name

__all__ = [
    "SECURITY_GROUP_ID",
    "SUBNET_ID",
    "NetworkConfig",
    "NetworkInterfaceConfig",
]

_VPC_ID: Final = resource_id("vpc", code="UC3107")
SUBNET_ID: Final = resource_id("subnet", code="UC3107")
SECURITY_GROUP_ID: Final = resource_id("sg", code="UC3109")


def _check_cidr(value: str) -> str:
    for finding in check_cidr(value):
        raise refusal_of(finding)
    return value


class NetworkInterfaceConfig(ConfigModel):
    """One network interface of every node."""

    card: int = Field(description="Index of the network card, from 0.")
    device: int = Field(default=0, description="Device index on that card. Default: 0.")
    interface_type: Literal["interface", "efa", "efa-only"] = Field(
        description="`interface`: ENA only. `efa`: EFA and ENA, one address. `efa-only`: EFA, no address."
    )


class NetworkConfig(ConfigModel):
    """The VPC of a cluster, new or existing. Its nodes stand in one private subnet in the zone of the capacity."""

    cidr: Annotated[
        str,
        AfterValidator(_check_cidr),
        WithJsonSchema({"type": "string", "pattern": r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/(1[6-9]|2[0-8])$"}),
    ] = Field(
        default="10.0.0.0/16",
        description="Addresses of the VPC: an IPv4 network of /16 to /28. Clusters that are never connected to "
        "each other may use the same.",
    )
    nic_layout: Annotated[str, constraint(NIC_LAYOUT)] = Field(
        default="batch",
        description="How network interfaces are laid out over the network cards. `batch` takes one address per "
        "node and leaves room for the interface of a multi-node parallel job.",
    )
    network_interfaces: tuple[NetworkInterfaceConfig, ...] = Field(
        default=(),
        description="The network interfaces one by one, in place of a named layout. Default: as `nic_layout` lays "
        "them out.",
    )
    placement: Annotated[
        str,
        placement_group_name("auto, none, or the name of an existing cluster placement group"),
    ] = Field(
        default="auto",
        description="Cluster placement group of the nodes. `auto`: a new one for on-demand nodes, none with a Capacity "
        "Block or a reservation. `none`: none. Anything else is the name of an existing group.",
    )
    subnet_prefix: Annotated[int, constraint(SUBNET_PREFIX)] | None = Field(
        default=None,
        description="Prefix length of the nodes' subnet, 16 to 28. Default: 20, or less where the "
        "nodes need more addresses; the whole VPC where that is smaller.",
    )
    nat_gateway: bool = Field(
        default=False,
        description="Whether nodes reach the internet over HTTPS, through one NAT gateway. It is paid by the hour "
        "and by the GB. Without it they reach AWS services only, through endpoints.",
    )
    vpc_id: Annotated[str, _VPC_ID] | None = Field(
        default=None, description="Id of an existing VPC, with `subnet_id`. Default: a new VPC."
    )
    subnet_id: Annotated[str, SUBNET_ID] | None = Field(
        default=None,
        description="Id of an existing private subnet in the zone, with `vpc_id`. It assigns no public addresses, and "
        "reaches AWS services by a NAT gateway or endpoints of its VPC: none are added, and `cidr` is not used. Default: a new subnet.",
    )
    free_addresses: Annotated[int, constraint(FREE_ADDRESSES)] | None = Field(
        default=None,
        description="AvailableIpAddressCount of the existing subnet before the first deployment, checked against what "
        "the cluster takes from it. Default: not checked.",
    )
    security_group_id: Annotated[str, SECURITY_GROUP_ID] | None = Field(
        default=None,
        description="Id of an existing security group for the nodes, with `subnet_id`. Default: a new one.",
    )
    add_efa_rules: bool = Field(
        default=False,
        description="Whether the two rules that EFA needs are added to the existing security group. EC2 refuses a rule "
        "that exists already. Default: they are expected there.",
    )

    @property
    def layout(self) -> NicLayout:
        """The layout of network interfaces: its name, or the interfaces themselves."""
        return (
            tuple(
                NetworkInterface(card=each.card, device=each.device, interface_type=each.interface_type)
                for each in self.network_interfaces
            )
            or self.nic_layout
        )
