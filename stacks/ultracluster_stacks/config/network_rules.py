"""Rules about a cluster's addresses: which ones, and whether there are enough."""

import ipaddress
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from ultracluster_catalog.cluster_subnet import cluster_addresses
from ultracluster_catalog.instance_types import get_instance_type
from ultracluster_catalog.nic_layouts import addresses_per_node, network_interfaces
from ultracluster_stacks.config.problem import Problem

if TYPE_CHECKING:
    from ultracluster_stacks.config.cluster import ClusterConfig

__all__ = ["RULES"]

_PRIVATE: Final = tuple(map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_DOCKER: Final = ipaddress.IPv4Network("172.17.0.0/16")


def addresses_are_private(cluster: "ClusterConfig") -> Iterator[Problem]:
    """Warn about addresses that hide a part of the Internet, or that the nodes use themselves."""
    network = ipaddress.IPv4Network(cluster.network.cidr)
    if not any(network.subnet_of(private) for private in _PRIVATE):
        yield Problem(
            loc=("network", "cidr"),
            code="UC3104",
            problem=f"{network} is not private (RFC 1918), so the nodes cannot reach whoever owns it",
            remedy="Use a part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16",
        )
    if network.overlaps(_DOCKER):
        yield Problem(
            loc=("network", "cidr"),
            code="UC3104",
            problem=f"{network} overlaps {_DOCKER}, which Docker uses on each node",
            remedy="Use another network",
        )


def subnet_holds_nodes(cluster: "ClusterConfig") -> Iterator[Problem]:
    """The nodes, their tasks, the endpoints and the file system share one subnet."""
    settings = cluster.network
    vpc = ipaddress.IPv4Network(settings.cidr).prefixlen
    prefix = vpc if settings.subnet_prefix is None else settings.subnet_prefix
    if prefix < vpc:
        yield Problem(
            loc=("network", "subnet_prefix"),
            code="UC3105",
            problem=f"a subnet of /{prefix} is larger than its VPC, {settings.cidr}",
            allowed=f"{vpc} to 28",
        )
        return
    machine = get_instance_type(cluster.instance_type)
    needed = cluster_addresses(instance_type=machine, nodes=cluster.nodes, nic_layout=settings.nic_layout)
    if needed > 2 ** (32 - prefix):
        per_node = addresses_per_node(network_interfaces(machine, settings.nic_layout))
        yield Problem(
            loc=("network", "cidr" if settings.subnet_prefix is None else "subnet_prefix"),
            code="UC3105",
            problem=f"{cluster.nodes} nodes with {per_node} addresses and a task each, the "
            f"endpoints and the file system need {needed:,} addresses, but a /{prefix} has {2 ** (32 - prefix):,}",
            remedy=f"Use /{32 - (needed - 1).bit_length()}, or the layout `batch`, which takes one address a node",
        )


RULES: Final[tuple[Callable[["ClusterConfig"], Iterator[Problem]], ...]] = (
    addresses_are_private,
    subnet_holds_nodes,
)
"""The rules in the order in which their problems are found."""
