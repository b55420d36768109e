"""Subnets: inside their VPC and Region, one for all EFA nodes, and large enough."""

import ipaddress
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.machines.nic_layouts import addresses_per_node
from ultracluster_catalog.places.zones import REGIONS, offered_zones, region_of_zone_id
from ultracluster_checks.interfaces import SUBNET, interfaces_of, interfaces_with_efa
from ultracluster_checks.machines import (
    AUTO_SCALING_GROUP,
    COMPUTE_ENVIRONMENT,
    environment_types,
    launch_template_of,
    template_types,
)
from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import ONE_SUBNET_FOR_EFA
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_rules.findings import quote
from ultracluster_rules.machines import check_offered
from ultracluster_rules.network import (
    check_node_addresses,
    check_subnet_in_vpc,
    check_subnets_apart,
    check_zone_region,
)

_VPC: Final = "AWS::EC2::VPC"
_ZONE_NAME: Final = re.compile(r"([a-z]{2}(?:-[a-z]+)+-\d)(?:-[a-z]+-\d+)?[a-z]")


def zones_belong_to_their_region(templates: Templates) -> Iterator[Problem]:
    """Find zones outside the Region of the template."""
    for template in templates.all:
        if template.region is None:
            continue
        for resource in template.resources.values():
            for name in ("AvailabilityZone", "AvailabilityZoneId"):
                at = resource[name]
                region = _region_of(at)
                if region not in {None, template.region}:
                    for finding in check_zone_region(
                        quote(at.text), zone_region=str(region), region=str(template.region)
                    ):
                        yield Problem(at, finding)


def _region_of(at: Property) -> str | None:
    text = at.text
    if text is None:
        return None
    if found := _ZONE_NAME.fullmatch(text):
        return found[1] if found[1] in REGIONS else None
    try:
        return region_of_zone_id(text)
    except ValueError:
        return None


def zone_of(subnet: Resource) -> str | None:
    """Return the zone of a subnet by ID or name; None if unknown."""
    return subnet["AvailabilityZoneId"].text or subnet["AvailabilityZone"].text


def types_are_offered_in_their_zone(templates: Templates) -> Iterator[Problem]:
    """Find on-demand and Spot nodes in zones where EC2 does not offer their type."""
    for environment in templates.of_type(COMPUTE_ENVIRONMENT):
        template = launch_template_of(environment)
        if (
            template is not None
            and not template["LaunchTemplateData"]["CapacityReservationSpecification"].missing
        ):
            continue  # a reservation holds capacity even in an unlisted zone
        for subnet in environment["ComputeResources"]["Subnets"].items:
            zone = subnet.target["AvailabilityZoneId"].text if subnet.target else None
            for machine in environment_types(environment) or [] if zone else []:
                offered = offered_zones(machine.name)
                if offered and zone not in offered:
                    for finding in check_offered(machine.name, str(zone)):
                        yield Problem(environment["ComputeResources"]["InstanceTypes"], finding)


def subnets_fit_their_vpc(templates: Templates) -> Iterator[Problem]:
    """Find subnets outside their VPC, or overlapping."""
    placed: dict[Resource, list[tuple[Property, ipaddress.IPv4Network]]] = {}
    for subnet in templates.of_type(SUBNET):
        vpc, network = subnet["VpcId"].target, _network(subnet["CidrBlock"])
        if vpc is None or vpc.type != _VPC or network is None:
            continue
        whole = _network(vpc["CidrBlock"])
        associated = any(each["VpcId"].target is vpc for each in templates.of_type("AWS::EC2::VPCCidrBlock"))
        if whole is not None and not associated:
            for finding in check_subnet_in_vpc(network, whole):
                yield Problem(subnet["CidrBlock"], finding)
        placed.setdefault(vpc, []).append((subnet["CidrBlock"], network))
    for subnets in placed.values():
        for (_, first), (other, second) in combinations(subnets, 2):
            for finding in check_subnets_apart(second, first):
                yield Problem(other, finding)


def _network(at: Property) -> ipaddress.IPv4Network | None:
    try:
        return ipaddress.IPv4Network(at.text) if at.text else None
    except ValueError:
        return None


def efa_nodes_are_in_one_subnet(templates: Templates) -> Iterator[Problem]:
    """Find environments whose nodes have EFA and several subnets: EFA traffic does not leave a subnet."""
    for user in templates.of_type(COMPUTE_ENVIRONMENT, AUTO_SCALING_GROUP):
        at = _places(user)
        if len(at.certain) > 1 and interfaces_with_efa(user):
            yield Problem.of(
                at,
                ONE_SUBNET_FOR_EFA,
                f"nodes with EFA would be spread over {len(at.certain)} subnets, and EFA traffic does not leave one",
                "one subnet",
            )


def _places(user: Resource) -> Property:
    return (
        user["ComputeResources"]["Subnets"] if user.type == COMPUTE_ENVIRONMENT else user["VPCZoneIdentifier"]
    )


def nodes_have_addresses(templates: Templates) -> Iterator[Problem]:
    """Find subnets with too few addresses for their nodes."""
    needed: dict[Resource, int] = {}
    for user in templates.of_type(COMPUTE_ENVIRONMENT, AUTO_SCALING_GROUP):
        subnets = [each.target for each in _places(user).items]
        nodes, per_node = _most_nodes(user), _addresses(user)
        if len(subnets) == 1 and subnets[0] is not None and nodes and per_node:
            needed[subnets[0]] = needed.get(subnets[0], 0) + nodes * per_node
    for subnet, count in needed.items():
        network = _network(subnet["CidrBlock"])
        for finding in check_node_addresses(network, needed=count) if network else ():
            yield Problem(subnet["CidrBlock"], finding)


def _most_nodes(user: Resource) -> int | None:
    if user.type == AUTO_SCALING_GROUP:
        return user["MaxSize"].number
    machines = environment_types(user)
    most = user["ComputeResources"]["MaxvCpus"].number
    return most // min(machine.vcpus for machine in machines) if machines and most else None


def _addresses(user: Resource) -> int | None:
    template = launch_template_of(user)
    interfaces = interfaces_of(template) if template else None
    if template is None or interfaces is None:
        return None
    if not interfaces and not any(machine.name in INSTANCE_TYPES for machine in template_types(template)):
        return None
    task = 1 if user.type == COMPUTE_ENVIRONMENT else 0  # each task of a multi-node job has its own interface
    return addresses_per_node(interfaces) + task
