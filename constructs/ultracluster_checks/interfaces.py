"""Network interfaces of launch templates: valid for the instance type, private, deleted on termination."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.nic_layouts import NetworkInterface
from ultracluster_checks.machines import (
    COMPUTE_ENVIRONMENT,
    LAUNCH_TEMPLATE,
    launch_data,
    launch_template_of,
    template_types,
    users_of,
)
from ultracluster_checks.problem import Problem
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_rules.findings import quote
from ultracluster_rules.network import check_efa_use, check_network_interfaces, check_task_interface

SUBNET: Final = "AWS::EC2::Subnet"

_PLACE: Final = re.compile(r"nic_layout\[(\d+)\](?:\.(\w+))?")
_TYPES: Final = (
    "interface",
    "efa",
    "efa-only",
)  # LaunchTemplateInstanceNetworkInterfaceSpecification, botocore 1.44.5
_PROPERTIES: Final = {
    "card": "NetworkCardIndex",
    "device": "DeviceIndex",
    "interface_type": "InterfaceType",
}


def interfaces_of(template: Resource) -> list[NetworkInterface] | None:
    """Return the interfaces of a launch template; None if any is unknown before deployment."""
    at = launch_data(template)["NetworkInterfaces"]
    if at.missing:
        return []
    interfaces = []
    for item in at.items:
        card, device = _index(item["NetworkCardIndex"]), _index(item["DeviceIndex"])
        kind = "interface" if item["InterfaceType"].missing else item["InterfaceType"].text
        if card is None or device is None or kind not in _TYPES:
            return None
        interfaces.append(NetworkInterface(card=card, device=device, interface_type=kind))  # type: ignore[arg-type]
    return interfaces or None


def _index(at: Property) -> int | None:
    return 0 if at.missing else at.number


def interfaces_are_legal(templates: Templates) -> Iterator[Problem]:
    """Find interfaces that EC2 would reject, and network cards without EFA."""
    for template in templates.of_type(LAUNCH_TEMPLATE):
        interfaces = interfaces_of(template)
        if interfaces is None:
            continue
        in_batch = any(user.type == COMPUTE_ENVIRONMENT for user in users_of(template))
        for machine in template_types(template):
            yield from _judged(template, machine, interfaces, in_batch=in_batch)


def _judged(
    template: Resource, machine: InstanceType, interfaces: list[NetworkInterface], *, in_batch: bool
) -> Iterator[Problem]:
    at = launch_data(template)["NetworkInterfaces"]
    findings = check_network_interfaces(machine, interfaces)
    if not interfaces:  # without interfaces, EC2 creates one ENA interface
        findings = check_efa_use(machine, interfaces)
    elif in_batch and machine.efa_interfaces > 1:
        findings += check_task_interface(machine, interfaces)
    for finding in findings:
        place = _PLACE.match(finding.path)
        where = at
        if place:
            where = at.items[int(place[1])]
            where = where[_PROPERTIES[place[2]]] if place[2] else where
        yield Problem(where, finding)


def interface_types_exist(templates: Templates) -> Iterator[Problem]:
    """Find unknown interface types, which CloudFormation does not reject."""
    for template in templates.of_type(LAUNCH_TEMPLATE):
        for item in launch_data(template)["NetworkInterfaces"].items:
            kind = item["InterfaceType"]
            if kind.text is not None and kind.text not in _TYPES:
                yield Problem.of(kind, "UC3207", f"got {quote(kind.text)}", ", ".join(_TYPES))


def no_public_addresses(templates: Templates) -> Iterator[Problem]:
    """Find nodes with several interfaces and a public address, which EC2 rejects."""
    for template in templates.of_type(LAUNCH_TEMPLATE):
        items = launch_data(template)["NetworkInterfaces"].certain
        if len(items) < 2:  # noqa: PLR2004 - one interface may have one
            continue
        for item in items:
            if item["AssociatePublicIpAddress"].flag:
                yield Problem.of(
                    item["AssociatePublicIpAddress"],
                    "UC3202",
                    f"got true on one of {len(items)} interfaces, which EC2 refuses at launch",
                    "false, and a NAT gateway or VPC endpoints",
                )
        told = any(item["AssociatePublicIpAddress"].flag is False for item in items)
        for subnet in () if told else subnets_of(template):
            if subnet["MapPublicIpOnLaunch"].flag:
                yield Problem.of(
                    subnet["MapPublicIpOnLaunch"],
                    "UC3202",
                    f"the subnet gives public addresses to the nodes of {template.logical_id}, which have {len(items)} "
                    "interfaces each; EC2 refuses that at launch",
                    "false, or AssociatePublicIpAddress: false at the interfaces",
                )


def subnets_of(template: Resource) -> list[Resource]:
    """Return the subnets that nodes of a launch template are launched into, as far as defined in these templates."""
    places = [item["SubnetId"] for item in launch_data(template)["NetworkInterfaces"].items]
    for user in users_of(template):
        key = (
            user["ComputeResources"]["Subnets"]
            if user.type == COMPUTE_ENVIRONMENT
            else user["VPCZoneIdentifier"]
        )
        places += key.items
    found = [place.target for place in places]
    return list(dict.fromkeys(each for each in found if each is not None and each.type == SUBNET))


def interfaces_go_with_their_node(templates: Templates) -> Iterator[Problem]:
    """Find interfaces that outlive their node and keep its address."""
    for template in templates.of_type(LAUNCH_TEMPLATE):
        for item in launch_data(template)["NetworkInterfaces"].items:
            goes = item["DeleteOnTermination"]
            # EC2 deletes the primary interface by default.
            primary = item["NetworkCardIndex"].number in {0, None} and item["DeviceIndex"].number == 0
            if goes.flag is False or (goes.missing and not primary):
                yield Problem.of(
                    goes,
                    "UC3203",
                    "the interface and its address stay when the node is gone",
                    "DeleteOnTermination: true",
                )


def groups_are_at_the_interfaces(templates: Templates) -> Iterator[Problem]:
    """Find security groups beside interfaces; EC2 rejects them in the launch template, AWS Batch on the environment."""
    for template in templates.of_type(LAUNCH_TEMPLATE):
        data = launch_data(template)
        for name in ("SecurityGroupIds", "SecurityGroups"):
            if data["NetworkInterfaces"].items and data[name].items:
                yield Problem.of(
                    data[name],
                    "UC3205",
                    "security groups of the whole template beside interfaces, which EC2 refuses at launch",
                    "Groups at each interface",
                )
        if data["NetworkInterfaces"].missing:
            continue
        for user in users_of(template):
            groups = user["ComputeResources"]["SecurityGroupIds"]
            if user.type == COMPUTE_ENVIRONMENT and not groups.missing:
                # AWS's message, quoted in aws/aws-cdk#21577.
                yield Problem.of(
                    groups,
                    "UC3205",
                    "AWS Batch refuses them: Either compute environment Security Groups or Network Interfaces in Launch "
                    "template are exclusively allowed",
                    f"Groups at each interface of {template.logical_id} only",
                )


def interfaces_with_efa(user: Resource) -> bool:
    """Return whether nodes of a compute environment or Auto Scaling group have EFA."""
    template = launch_template_of(user)
    interfaces = interfaces_of(template) if template else None
    return any(each.has_efa for each in interfaces or ())
