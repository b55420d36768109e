"""Rules about the network of a cluster: address ranges, free addresses, interfaces, security groups."""

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.machines.nic_layouts import NetworkInterface
from ultracluster_spec.capacity import check_block_placement, check_group_of_reservation
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError, Severity
from ultracluster_spec.network import (
    NETWORK_RULES,
    check_available_addresses,
    check_nat_gateway_room,
    check_network_interfaces,
    check_subnet_size,
    check_task_interface,
    cluster_addresses,
    network_interfaces,
    warn_of_unknown_efa_rules,
)
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At, broken

_PRIVATE: Final = tuple(map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_DOCKER: Final = ipaddress.IPv4Network("172.17.0.0/16")


def addresses_are_private(cluster: Cluster) -> Iterator[At]:
    """Warn about addresses that hide a part of the Internet, or that the nodes use themselves."""
    if cluster.network.subnet_id is not None:
        return
    network = ipaddress.IPv4Network(cluster.network.cidr)
    if not any(network.subnet_of(private) for private in _PRIVATE):
        problem = f"{network} is not private (RFC 1918), so the nodes cannot reach its owner on the internet"
        remedy = "Use a part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16"
        yield At(("network", "cidr"), problem, remedy=remedy, code="UC3104")
    if network.overlaps(_DOCKER):
        problem = f"{network} overlaps {_DOCKER}, which Docker uses on each node"
        yield At(("network", "cidr"), problem, remedy="Use another CIDR block", code="UC3104")


def subnet_holds_nodes(cluster: Cluster) -> Iterator[At]:
    """Refuse a new subnet without addresses for the nodes, their tasks, the endpoints and the file system."""
    settings = cluster.network
    if settings.subnet_id is not None:
        return
    interfaces = _legal_interfaces(cluster)
    if interfaces is None:
        return
    vpc = ipaddress.IPv4Network(settings.cidr)
    given = settings.subnet_prefix is not None
    prefix = (
        vpc.prefixlen + settings.nat_gateway if settings.subnet_prefix is None else settings.subnet_prefix
    )
    needed = cluster_addresses(
        instance_type=cluster.node_type,
        nodes=cluster.most_nodes,
        nic_layout=interfaces,
        endpoints=len(settings.endpoints),
    )
    findings = check_subnet_size(vpc, prefix, needed=needed)
    yield from At.of_all(("network", "subnet_prefix" if given else "cidr"), findings)


def network_is_whole(cluster: Cluster) -> Iterator[At]:
    """Refuse settings of the network that do not go together."""
    for place, finding in broken(NETWORK_RULES, cluster.network):
        yield At.of(("network", *place), finding)


def nat_gateway_has_room(cluster: Cluster) -> Iterator[At]:
    """Refuse a VPC without addresses for the public subnet of its NAT gateway."""
    settings = cluster.network
    if not settings.nat_gateway or settings.subnet_id is not None or settings.subnet_prefix is None:
        return
    vpc = ipaddress.IPv4Network(settings.cidr)
    if settings.subnet_prefix == vpc.prefixlen:
        yield from At.of_all(
            ("network", "subnet_prefix"), check_nat_gateway_room(vpc, settings.subnet_prefix)
        )


def existing_subnet_holds_cluster(cluster: Cluster) -> Iterator[At]:
    """Refuse an existing subnet without free addresses for the nodes, their tasks and the file system."""
    settings = cluster.network
    interfaces = _legal_interfaces(cluster)
    if settings.subnet_id is None or settings.available_addresses is None or interfaces is None:
        return
    for finding in check_available_addresses(
        instance_type=cluster.node_type,
        nodes=cluster.most_nodes,
        nic_layout=interfaces,
        available_addresses=settings.available_addresses,
        file_system_interfaces=cluster.file_system.subnet_addresses,
    ):
        yield At.of(("network", finding.path), finding)


def task_has_a_slot(cluster: Cluster) -> Iterator[At]:
    """Warn about a layout that fills the network card on which a job's own interface is expected."""
    interfaces = _legal_interfaces(cluster)
    if not cluster.jobs or interfaces is None:
        return
    for finding in check_task_interface(cluster.node_type, interfaces):
        name = "network_interfaces" if cluster.network.network_interfaces else "nic_layout"
        yield At.of(("network", name), finding)


def interfaces_are_legal(cluster: Cluster) -> Iterator[At]:
    """Refuse interfaces that EC2 would refuse, and warn about network cards whose EFA is unused."""
    layout = cluster.network.layout
    if isinstance(layout, str):
        return
    for finding in check_network_interfaces(cluster.node_type, layout):
        place = re.fullmatch(r"nic_layout\[(\d+)\](?:\.(\w+))?", finding.path)
        within = (int(place[1]), *filter(None, (place[2],))) if place else ()
        yield At.of(("network", "network_interfaces", *within), finding)


def placement_fits_capacity(cluster: Cluster) -> Iterator[At]:
    """Refuse a placement group for a Capacity Block, which EC2 rejects or fills only in part, and another than that of a reservation."""
    placement, sources, at = cluster.network.placement, tuple(cluster.sources()), ("network", "placement")
    if placement == "auto":
        return
    if placement != "none":
        block = all(capacity.market_type == "capacity-block" for _, capacity in sources)
        yield from At.of_all(at, check_block_placement(block=block, placed=True))
    for _, capacity in sources:
        # With several sources, a named group is that of the nodes that no reservation places.
        if placement == "none" or len(sources) == 1:
            group = None if placement == "none" else placement
            yield from At.of_all(at, check_group_of_reservation(capacity.placement_group, group))


def rules_of_groups_are_known(cluster: Cluster) -> Iterator[At]:
    """Warn about existing security groups, whose rules are unknown."""
    network = cluster.network
    if network.security_group_id and network.subnet_id is not None and not network.add_efa_rules:
        finding = warn_of_unknown_efa_rules(network.security_group_id)
        yield At.of(("network", "security_group_id"), finding)


def _legal_interfaces(cluster: Cluster) -> tuple[NetworkInterface, ...] | None:
    """Return the interfaces of a node; None where EC2 would refuse them, which another rule reports."""
    try:
        return network_interfaces(cluster.node_type, cluster.network.layout)
    except FindingsError:
        return None


RULES: Final = (
    addresses_are_private,
    subnet_holds_nodes,
    network_is_whole,
    nat_gateway_has_room,
    existing_subnet_holds_cluster,
    task_has_a_slot,
    interfaces_are_legal,
    placement_fits_capacity,
    rules_of_groups_are_known,
)


RECORDS: Final = (
    RuleRecord(
        "UC3104",
        "A VPC uses private addresses that do not conflict with addresses on the nodes.",
        severity=Severity.WARNING,
        remedy="Use a part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, but not 172.17.0.0/16, which Docker uses on each node.",
        source="RFC 1918 (1996-02); Docker's default bridge network, 172.17.0.0/16.",
        example="network: {cidr: 172.20.0.0/16}",
        suppressible=True,
    ),
)
