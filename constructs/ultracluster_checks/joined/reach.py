"""Reachability: between ranks, from nodes to their file system, and from nodes to the services that they need to join."""

import ipaddress
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final, Literal

from ultracluster_catalog.lustre.lustre import LUSTRE_PORTS
from ultracluster_checks.file_systems import FILE_SYSTEM
from ultracluster_checks.interfaces import SUBNET
from ultracluster_checks.jobs import JOB_DEFINITION
from ultracluster_checks.joined.nodes import Nodes, differ, groups_at, nodes_of, vpc_of
from ultracluster_checks.problem import Problem
from ultracluster_checks.security_groups import GroupRule, group_rules
from ultracluster_checks.shared_rules import (
    ENDPOINTS_ARE_REACHED,
    GROUP_OF_THE_VPC,
    LUSTRE_IS_LET_IN,
    ONE_SUBNET_FOR_EFA,
    WAY_TO_ECS_AND_ECR,
)
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_checks.values import Unknown
from ultracluster_rules.findings import quote

_Direction = Literal["in", "out"]
_HTTPS: Final = ((443, 443),)
_DIRECTIONS: Final[tuple[_Direction, ...]] = ("in", "out")
_LISTS: Final = {"in": "SecurityGroupIngress", "out": "SecurityGroupEgress"}
_DEFAULT_GROUP: Final = "DefaultSecurityGroup"
# Services that a node of AWS Batch needs before it runs a job: https://docs.aws.amazon.com/batch/latest/userguide/vpc-interface-endpoints.html
# and https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html (2026-11).
_JOINING: Final = ("ecs", "ecs-agent", "ecs-telemetry", "ecr.api", "ecr.dkr", "logs", "s3")


def admits(
    groups: Sequence[Resource],
    direction: _Direction,
    peers: Sequence[Resource],
    ports: tuple[int, int],
    *,
    networks: Sequence[str] = (),
) -> bool:
    """Return whether security groups admit TCP on ports from or to peers, or may do so.

    Args:
        groups: Groups of one end.
        direction: Whether they let traffic in or out.
        peers: Groups of the other end.
        ports: First and last port.
        networks: CIDR blocks of the other end's subnets. Default: not known, so that any address may be one of it.
    """
    if direction == "out" and any(_allows_all_out(group) for group in groups):
        return True
    rules = [rule for group in groups for rule in group_rules(group, direction)]
    return any(rule.holds_port(*ports) and _is_peer(rule, peers, networks) for rule in rules)


def _allows_all_out(group: Resource) -> bool:
    at = group[_LISTS["out"]]
    return isinstance(at.value, Unknown) or (at.missing and not group_rules(group, "out"))


def _is_peer(rule: GroupRule, peers: Sequence[Resource], networks: Sequence[str]) -> bool:
    if not rule.peer.missing:
        target = rule.peer.target
        return target is None or target in peers
    for name in ("CidrIp", "CidrIpv6"):
        text = rule.at[name].text
        if text is None:
            if not rule.at[name].missing:
                return True
            continue
        try:
            return not networks or any(_holds(text, network) for network in networks)
        except (ValueError, TypeError):
            return True
    lists = [rule.at[name].text or "" for name in ("SourcePrefixListId", "DestinationPrefixListId")]
    return not (networks and any(each.startswith("pl-") for each in lists))


def _holds(text: str, network: str) -> bool:
    return ipaddress.ip_network(network, strict=False).subnet_of(ipaddress.ip_network(text, strict=False))  # type: ignore[arg-type]


def _networks(subnets: Property) -> list[str]:
    texts = [each.target["CidrBlock"].text if each.target is not None else None for each in subnets.items]
    return [text for text in texts if text] if None not in texts else []


