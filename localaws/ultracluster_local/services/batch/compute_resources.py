"""Constraints of the compute resources of an AWS Batch environment, as CreateComputeEnvironment checks them.

Unless a line says otherwise, they are those of API_ComputeResource in the AWS Batch API Reference, as botocore 1.44.5 has
it. The words are those that AWS answered to badmintoncryer/cdk-preflight, rules/batch (2026-09), or else the reference's.
"""

from collections.abc import Mapping
from typing import Any

from moto.ec2.models import ec2_backends

from ultracluster_local.services.batch.instance_types import BUNDLES, check_instance_types, family_of
from ultracluster_local.services.batch.state import refused
from ultracluster_local.services.ec2.launch_templates import template_data
from ultracluster_local.services.handlers import Request, ServiceError

__all__ = ["check_compute_resources", "launch_template_data"]

_OF_FARGATE = frozenset({"maxvCpus", "securityGroupIds", "subnets", "type"})
_MOST_ON_FARGATE = {"subnets": (16, "subnets"), "securityGroupIds": (5, "security groups")}
_IMAGE_TYPES = ("ECS_AL1", "ECS_AL2", "ECS_AL2_NVIDIA", "ECS_AL2023", "ECS_AL2023_NVIDIA")


def check_compute_resources(request: Request, resources: Mapping[str, Any]) -> None:
    """Refuse invalid compute resources of a managed environment.

    Args:
        request: API request.
        resources: Compute resources.

    Raises:
        ServiceError: If they are invalid.
    """
    kind = resources["type"]
    if kind == "ECS_MANAGED_INSTANCES":
        if not resources.get("managedInstancesProvider"):
            raise refused("managedInstancesProvider is required when type is ECS_MANAGED_INSTANCES")
        return
    for name in ("managedInstancesProvider", "capacityTags"):
        if resources.get(name):
            raise refused(f"{name} is only valid for ECS_MANAGED_INSTANCES compute environments")
    if kind.startswith("FARGATE"):
        _check_fargate(resources)
    else:
        _check_ec2(request, resources)
    _check_vcpus(resources)
    _check_network(request, resources)


def _check_fargate(resources: Mapping[str, Any]) -> None:
    for name, part in resources.items():
        if part and name not in _OF_FARGATE:
            raise refused(f"{name} is not applicable for Fargate.")
    if not resources.get("securityGroupIds"):
        raise refused("Security groups is required for Fargate.")
    for name, (most, words) in _MOST_ON_FARGATE.items():
        if len(resources.get(name) or []) > most:
            raise refused(f"Fargate supports a maximum of {most} {words}.")


def _check_ec2(request: Request, resources: Mapping[str, Any]) -> None:
    # AWS's error messages, from getmoto/moto#6470.
    if not resources.get("instanceRole"):
        raise refused("Instance role is required.")
    if resources.get("minvCpus") is None:
        raise refused("Resource minvCpus is required.")
    if not resources.get("instanceTypes"):
        raise refused("Resource instanceTypes are required.")
    check_instance_types(resources["instanceTypes"])
    _check_strategy(resources)
    _check_template(request, resources)
    _check_images(resources)


def _check_strategy(resources: Mapping[str, Any]) -> None:
    kind, strategy = resources["type"], resources.get("allocationStrategy") or "BEST_FIT"
    of_spot = strategy.startswith("SPOT")
    if of_spot != (kind == "SPOT") and (of_spot or strategy.endswith("_ORDERED")):
        where = "Spot Instance" if of_spot else "On-Demand Instance (EC2)"
        raise refused(f"Allocation strategy {strategy} is only available for {where} compute resources")
    if kind == "SPOT" and strategy == "BEST_FIT" and not resources.get("spotIamFleetRole"):
        raise refused("compute resource spotIamFleetRole is required.")
    bundles = strategy.endswith(("_ORDERED", "_PRIORITIZED")) and BUNDLES.keys() & {
        *resources["instanceTypes"]
    }
    if bundles:
        raise refused(
            f"Instance type bundles (e.g. optimal, default_x86_64) are not allowed for {strategy} allocation strategy. "
            "Specify instance families or types directly."
        )


