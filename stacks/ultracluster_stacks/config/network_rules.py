"""Rules about a cluster's addresses: which ones, and whether there are enough."""

import ipaddress
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from ultracluster_catalog.cluster_subnet import check_free_addresses, cluster_addresses
from ultracluster_catalog.instance_types import get_instance_type
from ultracluster_catalog.nic_layouts import (
    addresses_per_node,
    check_task_interface,
    network_interfaces,
)
from ultracluster_stacks.config.problem import Problem

if TYPE_CHECKING:
    from ultracluster_stacks.config.cluster import ClusterConfig

__all__ = ["RULES"]

_PRIVATE: Final = tuple(map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_DOCKER: Final = ipaddress.IPv4Network("172.17.0.0/16")


def addresses_are_private(cluster: "ClusterConfig") -> Iterator[Problem]:
    """Warn about addresses that hide a part of the Internet, or that the nodes use themselves."""
    if cluster.network.subnet_id is not None:
        return
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
    if settings.subnet_id is not None:
        return
    vpc = ipaddress.IPv4Network(settings.cidr).prefixlen
    prefix = vpc + settings.nat_gateway if settings.subnet_prefix is None else settings.subnet_prefix
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


def nat_gateway_has_room(cluster: "ClusterConfig") -> Iterator[Problem]:
    """The public subnet of a NAT gateway lies beside that of the nodes."""
    settings = cluster.network
    if not settings.nat_gateway or settings.subnet_id is not None or settings.subnet_prefix is None:
        return
    if settings.subnet_prefix == ipaddress.IPv4Network(settings.cidr).prefixlen:
        yield Problem(
            loc=("network", "subnet_prefix"),
            code="UC3105",
            problem=f"the nodes' subnet takes all of {settings.cidr} and leaves nothing for the NAT gateway",
            remedy="Give a larger cidr, or a smaller subnet",
        )


def existing_subnet_is_whole(cluster: "ClusterConfig") -> Iterator[Problem]:
    """A subnet is existing or new, and an existing one is named with its VPC."""
    settings = cluster.network
    if (settings.vpc_id is None) != (settings.subnet_id is None):
        given, missing = ("subnet_id", "vpc_id") if settings.vpc_id is None else ("vpc_id", "subnet_id")
        yield Problem(
            loc=("network", given),
            code="UC3107",
            problem=f"{given} is given without {missing}",
            remedy="Give both for an existing subnet, or neither for a new one",
        )
    existing = settings.subnet_id is not None
    for name, is_given, belongs in (
        ("nat_gateway", settings.nat_gateway, "a new VPC only"),
        ("subnet_prefix", settings.subnet_prefix is not None, "a new VPC only"),
        ("free_addresses", settings.free_addresses is not None, "an existing subnet only"),
    ):
        if is_given and existing != (name == "free_addresses"):
            yield Problem(
                loc=("network", name),
                code="UC3107",
                problem=f"{name} is for {belongs}",
                remedy="Leave it out" if existing else "Leave it out, or give vpc_id and subnet_id",
            )


def existing_subnet_holds_cluster(cluster: "ClusterConfig") -> Iterator[Problem]:
    """The nodes, their tasks and the file system must find free addresses."""
    settings = cluster.network
    if settings.subnet_id is None or settings.free_addresses is None:
        return
    for finding in check_free_addresses(
        instance_type=get_instance_type(cluster.instance_type),
        nodes=cluster.nodes,
        nic_layout=settings.nic_layout,
        free_addresses=settings.free_addresses,
    ):
        yield Problem(
            loc=("network", finding.path),
            code=finding.code,
            problem=finding.problem,
            allowed=finding.allowed,
            remedy=finding.remedy,
        )


def task_has_a_slot(cluster: "ClusterConfig") -> Iterator[Problem]:
    """Warn of a layout that fills the network card on which a job's own interface is expected."""
    machine = get_instance_type(cluster.instance_type)
    interfaces = network_interfaces(machine, cluster.network.nic_layout)
    for finding in check_task_interface(machine, interfaces) if cluster.jobs else ():
        yield Problem(
            loc=("network", "nic_layout"), code=finding.code, problem=finding.problem, remedy=finding.remedy
        )


RULES: Final[tuple[Callable[["ClusterConfig"], Iterator[Problem]], ...]] = (
    addresses_are_private,
    subnet_holds_nodes,
    nat_gateway_has_room,
    existing_subnet_is_whole,
    existing_subnet_holds_cluster,
    task_has_a_slot,
)
"""The rules in the order in which their problems are found."""
