"""EC2 Auto Scaling groups: launch templates of the local AWS, and what AWS refuses of groups.

moto keeps the groups and their instances. A group that launches into a Capacity Block gets instances, but uses up nothing
of the block.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from moto.autoscaling.models import autoscaling_backends
from moto.ec2.models import EC2Backend
from moto.ec2.models.launch_templates import LaunchTemplate
from moto.ec2.utils import parse_user_data
from moto.iam.models import iam_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.ec2.launch_templates import launch_templates, template_data
from ultracluster_local.services.ec2.networks import network_of, subnets
from ultracluster_local.services.handlers import Request, ServiceError

__all__ = ["install"]

_check = Checks(service="autoscaling")

_UNFORMED = "You must use a valid fully-formed launch template."
_MIXED_MARKETS = {
    "spot": "request Spot Instances (InstanceMarketOptions)",
    "capacity-block": "use a Capacity Block (InstanceMarketOptions)",
}


def install() -> None:
    """Make moto's groups find the launch templates of the local AWS."""
    EC2Backend.get_launch_template = _found(EC2Backend.get_launch_template, "LaunchTemplateId")
    EC2Backend.get_launch_template_by_name = _found(
        EC2Backend.get_launch_template_by_name, "LaunchTemplateName"
    )
    EC2Backend._get_template_from_args = _version  # noqa: SLF001 - moto's run_instances has no other place


def _found(original: Callable[..., Any], key: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def get(backend: Any, wanted: str) -> Any:
        for kept in launch_templates(backend.region_name).values():
            if kept[key] == wanted:
                return _as_in_moto(backend, kept)
        return original(backend, wanted)

    return get


def _as_in_moto(backend: Any, kept: Mapping[str, Any]) -> LaunchTemplate:
    template = None
    for version in kept["Versions"]:
        data = dict(version["LaunchTemplateData"])
        data["SecurityGroups"] = data.get("SecurityGroupIds") or []
        if data.get("UserData"):
            data["UserData"] = parse_user_data(data["UserData"])
        description = version.get("VersionDescription", "")
        if template is None:
            template = LaunchTemplate(backend, kept["LaunchTemplateName"], data, description, {})
        else:
            template.create_version(data, description)
    assert template is not None  # noqa: S101 - a launch template has a version
    template.id = kept["LaunchTemplateId"]
    template.default_version_number = kept["DefaultVersionNumber"]
    return template


def _version(backend: Any, named: Mapping[str, Any]) -> Any:
    found = (
        backend.get_launch_template(named["LaunchTemplateId"])
        if named.get("LaunchTemplateId")
        else backend.get_launch_template_by_name(named["LaunchTemplateName"])
    )
    return found.get_version(named.get("Version") or "$Default")


def _wrong(message: str) -> ServiceError:
    return ServiceError("ValidationError", message)


@_check("CreateAutoScalingGroup")
def check_create_auto_scaling_group(request: Request) -> None:
    """Refuse a group that exists."""
    name = request.parameters["AutoScalingGroupName"]
    if name in autoscaling_backends[ACCOUNT][request.region].autoscaling_groups:
        problem = (
            f"AutoScalingGroup by this name already exists - A group with the name {name} already exists"
        )
        raise ServiceError("AlreadyExists", problem)


@_check("CreateAutoScalingGroup", "UpdateAutoScalingGroup")
def check_group(request: Request) -> None:
    """Refuse sizes that contradict each other, and launch templates that a group cannot use.

    The words are those of https://docs.aws.amazon.com/autoscaling/ec2/userguide/create-launch-template.html (read 2026-11-22)
    and of issues: traveloka/terraform-aws-autoscaling#38, hashicorp/terraform-provider-aws#4769.
    """
    given = request.parameters
    kept = autoscaling_backends[ACCOUNT][request.region].autoscaling_groups.get(given["AutoScalingGroupName"])
    least = int(given.get("MinSize", getattr(kept, "min_size", 0)))
    most = int(given.get("MaxSize", getattr(kept, "max_size", 0)))
    if least > most:
        raise _wrong(f"Max bound, {most}, must be greater than or equal to min bound, {least}")
    desired = given.get("DesiredCapacity")
    if desired is not None and not least <= int(desired) <= most:
        raise _wrong(
            f"Desired capacity:{desired} must be between the specified min size:{least} and max size:{most}"
        )
    mixed = (given.get("MixedInstancesPolicy") or {}).get("LaunchTemplate") or {}
    specification = given.get("LaunchTemplate") or mixed.get("LaunchTemplateSpecification")
    if specification:
        _check_template(request, template_data(request.region, specification), mixed=bool(mixed))


def _check_template(request: Request, data: Mapping[str, Any], *, mixed: bool) -> None:
    market = (data.get("InstanceMarketOptions") or {}).get("MarketType", "")
    if mixed and market in _MIXED_MARKETS:
        raise _wrong(
            f"Incompatible launch template: You cannot use a launch template that is set to {_MIXED_MARKETS[market]} when "
            "you configure an Auto Scaling group with a mixed instances policy."
        )
    if (data.get("Placement") or {}).get("HostId"):
        raise _wrong("Incompatible launch template: Tenancy host ID is not supported for Auto Scaling.")
    if data.get("NetworkInterfaces") and (data.get("SecurityGroupIds") or data.get("SecurityGroups")):
        problem = "When a network interface is provided, the security groups must be a part of it."
        raise ServiceError("InvalidQueryParameter", f"Invalid launch template: {problem}")
    profile = data.get("IamInstanceProfile") or {}
    name = profile.get("Name") or str(profile.get("Arn", "")).rsplit("/", 1)[-1]
    if name and all(one.name != name for one in iam_backends[ACCOUNT]["aws"].instance_profiles.values()):
        key = "name" if profile.get("Name") else "arn"
        problem = f"Value ({profile.get('Name') or profile['Arn']}) for parameter iamInstanceProfile.{key} is invalid."
        raise _wrong(f"{_UNFORMED} {problem} Invalid IAM Instance Profile {key if key == 'name' else 'ARN'}")
    _check_places(request, data, market)


def _check_places(request: Request, data: Mapping[str, Any], market: str) -> None:
    wanted = [one for one in (request.parameters.get("VPCZoneIdentifier") or "").split(",") if one]
    known = subnets(request.region)
    networks = {known[one].vpc_id for one in wanted if one in known}
    zones = {known[one].availability_zone for one in wanted if one in known}
    if market == "capacity-block" and len(zones) > 1:
        # https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-template-capacity-blocks.html
        raise _wrong("A group that uses a Capacity Block must be in the Availability Zone of the block only.")
    groups = [*(data.get("SecurityGroupIds") or [])]
    for one in data.get("NetworkInterfaces") or []:
        groups += one.get("Groups") or []
    from_network = {group: network_of(request.region, group) for group in groups}
    if networks and any(place is not None and place not in networks for place in from_network.values()):
        raise _wrong(
            "One or more security groups in the launch template are not linked to the VPCs configured in the Auto Scaling "
            "group"
        )


@_check("DeleteAutoScalingGroup")
def check_delete_auto_scaling_group(request: Request) -> None:
    """Refuse a group that has instances, unless it is deleted with them."""
    groups = autoscaling_backends[ACCOUNT][request.region].autoscaling_groups
    group = groups.get(request.parameters["AutoScalingGroupName"])
    if group is not None and group.instance_states and not request.parameters.get("ForceDelete"):
        problem = "while there are instances or pending Spot instance request(s) still in the group."
        raise ServiceError("ResourceInUse", f"You cannot delete an AutoScalingGroup {problem}")
