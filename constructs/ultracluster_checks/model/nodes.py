"""Nodes as templates start them: environment or Auto Scaling group, launch template, subnets, groups and queues joined."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK, InstanceType
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.machines.nic_layouts import NetworkInterface
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.model.values import ABSENT, Reference, Text, Unknown

LAUNCH_TEMPLATE: Final = "AWS::EC2::LaunchTemplate"
COMPUTE_ENVIRONMENT: Final = "AWS::Batch::ComputeEnvironment"
AUTO_SCALING_GROUP: Final = "AWS::AutoScaling::AutoScalingGroup"
QUEUE: Final = "AWS::Batch::JobQueue"
SECURITY_GROUP: Final = "AWS::EC2::SecurityGroup"
SUBNET: Final = "AWS::EC2::Subnet"
VPC: Final = "AWS::EC2::VPC"
EVENT_RULE: Final = "AWS::Events::Rule"
INTERFACE_TYPES: Final = ("interface", "efa", "efa-only")
"""Types of interfaces: LaunchTemplateInstanceNetworkInterfaceSpecification, botocore 1.44.5."""

_WITH_EFA: Final = INTERFACE_TYPES[1:]
RESERVATION_ID: Final = re.compile(r"cr-[0-9a-f]{8,17}")
TARGETS: Final = ("CapacityReservationId", "CapacityReservationResourceGroupArn")
"""Properties of a target that name a reservation."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes that a compute environment or an Auto Scaling group starts.

    Attributes:
        owner: The environment or group.
        settings: Its settings: ``ComputeResources`` of an environment, the properties of a group.
        template: Launch template; None if these templates do not define it.
        data: Settings of the launch template; absent or unknown without one.
    """

    owner: Resource
    settings: Property
    template: Resource | None
    data: Property

    @property
    def name(self) -> str:
        """Logical ID of the environment or group."""
        return self.owner.logical_id

    @property
    def in_batch(self) -> bool:
        """Whether AWS Batch starts the nodes."""
        return self.owner.type == COMPUTE_ENVIRONMENT

    @property
    def in_block(self) -> bool:
        """Whether they are launched into a Capacity Block."""
        return is_block(self.data)

    @property
    def may_be_in_block(self) -> bool:
        """Whether they are launched into a Capacity Block, or may be."""
        return self.in_block or self.data["InstanceMarketOptions"]["MarketType"].unknown

    @property
    def target(self) -> Property:
        """The reservation that they are launched into."""
        return target_of(self.data)

    @property
    def is_targeted(self) -> bool:
        """Whether they are launched into a reservation, whichever it is."""
        return any(not self.target[name].missing for name in TARGETS)

    @property
    def types(self) -> list[InstanceType]:
        """Instance types; empty if any is unknown."""
        own = environment_types(self.owner) if self.in_batch else None
        return own or (template_types(self.template) if self.template else [])

    @property
    def most(self) -> int | None:
        """Largest number of nodes; None if unknown."""
        if not self.in_batch:
            return self.owner["MaxSize"].number
        instance_types, vcpus = environment_types(self.owner), self.settings["MaxvCpus"].number
        return (
            vcpus // min(instance_type.vcpus for instance_type in instance_types)
            if instance_types and vcpus
            else None
        )

    @property
    def interfaces(self) -> list[Property]:
        """Network interfaces."""
        return self.data["NetworkInterfaces"].items

    @property
    def efa_interfaces(self) -> list[Property]:
        """Network interfaces with EFA."""
        return efa_interfaces(self.data)

    @property
    def subnets(self) -> Property:
        """Subnets of the environment or group."""
        return subnets_at(self.settings)

    @property
    def vpcs(self) -> set[Resource | None]:
        """VPCs of the subnets; None stands for an unknown one."""
        return {vpc_of(each) for each in self.subnets.items}

    @property
    def groups(self) -> list[Resource] | None:
        """Security groups of the primary interface; None if any is unknown."""
        for each in self.interfaces:
            if each["DeviceIndex"].number == 0 and not each["NetworkCardIndex"].number:
                return groups_at(each["Groups"])
        return groups_at(self.data["SecurityGroupIds"]) or groups_at(self.settings["SecurityGroupIds"])

    @property
    def images(self) -> tuple[Property, ...]:
        """Places of the image."""
        kinds = self.settings["Ec2Configuration"].items
        return (self.settings["ImageId"], self.data["ImageId"], *(each["ImageIdOverride"] for each in kinds))


@lru_cache(maxsize=1)
def nodes_of(templates: Templates) -> tuple[Nodes, ...]:
    """Return the nodes of all managed compute environments on EC2 and Auto Scaling groups."""
    found = []
    for owner in templates.of_type(COMPUTE_ENVIRONMENT, AUTO_SCALING_GROUP):
        settings = settings_of(owner)
        if owner.type == COMPUTE_ENVIRONMENT and settings["Type"].text not in {"EC2", "SPOT", None}:
            continue
        template = launch_template_of(owner)
        none = Property(owner, (), ABSENT if settings["LaunchTemplate"].missing else Unknown())
        found.append(Nodes(owner, settings, template, launch_data(template) if template else none))
    return tuple(found)


def batch_nodes(templates: Templates) -> list[Nodes]:
    """Return the nodes of the compute environments that are known to be on EC2."""
    return [each for each in nodes_of(templates) if each.in_batch and each.settings["Type"].text is not None]


def launch_data(template: Resource) -> Property:
    """Settings of a launch template."""
    return template["LaunchTemplateData"]


def efa_interfaces(data: Property) -> list[Property]:
    """Return the network interfaces with EFA in the settings of a launch template."""
    return [each for each in data["NetworkInterfaces"].items if each["InterfaceType"].text in _WITH_EFA]


def target_of(data: Property) -> Property:
    """Return the reservation that the settings of a launch template name."""
    return data["CapacityReservationSpecification"]["CapacityReservationTarget"]


def is_block(data: Property) -> bool:
    """Return whether nodes are launched into a Capacity Block."""
    return data["InstanceMarketOptions"]["MarketType"].text == CAPACITY_BLOCK


def launch_template_of(user: Resource) -> Resource | None:
    """Return the launch template of a compute environment or Auto Scaling group, if these templates define it."""
    mixed = user["MixedInstancesPolicy"]["LaunchTemplate"]["LaunchTemplateSpecification"]
    for choice in (settings_of(user)["LaunchTemplate"], mixed):
        name = choice["LaunchTemplateName"]
        target = choice["LaunchTemplateId"].target or choice["Id"].target or name.target
        if target is not None:
            return target
        for template in user.template.templates.of_type(LAUNCH_TEMPLATE):
            if name.text is not None and template["LaunchTemplateName"].text == name.text:
                return template
    return None


def users_of(template: Resource) -> list[Resource]:
    """Return the compute environments and Auto Scaling groups that use a launch template."""
    return _users(template.template.templates).get(template, [])


@lru_cache(maxsize=1)
def _users(templates: Templates) -> dict[Resource, list[Resource]]:
    found: dict[Resource, list[Resource]] = {}
    for user in templates.of_type(COMPUTE_ENVIRONMENT, AUTO_SCALING_GROUP):
        template = launch_template_of(user)
        if template is not None:
            found.setdefault(template, []).append(user)
    return found


def settings_of(user: Resource) -> Property:
    """Return the settings of a compute environment or Auto Scaling group."""
    return user["ComputeResources"] if user.type == COMPUTE_ENVIRONMENT else user.properties


def subnets_at(settings: Property) -> Property:
    """Return the subnets of the settings of an environment or Auto Scaling group."""
    return settings["VPCZoneIdentifier" if settings["Subnets"].missing else "Subnets"]


def is_in_batch(template: Resource) -> bool:
    """Return whether a compute environment uses a launch template."""
    return any(user.type == COMPUTE_ENVIRONMENT for user in users_of(template))


def instance_type_names(user: Resource) -> list[Property] | None:
    """Return the instance types of a compute environment; None if any is unknown before deployment."""
    names = user["ComputeResources"]["InstanceTypes"].items
    return None if not names or any(name.text is None for name in names) else names


def environment_types(user: Resource) -> list[InstanceType] | None:
    """Return the instance types of a compute environment; None if any is not in the catalogue."""
    names = instance_type_names(user)
    if names is None or any(name.text not in INSTANCE_TYPES for name in names):
        return None
    return [INSTANCE_TYPES[str(name.text)] for name in names]


def template_types(template: Resource) -> list[InstanceType]:
    """Return the known instance types of a launch template: its own, or those of its users."""
    own = launch_data(template)["InstanceType"].text
    if own is not None:
        return [INSTANCE_TYPES[own]] if own in INSTANCE_TYPES else []
    users = [user for user in users_of(template) if user.type == COMPUTE_ENVIRONMENT]
    return list(
        dict.fromkeys(instance_type for user in users for instance_type in environment_types(user) or ())
    )


def interfaces_of(template: Resource | None) -> list[NetworkInterface] | None:
    """Return the interfaces of a launch template; None if any is unknown before deployment."""
    if template is None:
        return None
    at = launch_data(template)["NetworkInterfaces"]
    if at.missing:
        return []
    interfaces = []
    for item in at.items:
        card, device, kind = item["NetworkCardIndex"], item["DeviceIndex"], item["InterfaceType"]
        known = [0 if at.missing else at.number for at in (card, device)]
        type_ = "interface" if kind.missing else kind.text
        if None in known or type_ not in INTERFACE_TYPES:
            return None
        interfaces.append(NetworkInterface(card=known[0], device=known[1], interface_type=type_))  # type: ignore[arg-type]
    return interfaces or None


def groups_at(at: Property) -> list[Resource] | None:
    """Return the security groups of a list; None if it is empty, or any is not defined in these templates."""
    groups = [each.target for each in at.items]
    known = [group for group in groups if group is not None and group.type == SECURITY_GROUP]
    return known if known and len(known) == len(groups) else None


def environments_of(queue: Resource) -> list[Resource] | None:
    """Return the compute environments of a queue; None if any is not defined in these templates."""
    found = [item["ComputeEnvironment"].target for item in queue["ComputeEnvironmentOrder"].items]
    known = [each for each in found if each is not None and each.type == COMPUTE_ENVIRONMENT]
    return known if known and len(known) == len(found) else None


@lru_cache(maxsize=1)
def has_all_environments(templates: Templates) -> bool:
    """Return whether the queues of templates start jobs on environments of these templates only."""
    orders = [queue["ComputeEnvironmentOrder"] for queue in templates.of_type(QUEUE)]
    named = [item["ComputeEnvironment"] for order in orders for item in order.items]
    return not any(each.unknown for each in orders) and all(each.target is not None for each in named)


def vpc_of(at: Property | Resource) -> Resource | None:
    """Return the VPC of a subnet or security group, or of the resource that a property refers to, if it is defined here."""
    resource = at.target if isinstance(at, Property) else at
    known = resource is not None and resource.type in {SUBNET, SECURITY_GROUP}
    return resource["VpcId"].target if resource is not None and known else None


def zone_of(subnet: Resource | None) -> str | None:
    """Return the zone of a subnet by ID or name; None if unknown."""
    return None if subnet is None else subnet["AvailabilityZoneId"].text or subnet["AvailabilityZone"].text


def differ(first: Any, second: Any) -> bool:
    """Return whether two values are certainly not the same."""
    if isinstance(first, Reference) and isinstance(second, Reference):
        return (first.template, first.logical_id) != (second.template, second.logical_id)
    known = all(isinstance(each, str | int) for each in (first, second))
    return known and str(first) != str(second)


@lru_cache(maxsize=1)
def known_blocks(templates: Templates) -> tuple[Any, ...]:
    """Return the reservations that are Capacity Blocks, according to the market type of nodes or to events."""
    found = [nodes.target[name].value for nodes in nodes_of(templates) if nodes.in_block for name in TARGETS]
    for pattern in (each["EventPattern"] for each in templates.of_type(EVENT_RULE)):
        if any((kind or "").startswith("Capacity Block") for kind in pattern["detail-type"].texts):
            found += [each.value for each in pattern["detail"]["capacity-reservation-id"].items]
    return tuple(
        each
        for each in found
        if isinstance(each, str | Reference | Text) or (isinstance(each, Unknown) and each.name)
    )