def efa_interfaces_have_one_group(templates: Templates) -> Iterator[Problem]:
    """Find EFA interfaces without security groups, and interfaces of one node with different ones."""
    for nodes in _each_template(templates):
        efa = nodes.efa_interfaces
        if not nodes.data["SecurityGroupIds"].missing or not nodes.data["SecurityGroups"].missing:
            continue
        for each in efa:
            if each["Groups"].missing or each["Groups"].value == []:
                yield Problem.of(
                    each["Groups"],
                    "UC3212",
                    "no security group, so that the interface gets the default group of the VPC, whose rule out names addresses, "
                    "which EFA does not count",
                    "a group that lets all traffic from and to itself",
                )
        sets = [groups_at(each["Groups"]) for each in efa]
        known = [frozenset(each) for each in sets if each is not None]
        if len(known) == len(efa) and efa and not frozenset.intersection(*known):
            odd = next(place for place, groups in enumerate(known) if not groups & known[0])
            yield Problem.of(
                efa[odd]["Groups"],
                "UC3212",
                f"got {efa[odd]['Groups'].items[0].pattern}, and the first EFA interface has {efa[0]['Groups'].items[0].pattern}: "
                "ranks do not reach each other over it",
                "the same group at every EFA interface",
            )


def _each_template(templates: Templates) -> Iterator[Nodes]:
    seen = set()
    for nodes in nodes_of(templates):
        if nodes.template is not None and nodes.template not in seen:
            seen.add(nodes.template)
            yield nodes


def interfaces_are_in_the_subnet_of_their_nodes(templates: Templates) -> Iterator[Problem]:
    """Find interfaces in another subnet than their environment, and EFA interfaces in several subnets."""
    for nodes in nodes_of(templates):
        own = nodes.subnets.items
        named = [each["SubnetId"] for each in nodes.interfaces if not each["SubnetId"].missing]
        for at in named:
            elsewhere = bool(own) and all(differ(at.value, each.value) for each in own)
            if elsewhere or differ(at.value, named[0].value):
                right = own[0] if own else named[0]
                yield Problem.of(
                    at,
                    ONE_SUBNET_FOR_EFA,
                    f"got {at.pattern}, and {nodes.owner.logical_id} starts nodes in {right.pattern}",
                    "one subnet",
                )


def groups_are_in_the_vpc_of_their_subnet(templates: Templates) -> Iterator[Problem]:
    """Find security groups of another VPC than the subnet that they are used in."""
    for subnets, groups in _placed(templates):
        vpcs = {vpc_of(each) for each in subnets.items}
        for each in groups.items:
            vpc = vpc_of(each)
            if vpc is not None and vpcs and None not in vpcs and vpc not in vpcs:
                yield Problem.of(
                    each,
                    GROUP_OF_THE_VPC,
                    f"{each.pattern} is a group of {vpc.logical_id}, and the subnet is in another VPC",
                    "a security group of the VPC of the subnet",
                )


def _placed(templates: Templates) -> Iterator[tuple[Property, Property]]:
    for nodes in nodes_of(templates):
        yield nodes.subnets, nodes.data["SecurityGroupIds"]
        yield nodes.subnets, nodes.settings["SecurityGroupIds"]
        yield from ((nodes.subnets, each["Groups"]) for each in nodes.interfaces)
    for resource in templates.of_type(FILE_SYSTEM, "AWS::EC2::VPCEndpoint"):
        yield resource["SubnetIds"], resource["SecurityGroupIds"]
    for function in templates.of_type("AWS::Lambda::Function"):
        yield function["VpcConfig"]["SubnetIds"], function["VpcConfig"]["SecurityGroupIds"]


def nodes_reach_their_file_system(templates: Templates) -> Iterator[Problem]:
    """Find ports of Lustre that the security groups of a file system or of its nodes do not allow."""
    for resource in templates.of_type(FILE_SYSTEM):
        servers = groups_at(resource["SecurityGroupIds"])
        lustre = resource["FileSystemType"].text == "LUSTRE"
        if lustre and resource["SecurityGroupIds"].missing and any(_clients(templates, resource)):
            yield Problem.of(
                resource["SecurityGroupIds"],
                LUSTRE_IS_LET_IN,
                "no security group, so that the file system gets the default group of the VPC, which its nodes do not have",
                "a group that lets Lustre in from the nodes",
            )
        if not lustre or servers is None:
            continue
        far = _networks(resource["SubnetIds"])
        ends: list[tuple[Sequence[Resource], Sequence[Resource], str, Sequence[str]]] = [
            (servers, servers, f"{resource.logical_id} itself", ())
        ]
        for nodes in _clients(templates, resource):
            clients, near = nodes.groups or [], _networks(nodes.subnets)
            ends += [
                (servers, clients, f"the nodes of {nodes.owner.logical_id}", near),
                (clients, servers, resource.logical_id, far),
            ]
        for (groups, peers, peer, networks), ports, direction in product(ends, LUSTRE_PORTS, _DIRECTIONS):
            if not admits(groups, direction, peers, ports, networks=networks):
                yield _closed(groups, direction, ports, peer, resource)


