"""Reachability: from nodes to their file system, to endpoints and to the services that they need to join."""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from ultracluster_catalog.lustre.lustre import LUSTRE_PORTS
from ultracluster_checks.calls import actions_of
from ultracluster_checks.codes import LUSTRE_PORTS_OPEN
from ultracluster_checks.model.nodes import SECURITY_GROUP, SUBNET, VPC, Nodes, groups_at, nodes_of, vpc_of
from ultracluster_checks.model.permissions import is_bound, may_allow
from ultracluster_checks.model.template import Property, Resource, Templates, places
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.security_groups import DIRECTIONS, RULES_OF, GroupRule, admits, group_rules
from ultracluster_checks.workers import FUNCTION
from ultracluster_rules.findings import quote

_ENDPOINT: Final = "AWS::EC2::VPCEndpoint"
_FILE_SYSTEM: Final = "AWS::FSx::FileSystem"
_HTTPS: Final = (443, 443)
_FS_ID: Final = re.compile(r"fs-[0-9a-f]{8,17}")
# Services that a node of AWS Batch needs before it runs a job: https://docs.aws.amazon.com/batch/latest/userguide/vpc-interface-endpoints.html
# and https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html (2026-11).
_JOINING: Final = ("ecs", "ecs-agent", "ecs-telemetry", "ecr.api", "ecr.dkr", "logs", "s3")
# https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html (2026-11)
_KUBERNETES: Final = ("ec2", "ecr.api", "ecr.dkr", "s3")
_ENDPOINTS: Final = {"cloudwatch": "monitoring", "sagemaker": "sagemaker.api"}
# What is started in subnets: the type, the path of the subnets, whether it may have a public address, and what it calls first.
_STARTING: Final = (
    ("CodeBuild::Project", "VpcConfig.Subnets", False, ("logs", "s3")),
    ("ImageBuilder::InfrastructureConfiguration", "SubnetId", True, ("ssm", "ssmmessages", "s3")),
    ("SageMaker::Cluster", "VpcConfig.Subnets", False, ("s3",)),
)
_LUSTRE_RULES: Final = "rules for 988 and 1018 to 1023, between the clients and the file system and within the file system, both ways"
_LAYERS: Final = "starport-layer-bucket"
_INTERNET_GATEWAY: Final = "AWS::EC2::InternetGateway"
_MOST_MISSING: Final = 3
_WAYS_OUT: Final = ("GatewayId", "NatGatewayId", "TransitGatewayId", "NetworkInterfaceId", "InstanceId", "VpcPeeringConnectionId")  # fmt: skip


def _networks(subnets: Property) -> list[str]:
    texts = [each.target["CidrBlock"].text if each.target is not None else None for each in subnets.items]
    return [text for text in texts if text] if None not in texts else []


@rule(LUSTRE_PORTS_OPEN, _FILE_SYSTEM)
def nodes_reach_their_file_system(resource: Resource) -> Iterator[Wrong]:
    """Find nodes that mount another file system, and ports of Lustre that its or their security groups do not allow."""
    if resource["FileSystemType"].text != "LUSTRE":
        return
    servers, name = groups_at(resource["SecurityGroupIds"]), resource.logical_id
    clients = list(_clients(resource))
    for data in (nodes.data["UserData"] for nodes in nodes_of(resource.template.templates)):
        if _FS_ID.search(data.pattern):
            got = "the user data mounts a file system by a fixed ID, and not that of the template"
            yield data, got, "its DNSName"
    if resource["SecurityGroupIds"].missing and clients:
        got = "no security group, so that the file system gets the default group of the VPC, which its nodes do not have"
        yield resource["SecurityGroupIds"], got, "a group that lets Lustre in from the nodes"
    if servers is None:
        return
    far = _networks(resource["SubnetIds"])
    ends: list[tuple[Sequence[Resource], Sequence[Resource], str, Sequence[str]]]
    ends = [(servers, servers, f"{name} itself", ())]
    for nodes in clients:
        of_nodes = nodes.groups or []
        ends.append((servers, of_nodes, f"the nodes of {nodes.name}", _networks(nodes.subnets)))
        ends.append((of_nodes, servers, name, far))
    for other in () if clients else _admitted(servers):
        ends += [(servers, [other], other.logical_id, ()), ([other], servers, name, far)]
    for (groups, peers, peer, networks), (first, last), way in product(ends, LUSTRE_PORTS, DIRECTIONS):
        if not admits(groups, way, peers, (first, last), networks=networks):
            ports = f"port {first}" if first == last else f"ports {first} to {last}"
            names, side = " and ".join(group.logical_id for group in groups), "from" if way == "in" else "to"
            got = f"{names} lets no TCP {way} on {ports} {side} {peer}, so that {quote(name)} cannot be mounted or hangs"
            yield groups[0][RULES_OF[way]], got, _LUSTRE_RULES


