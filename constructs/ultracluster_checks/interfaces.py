"""Network interfaces of launch templates: valid for the instance type, private, in one group, deleted on termination."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.codes import ONE_SUBNET
from ultracluster_checks.model.nodes import (
    COMPUTE_ENVIRONMENT,
    INTERFACE_TYPES,
    LAUNCH_TEMPLATE,
    SUBNET,
    Nodes,
    differ,
    efa_interfaces,
    groups_at,
    interfaces_of,
    is_in_batch,
    launch_data,
    nodes_of,
    settings_of,
    subnets_at,
    template_types,
    users_of,
)
from ultracluster_checks.model.template import Resource
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_spec.findings import quote
from ultracluster_spec.network import check_efa_use, check_network_interfaces, check_task_interface
from ultracluster_spec.record import RuleRecord

_PLACE: Final = re.compile(r"nic_layout\[(\d+)\](?:\.(\w+))?")
_ADDRESSES: Final = re.compile("Ipv[46](?:Address|Prefix)|PrivateIpAddress|SecondaryPrivateIp|PrimaryIpv6")
_PROPERTIES: Final = {"card": "NetworkCardIndex", "device": "DeviceIndex", "interface_type": "InterfaceType"}


@rule("", LAUNCH_TEMPLATE)
def interfaces_are_legal(template: Resource) -> Iterator[Wrong]:
    """Find interfaces that EC2 would reject, and network cards without EFA."""
    interfaces, at = interfaces_of(template), launch_data(template)["NetworkInterfaces"]
    jobs = list(template.template.templates.of_type("AWS::Batch::JobDefinition"))
    alone = jobs and all(job["NodeProperties"].missing for job in jobs)
    if interfaces is None or (not interfaces and alone):
        return  # jobs on one node need no EFA
    for instance_type in template_types(template):
        # Without interfaces, EC2 creates one ENA interface.
        findings = (check_network_interfaces if interfaces else check_efa_use)(
            instance_type, interfaces or []
        )
        if interfaces and is_in_batch(template) and instance_type.efa_interfaces > 1:
            findings += check_task_interface(instance_type, interfaces)
        for finding in findings:
            place = _PLACE.match(finding.path)
            where = at.items[int(place[1])] if place else at
            yield Problem(where[_PROPERTIES[place[2]]] if place and place[2] else where, finding)


@rule("UC3207", LAUNCH_TEMPLATE)
def interface_types_are_valid(template: Resource) -> Iterator[Wrong]:
    """Find unknown interface types, which CloudFormation accepts, and IP addresses at EFA-only interfaces, which have none."""
    for interface in launch_data(template)["NetworkInterfaces"].items:
        kind = interface["InterfaceType"]
        if kind.text is not None and kind.text not in INTERFACE_TYPES:
            yield kind, f"got {quote(kind.text)}", ", ".join(INTERFACE_TYPES)
        for at in interface.members if kind.text == "efa-only" else ():
            if _ADDRESSES.match(str(at.path[-1])) and at.value not in (0, []):
                got = "an address of an interface of type efa-only, which EC2 refuses"
                yield at, got, "none, or type efa"


@rule(ONE_SUBNET, LAUNCH_TEMPLATE)
def interfaces_are_in_one_subnet(template: Resource) -> Iterator[Wrong]:
    """Find launch templates that nothing here uses and whose EFA interfaces name different subnets."""
    data = launch_data(template)
    if users_of(template) or not efa_interfaces(data):
        return
    subnets = [each["SubnetId"] for each in data["NetworkInterfaces"].items if not each["SubnetId"].missing]
    for at in subnets:
        if differ(at.value, subnets[0].value):
            yield at, f"got {at.pattern}, and the first interface is in {subnets[0].pattern}", "one subnet"


@rule("UC3202", LAUNCH_TEMPLATE)
def no_public_addresses(template: Resource) -> Iterator[Wrong]:
    """Find nodes with several interfaces and a public address, which EC2 rejects."""
    items = launch_data(template)["NetworkInterfaces"].certain
    public = [item["AssociatePublicIpAddress"] for item in items]
    if len(items) < 2:  # noqa: PLR2004 - one interface may have one
        return
    for at in public:
        if at.flag:
            got = f"got true on one of {len(items)} interfaces, which EC2 refuses at launch"
            yield at, got, "false, and a NAT gateway or VPC endpoints"
    for subnet in () if any(at.flag is False for at in public) else _subnets_of(template):
        at = subnet["MapPublicIpOnLaunch"]
        if at.flag:
            nodes = f"the nodes of {template.logical_id}, which have {len(items)} interfaces each"
            got = f"the subnet gives public addresses to {nodes}; EC2 refuses that at launch"
            yield at, got, "false, or AssociatePublicIpAddress: false at the interfaces"


def _subnets_of(template: Resource) -> list[Resource]:
    """Return the subnets that nodes of a launch template are launched into, as far as defined in these templates."""
    places = [item["SubnetId"] for item in launch_data(template)["NetworkInterfaces"].items]
    for user in users_of(template):
        places += subnets_at(settings_of(user)).items
    found = [place.target for place in places]
    return list(dict.fromkeys(each for each in found if each is not None and each.type == SUBNET))


@rule("UC6458", nodes_of)
def nodes_have_addresses_of_their_own(nodes: Nodes) -> Iterator[Wrong]:
    """Find an address or network interface in the launch template of several nodes: the first node has it, and no other starts."""
    for each in nodes.interfaces if (nodes.most or 1) > 1 else ():
        for at in (each["PrivateIpAddress"], each["NetworkInterfaceId"]):
            if not at.missing and not at.unknown:
                yield at, f"got {at.pattern}, which one node alone can have", "none"


@rule("UC3203", LAUNCH_TEMPLATE)
def interfaces_go_with_their_node(template: Resource) -> Iterator[Wrong]:
    """Find interfaces that outlive their node and keep its address."""
    for item in launch_data(template)["NetworkInterfaces"].items:
        goes = item["DeleteOnTermination"]
        # EC2 deletes the primary interface by default.
        device = item["DeviceIndex"]
        primary = item["NetworkCardIndex"].number in {0, None} and (device.number == 0 or device.unknown)
        if goes.flag is False or (goes.missing and not primary):
            got = "the interface and its address stay when the node is gone"
            yield goes, got, "DeleteOnTermination: true"


@rule("UC3205", LAUNCH_TEMPLATE)
def groups_are_at_the_interfaces(template: Resource) -> Iterator[Wrong]:
    """Find security groups beside interfaces; EC2 rejects them in the launch template, AWS Batch on the environment."""
    data = launch_data(template)
    for name in ("SecurityGroupIds", "SecurityGroups"):
        if data["NetworkInterfaces"].items and data[name].items:
            got = "security groups of the whole template beside interfaces, which EC2 refuses at launch"
            yield data[name], got, "Groups at each interface"
    for user in () if data["NetworkInterfaces"].missing else users_of(template):
        groups = user["ComputeResources"]["SecurityGroupIds"]
        if user.type == COMPUTE_ENVIRONMENT and not groups.missing:
            # AWS's message, quoted in aws/aws-cdk#21577.
            message = "Either compute environment Security Groups or Network Interfaces in Launch template are exclusively allowed"
            allowed = f"Groups at each interface of {template.logical_id} only"
            yield groups, f"AWS Batch refuses them: {message}", allowed


@rule("UC3212", nodes_of)
def efa_interfaces_have_one_group(nodes: Nodes) -> Iterator[Wrong]:
    """Find EFA interfaces without security groups, and interfaces of one node with different ones."""
    if not nodes.data["SecurityGroupIds"].missing or not nodes.data["SecurityGroups"].missing:
        return
    efa = [each["Groups"] for each in nodes.efa_interfaces]
    for at in efa:
        if at.empty:
            default = "the default group of the VPC, whose rule out names addresses, which EFA does not count"
            got = f"no security group, so that the interface gets {default}"
            yield at, got, "a group that lets all traffic from and to itself"
    known = [frozenset(groups) for groups in map(groups_at, efa) if groups is not None]
    if len(known) == len(efa) and efa and not frozenset.intersection(*known):
        odd = efa[next(place for place, groups in enumerate(known) if not groups & known[0])]
        first = f"the first EFA interface has {efa[0].items[0].pattern}"
        got = f"got {odd.items[0].pattern}, and {first}: ranks do not reach each other over it"
        yield odd, got, "the same group at every EFA interface"


RECORDS: Final = (
    RuleRecord(
        "UC3202",
        "A node with several network interfaces gets no public address.",
        remedy="Launch into a private subnet with VPC endpoints or a NAT gateway.",
        source="EC2 API reference, AssociatePublicIpAddress: only for one new interface.",
    ),
    RuleRecord(
        "UC3203",
        "A network interface is deleted with its node.",
        remedy="Set DeleteOnTermination to true on every interface.",
        source="Report of addresses that ran out behind terminated nodes (aws/aws-k8s-tester 531).",
    ),
    RuleRecord(
        "UC3205",
        "Security groups are set on the network interfaces of a launch template and nowhere else.",
        remedy="Set the groups on each interface, and omit SecurityGroupIds of the compute environment: AWS Batch refuses groups in both places. Tasks of multi-node jobs then use the default security group of the VPC.",
        source="EC2 API reference, RunInstances: security groups go with the interface where one is given. AWS Batch's answer to CreateComputeEnvironment, aws/aws-cdk#21577.",
    ),
    RuleRecord(
        "UC3207",
        "A network interface has a type that EC2 supports.",
        remedy="Write efa-only with a hyphen.",
        source="EC2 API reference, LaunchTemplateInstanceNetworkInterfaceSpecificationRequest (botocore 1.44.5).",
    ),
    RuleRecord(
        "UC3212",
        "The EFA interfaces of a node have one security group.",
        remedy="Name the same security group at every EFA interface.",
        source="EC2 user guide, get started with EFA, 2026-11: all traffic to and from the group itself; field case batch/ce-neither-sg-nor-nics.",
    ),
    RuleRecord(
        "UC6458",
        "A launch template of several nodes gives them no fixed address or network interface.",
        remedy="Leave the address to the subnet.",
        source="Amazon EC2 user guide, private addresses, 2026-11.",
    ),
)