def _clients(templates: Templates, file_system: Resource) -> Iterator[Nodes]:
    """Return the nodes that mount a file system: their user data names it, or they have chips and are in its VPC."""
    vpc = {vpc_of(each) for each in file_system["SubnetIds"].items}
    for nodes in nodes_of(templates):
        if nodes.groups is None:
            continue
        mounts = file_system in nodes.data["UserData"].targets
        near = None not in vpc and bool(vpc & {vpc_of(each) for each in nodes.subnets.items})
        if mounts or (near and bool(nodes.types) and bool(nodes.efa_interfaces)):
            yield nodes


def _closed(
    groups: Sequence[Resource],
    direction: _Direction,
    ports: tuple[int, int],
    peer: str,
    file_system: Resource,
) -> Problem:
    first, last = ports
    return Problem.of(
        groups[0][_LISTS[direction]],
        LUSTRE_IS_LET_IN,
        f"{' and '.join(group.logical_id for group in groups)} lets no TCP {direction} on "
        f"{f'port {first}' if first == last else f'ports {first} to {last}'} {'from' if direction == 'in' else 'to'} {peer}, so that "
        f"{quote(file_system.logical_id)} cannot be mounted or hangs",
        "rules for 988 and 1018 to 1023, between the clients and the file system and within the file system, both ways",
    )


def nodes_reach_the_endpoints(templates: Templates) -> Iterator[Problem]:
    """Find interface endpoints that nodes of AWS Batch, or the tasks of their multi-node jobs, cannot reach."""
    several = any(not job["NodeProperties"].missing for job in templates.of_type(JOB_DEFINITION))
    for endpoint in templates.of_type("AWS::EC2::VPCEndpoint"):
        groups, vpc = groups_at(endpoint["SecurityGroupIds"]), endpoint["VpcId"].target
        if groups is None or vpc is None or endpoint["PrivateDnsEnabled"].flag is False:
            continue
        for nodes in nodes_of(templates):
            if not nodes.in_batch or vpc not in {vpc_of(each) for each in nodes.subnets.items}:
                continue
            near = _networks(nodes.subnets)
            clients = nodes.groups
            # Their interface has the groups of the environment, or the default group of the VPC.
            # https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html (2026-11)
            tasks = several and bool(nodes.interfaces) and nodes.settings["SecurityGroupIds"].missing
            if tasks and not admits(groups, "in", [vpc], _HTTPS[0], networks=near):
                yield Problem.of(
                    groups[0][_LISTS["in"]],
                    ENDPOINTS_ARE_REACHED,
                    f"nothing lets HTTPS in from the default group of {vpc.logical_id}, which tasks of multi-node jobs have on "
                    f"{nodes.owner.logical_id}",
                    "TCP on 443 from the default group of the VPC",
                )
            if clients is not None and not admits(groups, "in", clients, _HTTPS[0], networks=near):
                yield _unreached(groups[0][_LISTS["in"]], "in from", nodes)
            if clients is not None and not admits(
                clients, "out", groups, _HTTPS[0], networks=_networks(endpoint["SubnetIds"])
            ):
                yield _unreached(clients[0][_LISTS["out"]], "out of", nodes)


def _unreached(at: Property, way: str, nodes: Nodes) -> Problem:
    return Problem.of(
        at,
        ENDPOINTS_ARE_REACHED,
        f"nothing lets HTTPS {way} the nodes of {nodes.owner.logical_id}, so that they do not reach the endpoints of the VPC",
        "TCP on 443 between nodes and endpoints",
    )


