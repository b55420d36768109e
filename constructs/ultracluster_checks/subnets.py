"""Subnets: one for all EFA nodes, with their groups in its VPC, and large enough."""

import ipaddress
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.machines.nic_layouts import addresses_per_node
from ultracluster_checks.codes import ONE_SUBNET
from ultracluster_checks.model.nodes import (
    SECURITY_GROUP,
    Nodes,
    differ,
    interfaces_of,
    nodes_of,
    template_types,
    vpc_of,
)
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_spec.network import check_node_addresses
from ultracluster_spec.record import RuleRecord


def _network(at: Property) -> ipaddress.IPv4Network | None:
    try:
        return ipaddress.IPv4Network(at.text) if at.text else None
    except ValueError:
        return None


@rule(ONE_SUBNET, nodes_of)
def efa_nodes_are_in_one_subnet(nodes: Nodes) -> Iterator[Wrong]:
    """Find nodes with EFA and several subnets, and interfaces in another subnet than their nodes: EFA does not leave one."""
    at, own = nodes.subnets, nodes.subnets.items
    if len(at.certain) > 1 and any(each.has_efa for each in interfaces_of(nodes.template) or ()):
        got = f"nodes with EFA would be spread over {len(at.certain)} subnets, and EFA traffic does not leave one"
        yield at, got, "one subnet"
    named = [each["SubnetId"] for each in nodes.interfaces if each["SubnetId"].given]
    for each in named:
        elsewhere = bool(own) and all(differ(each.value, other.value) for other in own)
        others = any(interface["SubnetId"].missing for interface in nodes.interfaces)
        some = others and all(each.value != other.value for other in own)
        if elsewhere or some or differ(each.value, named[0].value):
            right = (own or named)[0].pattern
            yield each, f"got {each.pattern}, and {nodes.name} starts nodes in {right}", "one subnet"


@rule("UC3209", nodes_of)
def groups_are_in_the_vpc_of_their_subnet(nodes: Nodes) -> Iterator[Wrong]:
    """Find environments in several VPCs, and security groups of another VPC than the subnet that they are used in."""
    subnets, vpcs = nodes.subnets, nodes.vpcs
    if None not in vpcs and len(vpcs) > 1:
        yield subnets, "subnets of several VPCs", "subnets of one VPC"
    places = [at["SecurityGroupIds"] for at in (nodes.data, nodes.settings)]
    places += [each["Groups"] for each in nodes.interfaces]
    for each in (item for at in places for item in at.items):
        vpc, group = vpc_of(each), each.target
        none = group is not None and group.type == SECURITY_GROUP and group["VpcId"].missing
        if group is not None and none and subnets.items:
            got = f"{group.logical_id} has no VpcId and is a group of the default VPC"
            yield group["VpcId"], got, "the VPC of the subnet"
        if vpc is not None and vpcs and None not in vpcs and vpc not in vpcs:
            got = f"{each.pattern} is a group of {vpc.logical_id}, and the subnet is in another VPC"
            yield each, got, "a security group of the VPC of the subnet"


@rule()
def nodes_have_addresses(templates: Templates) -> Iterator[Wrong]:
    """Find subnets with too few addresses for their nodes."""
    needed: dict[Resource, int] = {}
    for nodes in nodes_of(templates):
        subnets, per_node = [each.target for each in nodes.subnets.items], _addresses(nodes)
        if len(subnets) == 1 and subnets[0] is not None and nodes.most and per_node:
            needed[subnets[0]] = needed.get(subnets[0], 0) + nodes.most * per_node
    for subnet in needed:
        # Each endpoint takes an address in its subnet, and a file system one for each of its servers, of which there are two or more.
        for kind, taken in (("AWS::EC2::VPCEndpoint", 1), ("AWS::FSx::FileSystem", 2)):
            inside = [each for each in templates.of_type(kind) if subnet in each["SubnetIds"].targets]
            needed[subnet] += taken * len(inside)
    for subnet, count in needed.items():
        network = _network(subnet["CidrBlock"])
        for finding in check_node_addresses(network, needed=count) if network else ():
            yield Problem(subnet["CidrBlock"], finding)


def _addresses(nodes: Nodes) -> int | None:
    interfaces = interfaces_of(nodes.template)
    if nodes.template is None or interfaces is None or not (interfaces or template_types(nodes.template)):
        return None
    # Each task of a multi-node job has its own interface.
    return addresses_per_node(interfaces) + nodes.in_batch


RECORDS: Final = (
    RuleRecord(
        "UC3209",
        "A security group belongs to the VPC of the subnet in which it is used.",
        remedy="Use a security group of the same VPC.",
        source="EC2 API Reference, CreateNetworkInterface, 2026-11: InvalidGroup.NotFound, the group and the subnet belong to different networks.",
    ),
)