def _admitted(servers: Sequence[Resource]) -> list[Resource]:
    """Return the groups that those of a file system admit, beside themselves."""
    peers = [each.peer.target for each in _rules_in(servers, LUSTRE_PORTS[0])]
    named = [each for each in dict.fromkeys(peers) if each is not None and each not in servers]
    return [each for each in named if each.type == SECURITY_GROUP]


def _rules_in(groups: Sequence[Resource], ports: tuple[int, int]) -> list[GroupRule]:
    """Return the rules of security groups that admit TCP on ports."""
    return [each for group in groups for each in group_rules(group, "in") if each.holds_port(*ports)]


def _clients(file_system: Resource) -> Iterator[Nodes]:
    """Return the nodes that mount a file system: their user data names it, or they have chips and are in its VPC."""
    vpc = {vpc_of(each) for each in file_system["SubnetIds"].items}
    for nodes in nodes_of(file_system.template.templates):
        mounts = file_system in nodes.data["UserData"].targets
        near = None not in vpc and bool(vpc & nodes.vpcs) and bool(nodes.types) and bool(nodes.efa_interfaces)
        if nodes.groups is not None and (mounts or near):
            yield nodes


@rule("UC3210")
def nodes_reach_the_endpoints(templates: Templates) -> Iterator[Wrong]:
    """Find interface endpoints that their VPC, its nodes or the tasks of multi-node jobs cannot reach over HTTPS."""
    batch = [nodes for nodes in nodes_of(templates) if nodes.in_batch]
    several = any(not job["NodeProperties"].missing for job in templates.of_type("AWS::Batch::JobDefinition"))
    for endpoint in templates.of_type(_ENDPOINT):
        groups, vpc = groups_at(endpoint["SecurityGroupIds"]), endpoint["VpcId"].target
        if groups is None or vpc is None:
            continue
        yield from _endpoint_admits(groups, vpc)
        for nodes in batch if endpoint["PrivateDnsEnabled"].flag is not False else ():
            if vpc not in nodes.vpcs:
                continue
            clients, near, far = nodes.groups, _networks(nodes.subnets), _networks(endpoint["SubnetIds"])
            allowed = "TCP on 443 between nodes and endpoints"
            unreached = "so that they do not reach the endpoints of the VPC"
            # Their interface has the groups of the environment, or the default group of the VPC.
            # https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html (2026-11)
            tasks = several and bool(nodes.interfaces) and nodes.settings["SecurityGroupIds"].missing
            if tasks and not admits(groups, "in", [vpc], _HTTPS, networks=near):
                default = f"the default group of {vpc.logical_id}, which tasks of multi-node jobs have on {nodes.name}"
                got = f"nothing lets HTTPS in from {default}"
                yield groups[0][RULES_OF["in"]], got, "TCP on 443 from the default group of the VPC"
            if clients is not None and not admits(groups, "in", clients, _HTTPS, networks=near):
                got = f"nothing lets HTTPS in from the nodes of {nodes.name}, {unreached}"
                yield groups[0][RULES_OF["in"]], got, allowed
            if clients is not None and not admits(clients, "out", groups, _HTTPS, networks=far):
                got = f"nothing lets HTTPS out of the nodes of {nodes.name}, {unreached}"
                yield clients[0][RULES_OF["out"]], got, allowed
    for nodes in batch:
        files = [groups_at(each["SecurityGroupIds"]) or [] for each in templates.of_type(_FILE_SYSTEM)]
        servers = {group for groups in files for group in groups} | {*(nodes.groups or ())}
        peers = [each for each in templates.of_type(SECURITY_GROUP) if each not in servers]
        if nodes.groups is not None and not admits(nodes.groups, "out", peers, _HTTPS):
            got = f"the nodes of {nodes.name} reach nothing over HTTPS: no ECS, no ECR and no S3"
            yield nodes.groups[0][RULES_OF["out"]], got, "TCP on 443 out"


