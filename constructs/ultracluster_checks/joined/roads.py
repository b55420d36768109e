"""Roads of a VPC: sets of endpoints, what they admit, and NAT gateways that lead somewhere."""

from collections.abc import Iterator
from itertools import product
from typing import Final

from ultracluster_catalog.lustre.lustre_figures import can_mount_over_efa
from ultracluster_checks.file_systems import FILE_SYSTEM
from ultracluster_checks.joined.nodes import groups_at, nodes_of, vpc_of
from ultracluster_checks.joined.reach import admits, efa_admitted, has_endpoint, joining, leads_out, tables_of
from ultracluster_checks.policies import is_bound, may_allow
from ultracluster_checks.problem import Problem
from ultracluster_checks.security_groups import group_rules
from ultracluster_checks.shared_rules import (
    EFA_GROUPS_ADMIT_THEMSELVES,
    ENDPOINTS_ARE_REACHED,
    GROUP_OF_THE_VPC,
    WAY_TO_ECS_AND_ECR,
)
from ultracluster_checks.template import Resource, Templates

_ENDPOINT: Final = "AWS::EC2::VPCEndpoint"
_HTTPS: Final = (443, 443)
_LAYERS: Final = "starport-layer-bucket"  # https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html (2026-11)
_MOST_MISSING: Final = 3


def endpoints_are_complete(templates: Templates) -> Iterator[Problem]:
    """Find VPCs without a road to the internet whose endpoints lack one that nodes of AWS Batch need."""
    for vpc in templates.of_type("AWS::EC2::VPC"):
        places = [each["SubnetIds"] for each in templates.of_type(_ENDPOINT) if each["VpcId"].target is vpc]
        subnets = {each.target for at in places for each in at.items}
        tables = [tables_of(each) for each in subnets if each is not None]
        if not subnets or None in subnets or None in tables:
            continue
        own = [table for each in tables for table in each or ()]
        if any(
            leads_out(route)
            for route in templates.of_type("AWS::EC2::Route")
            if route["RouteTableId"].target in {*own, None}
        ):
            continue
        missing = [name for name in joining() if not has_endpoint(vpc, name, own)]
        if 0 < len(missing) <= _MOST_MISSING:
            yield Problem.of(
                vpc.properties,
                WAY_TO_ECS_AND_ECR,
                f"no road out of the VPC and no endpoint for {', '.join(missing)}",
                "the endpoints of all of them",
            )


def endpoints_admit_their_clients(templates: Templates) -> Iterator[Problem]:
    """Find interface endpoints that admit none of their VPC, or groups that do not let HTTPS out to them."""
    for endpoint in templates.of_type(_ENDPOINT):
        groups, vpc = groups_at(endpoint["SecurityGroupIds"]), endpoint["VpcId"].target
        if groups is None or vpc is None or vpc.type != "AWS::EC2::VPC":
            continue
        whole = vpc["CidrBlock"].text
        rules = [rule for group in groups for rule in group_rules(group, "in") if rule.holds_port(*_HTTPS)]
        peers = [rule.peer.target for rule in rules if rule.peer.target is not None]
        wide = (
            whole is not None
            and not peers
            and not admits(groups, "in", [], _HTTPS, networks=[whole])
            and _apart(rules, whole)
        )
        if wide:
            yield Problem.of(
                groups[0]["SecurityGroupIngress"],
                ENDPOINTS_ARE_REACHED,
                "nothing lets HTTPS of the VPC in to its endpoints",
                f"TCP on 443 from {whole}",
            )
        for peer in peers:
            if (
                peer.type == "AWS::EC2::SecurityGroup"
                and peer not in groups
                and not admits([peer], "out", groups, _HTTPS, networks=[whole or ""])
            ):
                yield Problem.of(
                    peer["SecurityGroupEgress"],
                    ENDPOINTS_ARE_REACHED,
                    f"nothing lets HTTPS out of {peer.logical_id} to the endpoints",
                    "TCP on 443",
                )


def _apart(rules: list, whole: str) -> bool:  # type: ignore[type-arg]
    return all(
        rule.at["CidrIp"].text is not None and rule.at["CidrIp"].text.split(".")[:2] != whole.split(".")[:2]
        for rule in rules
    )