def _check_vcpus(resources: Mapping[str, Any]) -> None:
    least, most = resources.get("minvCpus") or 0, resources.get("maxvCpus")
    if most is None:
        raise refused("Resource maxvCpus is required.")
    if least > most:
        raise refused("maxvCpus should be greater than or equal to minvCpus.")
    desired = resources.get("desiredvCpus")
    if desired is not None and not least <= desired <= most:
        raise refused("desiredvCpus should be between minvCpus and maxvCpus.")


# Launch templates


def launch_template_data(request: Request, specification: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the data of the launch template that compute resources refer to.

    Raises:
        ServiceError: If there is none, or it is named by ID and by name.
    """
    if bool(specification.get("launchTemplateId")) == bool(specification.get("launchTemplateName")):
        raise refused(
            "You must specify either the launch template ID or launch template name in the request, but not both."
        )
    keys = ("launchTemplateId", "launchTemplateName", "version")
    wanted = {f"{key[0].upper()}{key[1:]}": specification[key] for key in keys if specification.get(key)}
    try:
        return template_data(request.region, wanted)
    except ServiceError as error:
        raise refused(str(error.message)) from None


def _check_template(request: Request, resources: Mapping[str, Any]) -> None:
    specification = resources.get("launchTemplate") or {}
    data = launch_template_data(request, specification) if specification else {}
    groups = resources.get("securityGroupIds")
    if groups and data.get("NetworkInterfaces"):  # AWS's error message, from aws/aws-cdk#21577
        raise refused(
            "Either compute environment Security Groups or Network Interfaces in Launch template are exclusively allowed."
        )
    if not (groups or data.get("NetworkInterfaces") or data.get("SecurityGroupIds")):
        raise refused("Security group ids are required.")
    taken: list[str] = []
    for override in specification.get("overrides") or []:
        launch_template_data(request, override)
        targets = override.get("targetInstanceTypes") or []
        if not targets:
            raise refused("LaunchTemplate.overrides.targetInstanceTypes[] is required")
        check_instance_types(targets)
        for target in targets:
            if target in BUNDLES:
                raise refused(f"targetInstanceTypes: {target} is not allowed")
            if not _covers(resources["instanceTypes"], target):
                raise refused("LaunchTemplate.overrides have targetInstanceTypes that do not match")
            if any(_overlap(target, other) for other in taken):
                raise refused("LaunchTemplate.overrides have duplicate targetInstanceTypes")
            taken.append(target)


def _covers(types: list[str], target: str) -> bool:
    return any(one in {target, family_of(target)} or family_of(one) == target for one in types)


def _overlap(one: str, other: str) -> bool:
    return one == other or other == family_of(one) or one == family_of(other)


def _check_images(resources: Mapping[str, Any]) -> None:
    for image in resources.get("ec2Configuration") or []:
        if image["imageType"] not in _IMAGE_TYPES and not image.get("imageIdOverride"):
            raise refused("Invalid imageType in ComputeResources.ec2Configuration")
        if image.get("imageKubernetesVersion"):
            raise refused("imageKubernetesVersion is only applicable for EKS compute environments")


# Network


def _check_network(request: Request, resources: Mapping[str, Any]) -> None:
    backend = ec2_backends[request.account][request.region]
    wanted = resources.get("subnets") or []
    if not wanted:
        raise refused("Subnets is required.")
    subnets = {subnet_id: zone[subnet_id] for zone in backend.subnets.values() for subnet_id in zone}
    for subnet_id in wanted:
        if subnet_id not in subnets:  # EC2's message
            raise refused(f"The subnet ID '{subnet_id}' does not exist")
    networks = {subnets[subnet_id].vpc_id for subnet_id in wanted}
    if len(networks) > 1:
        raise refused("Subnets must be within the same VPC")
    for group_id in resources.get("securityGroupIds") or []:
        group = backend.get_security_group_from_id(group_id)
        if group is None:  # EC2's message
            raise refused(f"The security group '{group_id}' does not exist")
        if group.vpc_id not in networks:  # EC2's message
            raise refused(f"Security group {group_id} and subnet {wanted[0]} belong to different networks.")