def nodes_reach_the_services_that_they_join(templates: Templates) -> Iterator[Problem]:
    """Find nodes of AWS Batch in a subnet without a way to Amazon ECS, Amazon ECR, CloudWatch Logs and S3."""
    for nodes in nodes_of(templates):
        for each in nodes.subnets.items if nodes.in_batch else ():
            subnet, vpc = each.target, vpc_of(each)
            tables = tables_of(subnet) if subnet is not None and subnet.type == SUBNET else None
            if subnet is None or vpc is None or tables is None or _has_a_way_out(subnet, tables, nodes):
                continue
            missing = [name for name in _JOINING if not has_endpoint(vpc, name, tables)]
            if missing:
                yield Problem.of(
                    each,
                    WAY_TO_ECS_AND_ECR,
                    f"{subnet.logical_id} has no route out of the VPC and no endpoint for {', '.join(missing)}: nodes start, are "
                    "billed and run no job",
                    "a NAT gateway, or endpoints for " + ", ".join(_JOINING),
                )


def tables_of(subnet: Resource) -> list[Resource] | None:
    """Return the route tables of a subnet; None if they are not known."""
    associations = list(subnet.template.templates.of_type("AWS::EC2::SubnetRouteTableAssociation"))
    tables = [each["RouteTableId"].target for each in associations if each["SubnetId"].target is subnet]
    known = [table for table in tables if table is not None]
    if any(isinstance(each["SubnetId"].value, Unknown) for each in associations):
        return None
    return known if associations and len(known) == len(tables) else None


def _has_a_way_out(subnet: Resource, tables: Sequence[Resource], nodes: Nodes) -> bool:
    for route in subnet.template.templates.of_type("AWS::EC2::Route"):
        if route["RouteTableId"].target not in {*tables, None}:
            continue
        gateway = route["GatewayId"].target
        to_internet = gateway is not None and gateway.type == "AWS::EC2::InternetGateway"
        private = len(nodes.interfaces) > 1 or subnet["MapPublicIpOnLaunch"].flag is not True
        if not (to_internet and private):
            return True
    return False


def has_endpoint(vpc: Resource, name: str, tables: Sequence[Resource]) -> bool:
    """Return whether a VPC has an endpoint of a service that route tables lead to, or may have one."""
    for endpoint in vpc.template.templates.of_type("AWS::EC2::VPCEndpoint"):
        text, kind, at = (
            endpoint["ServiceName"].pattern,
            endpoint["VpcEndpointType"].text,
            endpoint["RouteTableIds"],
        )
        if endpoint["VpcId"].target not in {vpc, None} or not text.endswith((f".{name}", "}")):
            continue
        joined = any(each.target in {*tables, None} for each in at.items) or isinstance(at.value, Unknown)
        if kind is None and not endpoint["VpcEndpointType"].missing:
            return True
        named = kind == "Interface" and endpoint["PrivateDnsEnabled"].flag is not False
        if named or (kind in {"Gateway", None} and joined):
            return True
    return False


def endpoints_have_names(templates: Templates) -> Iterator[Problem]:
    """Find endpoints with private DNS names in a VPC that does not resolve them, which EC2 refuses."""
    for endpoint in templates.of_type("AWS::EC2::VPCEndpoint"):
        vpc = endpoint["VpcId"].target
        if vpc is None or vpc.type != "AWS::EC2::VPC" or endpoint["PrivateDnsEnabled"].flag is not True:
            continue
        hosts, support = vpc["EnableDnsHostnames"], vpc["EnableDnsSupport"]
        if hosts.missing or hosts.flag is False or support.flag is False:
            yield Problem.of(
                hosts if support.flag is not False else support,
                "UC3213",
                f"{endpoint.logical_id} has private DNS names, which need both DNS attributes of {vpc.logical_id}",
                "EnableDnsHostnames: true and EnableDnsSupport: true",
            )


def joining() -> tuple[str, ...]:
    """Return the services that a node of AWS Batch reaches before it runs a job."""
    return _JOINING


def leads_out(route: Resource) -> bool:
    """Return whether a route leads out of its VPC."""
    return any(
        not route[name].missing
        for name in (
            "GatewayId",
            "NatGatewayId",
            "TransitGatewayId",
            "NetworkInterfaceId",
            "InstanceId",
            "VpcPeeringConnectionId",
        )
    )


def efa_admitted(groups: Sequence[Resource], direction: _Direction, peers: Sequence[Resource]) -> bool:
    """Return whether security groups admit all traffic from or to the groups of peers, or may do so."""
    rules = [rule for group in groups for rule in group_rules(group, direction)]
    return any(
        rule.is_all_traffic is not False
        and not rule.peer.missing
        and (rule.peer.target is None or rule.peer.target in peers)
        for rule in rules
    )