def _endpoint_admits(groups: list[Resource], vpc: Resource) -> Iterator[Wrong]:
    """Find groups of an endpoint that admit none of their VPC, and peers that let no HTTPS out to it."""
    whole, rules = vpc["CidrBlock"].text or "", _rules_in(groups, _HTTPS)
    if vpc.type != VPC:
        return
    peers = [each.peer.target for each in rules if each.peer.target is not None]
    addresses = [each.at["CidrIp"].text for each in rules]
    apart = whole and all(each and each.split(".")[:2] != whole.split(".")[:2] for each in addresses)
    if not peers and apart and not admits(groups, "in", [], _HTTPS, networks=[whole]):
        got = "nothing lets HTTPS of the VPC in to its endpoints"
        yield groups[0][RULES_OF["in"]], got, f"TCP on 443 from {whole}"
    for peer in peers:
        clients = peer.type == SECURITY_GROUP and peer not in groups
        if clients and not admits([peer], "out", groups, _HTTPS, networks=[whole]):
            got = f"nothing lets HTTPS out of {peer.logical_id} to the endpoints"
            yield peer[RULES_OF["out"]], got, "TCP on 443"


def _tables_of(subnet: Resource | None) -> list[Resource] | None:
    """Return the route tables of a subnet; None if they are not known."""
    if subnet is None or subnet.type != SUBNET:
        return None
    associations = list(subnet.template.templates.of_type("AWS::EC2::SubnetRouteTableAssociation"))
    tables = [each["RouteTableId"].target for each in associations if each["SubnetId"].target is subnet]
    known = [table for table in tables if table is not None]
    whole = not any(each["SubnetId"].unknown for each in associations) and len(known) == len(tables)
    return known if associations and whole else None


def _routes(templates: Templates, tables: Sequence[Resource]) -> list[Resource]:
    """Return the routes of route tables, and those that may be, other than of private addresses to a gateway of the internet."""
    near = {*tables, None}
    return [
        each
        for each in templates.of_type("AWS::EC2::Route")
        if each["RouteTableId"].target in near
        and not (_is_private(each["DestinationCidrBlock"]) and each["TransitGatewayId"].missing)
    ]


def _is_private(at: Property) -> bool:
    try:
        return at.text not in {None, "0.0.0.0/0"} and ipaddress.ip_network(str(at.text)).is_private
    except ValueError:
        return False


def _has_endpoint(vpc: Resource, name: str, tables: Sequence[Resource]) -> bool:
    """Return whether a VPC has an endpoint of a service that route tables lead to, or may have one."""
    for endpoint in vpc.template.templates.of_type(_ENDPOINT):
        kind, at = endpoint["VpcEndpointType"], endpoint["RouteTableIds"]
        own = endpoint["VpcId"].target in {vpc, None}
        if not own or not endpoint["ServiceName"].pattern.endswith((f".{name}", "}")):
            continue
        if kind.text is None and not kind.missing:
            return True
        routed = at.unknown or any(each.target in {*tables, None} for each in at.items)
        if endpoint["PrivateDnsEnabled"].flag is not False if kind.text == "Interface" else routed:
            return True
    return False


def _leaving(templates: Templates) -> Iterator[tuple[Property, bool, Sequence[str]]]:
    """Return the subnets of what calls services of AWS, whether it may have a public address, and the services."""
    for nodes in nodes_of(templates):
        if nodes.in_batch or nodes.in_eks:
            yield nodes.subnets, len(nodes.interfaces) <= 1, _JOINING if nodes.in_batch else _KUBERNETES
    for kind, path, public, needed in _STARTING:
        yield from ((at, public, needed) for at in places(templates, kind, path))
    for function in templates.of_type(FUNCTION):
        called = {each.partition(":")[0] for each in actions_of(function)}
        names = sorted(_ENDPOINTS.get(each, each) for each in called)
        yield function["VpcConfig"]["SubnetIds"], False, names


@rule("UC3211", _leaving)
def subnets_lead_to_the_services_that_are_called(user: tuple[Property, bool, Sequence[str]]) -> Iterator[Wrong]:  # fmt: skip
    """Find nodes, functions, builds and services in a subnet without a way to the services that they need."""
    subnets, public, needed = user
    for each in subnets.one_or_more:
        subnet, vpc, tables = each.target, vpc_of(each), _tables_of(each.target)
        if subnet is None or vpc is None or tables is None:
            continue
        private = not public or subnet["MapPublicIpOnLaunch"].flag is not True
        routes = _routes(subnet.template.templates, tables)
        to_internet = [
            getattr(route["GatewayId"].target, "type", "") == _INTERNET_GATEWAY for route in routes
        ]
        missing = [name for name in needed if not _has_endpoint(vpc, name, tables)]
        if missing and (all(to_internet) if private else not routes):
            names = f"{', '.join(missing)}, which {each.resource.logical_id} needs"
            got = f"{subnet.logical_id} has no route out of the VPC and no endpoint for {names}"
            yield each, got, "a NAT gateway, or endpoints for " + ", ".join(needed)


