"""Launch templates that a group cannot use.

The words are those of https://docs.aws.amazon.com/autoscaling/ec2/userguide/create-launch-template.html (read 2026-11-22) and of
issues: traveloka/terraform-aws-autoscaling#38, hashicorp/terraform-provider-aws#4769.
"""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.auto_scaling.group import invalid
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.ec2.launch_templates import template_data
from ultracluster_local.services.ec2.launches import check_launch
from ultracluster_local.services.ec2.networks import network_of, subnets
from ultracluster_local.services.handlers import Request, ServiceError

__all__: list[str] = []

_check = Checks(service="autoscaling")

_UNFORMED = "You must use a valid fully-formed launch template."


@_check("CreateAutoScalingGroup", "UpdateAutoScalingGroup")
def check_group(request: Request) -> None:
    """Refuse the launch template of a group."""
    specification = request.parameters.get("LaunchTemplate")
    if not specification:
        return
    try:
        data = template_data(request.region, specification)
    except ServiceError:
        return  # the operation itself says so
    market = (data.get("InstanceMarketOptions") or {}).get("MarketType", "")
    if (data.get("Placement") or {}).get("HostId"):
        raise invalid("Incompatible launch template: Tenancy host ID is not supported for Auto Scaling.")
    if data.get("NetworkInterfaces") and (data.get("SecurityGroupIds") or data.get("SecurityGroups")):
        problem = "When a network interface is provided, the security groups must be a part of it."
        raise ServiceError("InvalidQueryParameter", f"Invalid launch template: {problem}")
    _check_places(request, data, market)
    try:
        # As a dry run of a launch would: the group itself says where, and a reservation is looked at later.
        check_launch(request, {**data, "MinCount": 1, "MaxCount": 1})
    except ServiceError as error:
        raise invalid(f"{_UNFORMED} {error.message}") from None


def _check_places(request: Request, data: Mapping[str, Any], market: str) -> None:
    wanted = [one for one in (request.parameters.get("VPCZoneIdentifier") or "").split(",") if one]
    known = subnets(request.region)
    networks = {known[one].vpc_id for one in wanted if one in known}
    zones = {known[one].availability_zone for one in wanted if one in known}
    if market == "capacity-block" and len(zones) > 1:
        # https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-template-capacity-blocks.html
        raise invalid(
            "A group that uses a Capacity Block must be in the Availability Zone of the block only."
        )
    groups = [*(data.get("SecurityGroupIds") or [])]
    for one in data.get("NetworkInterfaces") or []:
        groups += one.get("Groups") or []
    from_network = {group: network_of(request.region, group) for group in groups}
    if networks and any(place is not None and place not in networks for place in from_network.values()):
        raise invalid(
            "One or more security groups in the launch template are not linked to the VPCs configured in the Auto Scaling "
            "group"
        )