def gateways_lead_somewhere(templates: Templates) -> Iterator[Problem]:
    """Find NAT gateways in a subnet without a route to an internet gateway."""
    for nat in templates.of_type("AWS::EC2::NatGateway"):
        subnet = nat["SubnetId"].target
        tables = (
            tables_of(subnet) if subnet is not None and nat["ConnectivityType"].text != "private" else None
        )
        if subnet is None or not tables:
            continue
        routes = [
            each
            for each in templates.of_type("AWS::EC2::Route")
            if each["RouteTableId"].target in {*tables, None}
        ]
        if not any(not each["GatewayId"].missing or not each["TransitGatewayId"].missing for each in routes):
            yield Problem.of(
                nat["SubnetId"],
                WAY_TO_ECS_AND_ECR,
                f"{subnet.logical_id} has no route to an internet gateway",
                "a public subnet",
            )


def layers_are_let_through(templates: Templates) -> Iterator[Problem]:
    """Find endpoints of S3 whose policy keeps the layers of images out."""
    images = any(each["ServiceName"].pattern.endswith(".ecr.dkr") for each in templates.of_type(_ENDPOINT))
    for endpoint in templates.of_type(_ENDPOINT) if images else ():
        document = endpoint["PolicyDocument"]
        if not endpoint["ServiceName"].pattern.endswith(".s3") or not isinstance(
            document["Statement"].value, list
        ):
            continue
        statements = list(may_allow(document))
        passing = any(
            _LAYERS in each.pattern
            or (each.pattern == "*" and not is_bound(statement))
            or each.pattern.startswith("${")
            for statement in statements
            for each in statement["Resource"].one_or_more
        )
        if not passing:
            yield Problem.of(
                document,
                WAY_TO_ECS_AND_ECR,
                "the policy keeps the layers of images out, which Amazon ECR has in a bucket of AWS",
                f"s3:GetObject on arn:aws:s3:::prod-REGION-{_LAYERS}/*",
            )


def efa_file_systems_admit_efa(templates: Templates) -> Iterator[Problem]:
    """Find file systems with EFA whose servers and clients do not admit all traffic of each other."""
    for resource in templates.of_type(FILE_SYSTEM):
        servers = groups_at(resource["SecurityGroupIds"])
        if servers is None or not resource["LustreConfiguration"]["EfaEnabled"].flag:
            continue
        named = {
            rule.peer.target for way in ("in", "out") for group in servers for rule in group_rules(group, way)
        }
        clients = [
            nodes.groups
            for nodes in nodes_of(templates)
            if nodes.groups and nodes.types and all(map(can_mount_over_efa, nodes.types))
        ]
        clients += [
            [each]
            for each in templates.of_type("AWS::EC2::SecurityGroup")
            if each in named and each not in servers
        ]
        pairs: list[tuple[list[Resource], list[Resource]]] = [(servers, servers)]
        for each in clients:
            pairs += [(servers, each), (each, servers)]
        for (groups, peers), way in product(pairs, ("in", "out")):
            if not efa_admitted(groups, way, peers):  # type: ignore[arg-type]
                yield Problem.of(
                    groups[0][f"SecurityGroup{'Ingress' if way == 'in' else 'Egress'}"],
                    EFA_GROUPS_ADMIT_THEMSELVES,
                    f"{groups[0].logical_id} does not let all traffic {way} of {peers[0].logical_id}, which EFA of {resource.logical_id} requires",
                    'IpProtocol "-1" with the other group; addresses do not count',
                )


def nodes_reach_https(templates: Templates) -> Iterator[Problem]:
    """Find nodes of AWS Batch whose security groups let no HTTPS out."""
    for nodes in nodes_of(templates):
        groups = nodes.groups if nodes.in_batch else None
        others = [each for each in templates.of_type("AWS::EC2::SecurityGroup") if each not in (groups or ())]
        servers = {
            each for fs in templates.of_type(FILE_SYSTEM) for each in groups_at(fs["SecurityGroupIds"]) or ()
        }
        peers = [each for each in others if each not in servers]
        if groups is not None and not admits(groups, "out", peers, _HTTPS):
            yield Problem.of(
                groups[0]["SecurityGroupEgress"],
                ENDPOINTS_ARE_REACHED,
                f"the nodes of {nodes.owner.logical_id} reach nothing over HTTPS: no ECS, no ECR and no S3",
                "TCP on 443 out",
            )


def subnets_are_of_one_vpc(templates: Templates) -> Iterator[Problem]:
    """Find environments with subnets of several VPCs."""
    for nodes in nodes_of(templates):
        vpcs = [vpc_of(each) for each in nodes.subnets.items]
        if vpcs and None not in vpcs and len(set(vpcs)) > 1:
            yield Problem.of(nodes.subnets, GROUP_OF_THE_VPC, "subnets of several VPCs", "subnets of one VPC")