@rule("UC3211", VPC)
def endpoints_are_complete(vpc: Resource) -> Iterator[Wrong]:
    """Find VPCs without internet access whose endpoints lack one that nodes of AWS Batch need."""
    places = [each["SubnetIds"] for each in vpc.referrers(_ENDPOINT, "VpcId")]
    tables = [_tables_of(subnet) for subnet in {each.target for at in places for each in at.items}]
    own = [table for each in tables for table in each or ()]
    routes = _routes(vpc.template.templates, own)
    if not tables or None in tables or any(not route[name].missing for route in routes for name in _WAYS_OUT):
        return
    missing = [name for name in _JOINING if not _has_endpoint(vpc, name, own)]
    if 0 < len(missing) <= _MOST_MISSING:
        got = f"no route out of the VPC and no endpoint for {', '.join(missing)}"
        yield vpc.properties, got, "the endpoints of all of them"


@rule("UC3211", "AWS::EC2::NatGateway")
def gateways_lead_somewhere(nat: Resource) -> Iterator[Wrong]:
    """Find NAT gateways in a subnet without a route to an internet gateway."""
    subnet = nat["SubnetId"].target
    tables = None if nat["ConnectivityType"].text == "private" else _tables_of(subnet)
    routes = _routes(nat.template.templates, tables or ())
    out = any(not route[name].missing for route in routes for name in ("GatewayId", "TransitGatewayId"))
    if subnet is not None and tables and not out:
        yield nat["SubnetId"], f"{subnet.logical_id} has no route to an internet gateway", "a public subnet"


@rule("UC3211")
def layers_are_let_through(templates: Templates) -> Iterator[Wrong]:
    """Find endpoints of S3 whose policy keeps the layers of images out."""
    endpoints = {each: each["ServiceName"].pattern for each in templates.of_type(_ENDPOINT)}
    images = any(name.endswith(".ecr.dkr") for name in endpoints.values())
    for endpoint in [each for each, name in endpoints.items() if images and name.endswith(".s3")]:
        document = endpoint["PolicyDocument"]
        allowed = [(at, each) for each in may_allow(document) for at in each["Resource"].one_or_more]
        passing = any(
            _LAYERS in at.pattern or at.pattern.startswith("${") or (at.pattern == "*" and not is_bound(each))
            for at, each in allowed
        )
        if isinstance(document["Statement"].value, list) and not passing:
            got = "the policy keeps the layers of images out, which Amazon ECR has in a bucket of AWS"
            yield document, got, f"s3:GetObject on arn:aws:s3:::prod-REGION-{_LAYERS}/*"


@rule("UC3213", _ENDPOINT)
def endpoints_are_of_their_region(endpoint: Resource) -> Iterator[Wrong]:
    """Find endpoints for a service of another Region than that of their VPC."""
    name, named = endpoint["ServiceName"], endpoint["ServiceRegion"]
    region = re.match(r"com\.amazonaws\.([a-z]{2}(?:-[a-z]+)+-\d)\.", name.text or "")
    if region and endpoint.region and named.missing and region[1] != endpoint.region:
        yield name, f"got a service of {region[1]}, and the VPC is in {endpoint.region}", endpoint.region


@rule("UC3213", VPC)
def endpoints_have_names(vpc: Resource) -> Iterator[Wrong]:
    """Find VPCs that do not resolve the private DNS names of their endpoints, which EC2 refuses."""
    hosts, support = vpc["EnableDnsHostnames"], vpc["EnableDnsSupport"]
    named = [
        endpoint.logical_id
        for endpoint in vpc.template.templates.of_type(_ENDPOINT)
        if endpoint["VpcId"].target is vpc and endpoint["PrivateDnsEnabled"].flag is True
    ]
    if named and (hosts.off or support.flag is False):
        at = support if support.flag is False else hosts
        got = f"the private DNS names of {', '.join(named)} need both DNS attributes of the VPC"
        yield at, got, "EnableDnsHostnames: true and EnableDnsSupport: true"
