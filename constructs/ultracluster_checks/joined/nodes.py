"""Nodes as a template starts them: compute environment or Auto Scaling group, launch template, subnets and groups joined."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_checks.interfaces import SUBNET
from ultracluster_checks.machines import (
    AUTO_SCALING_GROUP,
    COMPUTE_ENVIRONMENT,
    environment_types,
    is_block,
    launch_data,
    launch_template_of,
    template_types,
)
from ultracluster_checks.security_groups import SECURITY_GROUP
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_checks.values import ABSENT, Reference, Text, Unknown

QUEUE: Final = "AWS::Batch::JobQueue"
_EVENT_RULE: Final = "AWS::Events::Rule"


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
        return self.in_block or isinstance(self.data["InstanceMarketOptions"]["MarketType"].value, Unknown)

    @property
    def target(self) -> Property:
        """The reservation that they are launched into."""
        return self.data["CapacityReservationSpecification"]["CapacityReservationTarget"]

    @property
    def types(self) -> list[InstanceType]:
        """Instance types; empty if any is unknown."""
        own = environment_types(self.owner) if self.in_batch else None
        return own or (template_types(self.template) if self.template else [])

    @property
    def interfaces(self) -> list[Property]:
        """Network interfaces."""
        return self.data["NetworkInterfaces"].items

    @property
    def efa_interfaces(self) -> list[Property]:
        """Network interfaces with EFA."""
        return [each for each in self.interfaces if each["InterfaceType"].text in {"efa", "efa-only"}]

    @property
    def unknown_interfaces(self) -> list[Property]:
        """Network interfaces that may have EFA once deployed."""
        return [each for each in self.interfaces if isinstance(each["InterfaceType"].value, Unknown)]

    @property
    def subnets(self) -> Property:
        """Subnets of the environment or group."""
        return self.settings["Subnets" if self.in_batch else "VPCZoneIdentifier"]

    @property
    def groups(self) -> list[Resource] | None:
        """Security groups of the primary interface; None if any is unknown."""
        primary = [
            each
            for each in self.interfaces
            if each["DeviceIndex"].number == 0 and not each["NetworkCardIndex"].number
        ]
        if primary:
            return groups_at(primary[0]["Groups"])
        return groups_at(self.data["SecurityGroupIds"]) or groups_at(self.settings["SecurityGroupIds"])


@lru_cache(maxsize=1)
def nodes_of(templates: Templates) -> tuple[Nodes, ...]:
    """Return the nodes of all managed compute environments on EC2 and of all Auto Scaling groups."""
    found = []
    for owner in templates.of_type(COMPUTE_ENVIRONMENT, AUTO_SCALING_GROUP):
        settings = owner["ComputeResources"] if owner.type == COMPUTE_ENVIRONMENT else owner.properties
        if owner.type == COMPUTE_ENVIRONMENT and settings["Type"].text not in {"EC2", "SPOT", None}:
            continue
        template = launch_template_of(owner)
        none = Property(owner, (), ABSENT if settings["LaunchTemplate"].missing else Unknown())
        found.append(Nodes(owner, settings, template, launch_data(template) if template else none))
    return tuple(found)


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


def vpc_of(at: Property | Resource) -> Resource | None:
    """Return the VPC of a subnet or security group, or of the resource that a property refers to, if it is defined here."""
    resource = at.target if isinstance(at, Property) else at
    return (
        resource["VpcId"].target
        if resource is not None and resource.type in {SUBNET, SECURITY_GROUP}
        else None
    )


def differ(first: Any, second: Any) -> bool:
    """Return whether two values are certainly not the same."""
    if isinstance(first, Reference) and isinstance(second, Reference):
        return (first.template, first.logical_id) != (second.template, second.logical_id)
    known = all(isinstance(each, str | int) for each in (first, second))
    return known and str(first) != str(second)


@lru_cache(maxsize=1)
def known_blocks(templates: Templates) -> tuple[Any, ...]:
    """Return the reservations that are Capacity Blocks, according to the market type of nodes or to events."""
    found = [
        value
        for nodes in nodes_of(templates)
        if nodes.in_block
        for value in (
            nodes.target["CapacityReservationId"].value,
            nodes.target["CapacityReservationResourceGroupArn"].value,
        )
    ]
    for pattern in _block_patterns(templates):
        found += [each.value for each in pattern["detail"]["capacity-reservation-id"].items]
    return tuple(each for each in found if names_something(each))


def names_something(value: Any) -> bool:
    """Return whether a value is text, a reference or a parameter, which can be compared."""
    return isinstance(value, str | Reference | Text) or (isinstance(value, Unknown) and bool(value.name))


def _block_patterns(templates: Templates) -> Iterator[Property]:
    for rule in templates.of_type(_EVENT_RULE):
        if any(
            (each.text or "").startswith("Capacity Block")
            for each in rule["EventPattern"]["detail-type"].items
        ):
            yield rule["EventPattern"]
