"""Match launch templates, compute environments and jobs, and find their instance types."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK, InstanceType
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_checks.template import Property, Resource, Templates

LAUNCH_TEMPLATE: Final = "AWS::EC2::LaunchTemplate"
COMPUTE_ENVIRONMENT: Final = "AWS::Batch::ComputeEnvironment"
AUTO_SCALING_GROUP: Final = "AWS::AutoScaling::AutoScalingGroup"

_ACCELERATED: Final = re.compile(r"(?:ml\.)?((?:trn|inf)[0-9]\w*)\.\w+", re.IGNORECASE)
_FAMILIES: Final = {name.partition(".")[0] for name in INSTANCE_TYPES}


def launch_data(template: Resource) -> Property:
    """Settings of a launch template."""
    return template["LaunchTemplateData"]


def compute_environments(templates: Templates) -> Iterator[tuple[Resource, Property]]:
    """Return managed compute environments on EC2, each with its compute resources."""
    for environment in templates.of_type(COMPUTE_ENVIRONMENT):
        resources = environment["ComputeResources"]
        if resources["Type"].text in {"EC2", "SPOT"}:
            yield environment, resources


def launch_template_of(user: Resource) -> Resource | None:
    """Return the launch template of a compute environment or Auto Scaling group, if these templates define it."""
    if user.type == AUTO_SCALING_GROUP:
        choices = [
            user["LaunchTemplate"],
            user["MixedInstancesPolicy"]["LaunchTemplate"]["LaunchTemplateSpecification"],
        ]
    else:
        choices = [user["ComputeResources"]["LaunchTemplate"]]
    for choice in choices:
        found = choice["LaunchTemplateId"].target or choice["LaunchTemplateName"].target
        if found is not None:
            return found
        name = choice["LaunchTemplateName"].text
        for template in user.template.templates.of_type(LAUNCH_TEMPLATE):
            if name is not None and template["LaunchTemplateName"].text == name:
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


def is_block(data: Property) -> bool:
    """Return whether nodes are launched into a Capacity Block."""
    return data["InstanceMarketOptions"]["MarketType"].text == CAPACITY_BLOCK


def instance_type_names(user: Resource) -> list[Property] | None:
    """Return the instance types of a compute environment; None if any is unknown before deployment."""
    types = user["ComputeResources"]["InstanceTypes"]
    names = types.items
    if not names or any(name.text is None for name in names):
        return None
    return names


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
    found = []
    for user in users_of(template):
        if user.type == COMPUTE_ENVIRONMENT:
            found += environment_types(user) or []
    return list(dict.fromkeys(found))


def catalogued(name: Property) -> bool | None:
    """Return whether the catalogue has an instance type; None if its family is missing or the type is unknown."""
    text = name.text
    found = _ACCELERATED.fullmatch(text or "")
    if found is None or found[1].lower() not in _FAMILIES:
        return None  # the type may be newer or custom
    return text in INSTANCE_TYPES
