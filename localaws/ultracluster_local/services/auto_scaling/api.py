"""API operations of Amazon EC2 Auto Scaling, in place of moto's, which launch without launch templates and reservations.

Refusals are those of the API reference and the user guide; a message without a source nearby is AWS's answer in issues and logs of
the tools that manage groups (hashicorp/terraform-provider-aws, eksctl-io/eksctl, fog/fog-aws).
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from ultracluster_local.services.auto_scaling.group import Group, Member, find_group, groups, invalid
from ultracluster_local.services.auto_scaling.scaling import scale, terminate
from ultracluster_local.services.ec2.launch_templates import launch_templates, template_data
from ultracluster_local.services.ec2.networks import subnets
from ultracluster_local.services.ec2.placement_groups import placement_groups
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, page

__all__ = ["handlers"]

handlers = Handlers(service="autoscaling")

_SIZES = ("MinSize", "MaxSize", "DesiredCapacity")
_MOST_SPREAD = 100
_UNCHANGED_BY_UPDATE = frozenset({"AutoScalingGroupName", *_SIZES, "Tags"})


# Groups


@handlers("CreateAutoScalingGroup")
def create_auto_scaling_group(request: Request) -> Mapping[str, Any]:
    """Create a group and launch its instances."""
    given = copy.deepcopy(dict(request.parameters))
    name = given["AutoScalingGroupName"]
    if name in groups(request.region):
        problem = (
            f"AutoScalingGroup by this name already exists - A group with the name {name} already exists"
        )
        raise ServiceError("AlreadyExists", problem)
    least, most = int(given["MinSize"]), int(given["MaxSize"])
    desired = int(given.get("DesiredCapacity", least))
    _check_sizes(least, most, desired)
    _check_source(request, given)
    _check_subnets(request, given)
    _check_settings(request, given)
    if given.get("LifecycleHookSpecificationList"):
        raise invalid("The local AWS does not simulate lifecycle hooks: LifecycleHookSpecificationList")
    group = Group(
        region=request.region,
        arn=request.arn("autoscaling", f"autoScalingGroup::autoScalingGroupName/{name}"),
        settings={"ServiceLinkedRoleARN": f"arn:aws:iam::{request.account}:role/{_LINKED_ROLE}"}
        | {key: part for key, part in given.items() if key not in {*_SIZES, "Tags"}},
        least=least,
        most=most,
        desired=desired,
        tags=[_tag(name, one) for one in given.get("Tags", [])],
    )
    groups(request.region)[name] = group
    scale(group)
    return {}


_LINKED_ROLE = "aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"


def _tag(group: str, tag: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "ResourceId": group,
        "ResourceType": "auto-scaling-group",
        "PropagateAtLaunch": False,
        "Value": "",
        **tag,
    }


def _check_sizes(least: int, most: int, desired: int) -> None:
    if least > most:
        raise invalid(f"Max bound, {most}, must be greater than or equal to min bound, {least}")
    if not least <= desired <= most:
        raise invalid(
            f"Desired capacity:{desired} must be between the specified min size:{least} and max size:{most}"
        )


def _check_source(request: Request, given: dict[str, Any]) -> None:
    """Check what a group launches, and complete it as the API shows it."""
    sources = ("LaunchTemplate", "MixedInstancesPolicy", "LaunchConfigurationName", "InstanceId")
    named = [key for key in sources if given.get(key)]
    if len(named) != 1:
        raise invalid(
            "Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or MixedInstancesPolicy "
            "parameter."
        )
    if named == ["MixedInstancesPolicy"]:
        policy = given["MixedInstancesPolicy"]["LaunchTemplate"]["LaunchTemplateSpecification"]
        if _data(request, policy).get("InstanceMarketOptions"):
            # Auto Scaling guide, create-mixed-instances-group-manual-instance-type-selection; for Capacity Blocks the guide says that
            # it is not supported (capacity-reservation-create-asg-procedure), without the text of the error.
            raise invalid(
                "Incompatible launch template: You cannot use a launch template that is set to request Spot Instances "
                "(InstanceMarketOptions) when you configure an Auto Scaling group with a mixed instances policy. Add a different "
                "launch template to the group and try again."
            )
    if named != ["LaunchTemplate"]:
        raise invalid(f"The local AWS launches from a LaunchTemplate only, not from {named[0]}")
    wanted = given["LaunchTemplate"]
    _data(request, wanted)
    names = ("LaunchTemplateId", "LaunchTemplateName")
    for one in launch_templates(request.region).values():
        if any(wanted.get(name) == one[name] for name in names):
            given["LaunchTemplate"] = {**wanted, **{name: one[name] for name in names}}


def _data(request: Request, template: Mapping[str, Any]) -> Mapping[str, Any]:
    if bool(template.get("LaunchTemplateId")) == bool(template.get("LaunchTemplateName")):
        # hashicorp/terraform-provider-aws, autoscaling/group.go
        raise invalid("Valid requests must contain either launchTemplateId or LaunchTemplateName")
    try:
        return template_data(request.region, template)
    except ServiceError as error:
        raise invalid(f"You must use a valid fully-formed launch template. {error.message}") from error


def _check_subnets(request: Request, given: dict[str, Any]) -> None:
    named = [one for one in str(given.get("VPCZoneIdentifier") or "").split(",") if one]
    if not named:
        if not given.get("AvailabilityZones"):
            raise invalid("At least one Availability Zone or VPC Subnet is required.")
        zones = given["AvailabilityZones"]
        named = [
            one.id
            for one in subnets(request.region).values()
            if one.default_for_az and one.availability_zone in zones
        ]
        if not named:  # aws/aws-cdk#1660
            raise invalid("No default VPC for this user")
        given["VPCZoneIdentifier"] = ",".join(named)
    for one in named:
        if one not in subnets(request.region):
            raise invalid(f"The subnet ID '{one}' does not exist")
    given["AvailabilityZones"] = sorted({subnets(request.region)[one].availability_zone for one in named})


def _check_settings(request: Request, given: Mapping[str, Any]) -> None:
    """Refuse settings that the pages API_CreateAutoScalingGroup and API_InstanceMaintenancePolicy exclude together."""
    policy = given.get("InstanceMaintenancePolicy") or {}
    least, most = (policy.get(name) for name in ("MinHealthyPercentage", "MaxHealthyPercentage"))
    if policy and (least is None or most is None or (least != -1 and most - least > _MOST_SPREAD)):
        raise invalid(
            "MinHealthyPercentage and MaxHealthyPercentage must both be specified, and the difference between them cannot be "
            f"greater than {_MOST_SPREAD}"
        )
    group = placement_groups(request.region).get(given.get("PlacementGroup", ""))
    if group and group["Strategy"] == "cluster" and len(given.get("AvailabilityZones") or []) > 1:
        raise invalid("You cannot specify multiple Availability Zones and a cluster placement group")


@handlers("DescribeAutoScalingGroups")
def describe_auto_scaling_groups(request: Request) -> Mapping[str, Any]:
    """Describe all groups, or the named ones with the tags of all filters; unknown names are omitted."""
    wanted = request.parameters.get("AutoScalingGroupNames")
    filters = [(one["Name"], one["Values"]) for one in request.parameters.get("Filters") or ()]
    hidden = () if request.parameters.get("IncludeInstances", True) else ("Instances",)
    shown = [
        {key: part for key, part in one.shown().items() if key not in hidden}
        for name, one in groups(request.region).items()
        if (not wanted or name in wanted)
        and all(any(_has_tag(tag, kind, values) for tag in one.tags) for kind, values in filters)
    ]
    return page(shown, parameters=request.parameters, key="AutoScalingGroups")


def _has_tag(tag: Mapping[str, Any], kind: str, values: Sequence[str]) -> bool:
    if kind.startswith("tag:"):
        return bool(tag["Key"] == kind.removeprefix("tag:") and tag["Value"] in values)
    return tag["Key" if kind == "tag-key" else "Value"] in values


@handlers("UpdateAutoScalingGroup")
def update_auto_scaling_group(request: Request) -> Mapping[str, Any]:
    """Update a group; new bounds adjust a desired capacity that the request omits (API_UpdateAutoScalingGroup)."""
    given = copy.deepcopy(dict(request.parameters))
    if given["AutoScalingGroupName"] not in groups(request.region):
        raise invalid("AutoScalingGroup name not found - null")  # getmoto/moto, verified against AWS
    group = find_group(request.region, given["AutoScalingGroupName"])
    least, most = int(given.get("MinSize", group.least)), int(given.get("MaxSize", group.most))
    desired = int(given.get("DesiredCapacity", max(least, min(group.desired, most))))
    _check_sizes(least, most, desired)
    if given.get("LaunchTemplate") or given.get("MixedInstancesPolicy"):
        _check_source(request, given)
    if given.get("VPCZoneIdentifier"):
        _check_subnets(request, given)
    _check_settings(request, {**group.settings, **given})
    group.settings |= {key: part for key, part in given.items() if key not in _UNCHANGED_BY_UPDATE}
    group.least, group.most, group.desired = least, most, desired
    scale(group)
    return {}


@handlers("DeleteAutoScalingGroup")
def delete_auto_scaling_group(request: Request) -> Mapping[str, Any]:
    """Delete a group without instances, or by force with them."""
    group = find_group(request.region, request.parameters["AutoScalingGroupName"])
    if group.members and not request.parameters.get("ForceDelete"):
        rule = "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance request(s) still in the group."
        raise ServiceError("ResourceInUse", rule)
    group.least = group.most = group.desired = 0
    for member in list(group.members):
        terminate(group, member, "a deletion of its group")
    del groups(request.region)[group.name]
    return {}


@handlers("SetDesiredCapacity")
def set_desired_capacity(request: Request) -> Mapping[str, Any]:
    """Set the desired capacity."""
    group = find_group(request.region, request.parameters["AutoScalingGroupName"])
    desired = int(request.parameters["DesiredCapacity"])
    if not group.least <= desired <= group.most:
        bound = f"above max value {group.most}" if desired > group.most else f"below min value {group.least}"
        raise invalid(f"New SetDesiredCapacity value {desired} is {bound} for the AutoScalingGroup.")
    group.desired = desired
    scale(group)
    return {}


@handlers("DescribeScalingActivities")
def describe_scaling_activities(request: Request) -> Mapping[str, Any]:
    """Describe the scaling activities of a group, newest first."""
    wanted = request.parameters.get("AutoScalingGroupName")
    named = [find_group(request.region, wanted)] if wanted else list(groups(request.region).values())
    activities = sorted(
        (one for group in named for one in group.activities), key=lambda one: one.start, reverse=True
    )
    return page([one.shown() for one in activities], parameters=request.parameters, key="Activities")


# Tags


@handlers("CreateOrUpdateTags")
def create_or_update_tags(request: Request) -> Mapping[str, Any]:
    """Set tags of groups; instances that run keep theirs."""
    for tag in request.parameters["Tags"]:
        group = groups(request.region).get(tag["ResourceId"])
        if group is None:  # cloud-custodian/cloud-custodian#380
            raise invalid(f"AutoScalingGroup not found - AutoScaling Group {tag['ResourceId']} not found")
        group.tags = [one for one in group.tags if one["Key"] != tag["Key"]] + [_tag(group.name, tag)]
    return {}


@handlers("DeleteTags")
def delete_tags(request: Request) -> Mapping[str, Any]:
    """Remove tags of groups."""
    for tag in request.parameters["Tags"]:
        group = find_group(request.region, tag["ResourceId"])
        group.tags = [one for one in group.tags if one["Key"] != tag["Key"]]
    return {}


_TAG_FILTERS = {
    "auto-scaling-group": "ResourceId",
    "key": "Key",
    "value": "Value",
    "propagate-at-launch": "PropagateAtLaunch",
}
"""Members that filters of DescribeTags compare: API_Filter."""


@handlers("DescribeTags")
def describe_tags(request: Request) -> Mapping[str, Any]:
    """Describe the tags of groups."""
    found = [tag for group in groups(request.region).values() for tag in group.tags]
    for one in request.parameters.get("Filters") or []:
        values = {{"true": True, "false": False}.get(value, value) for value in one["Values"]}
        found = [tag for tag in found if tag[_TAG_FILTERS[one["Name"]]] in values]
    return page(found, parameters=request.parameters, key="Tags", default=50)


# Instances


def _member(request: Request, instance_id: str) -> tuple[Group, Member]:
    for group in groups(request.region).values():
        for member in group.members:
            if member.instance_id == instance_id:
                return group, member
    raise invalid(f"Instance Id not found - No managed instance found for instance ID {instance_id}")


@handlers("DescribeAutoScalingInstances")
def describe_auto_scaling_instances(request: Request) -> Mapping[str, Any]:
    """Describe the instances of all groups, or the named ones."""
    wanted = request.parameters.get("InstanceIds")
    shown = [
        {**one, "AutoScalingGroupName": group.name, "HealthStatus": one["HealthStatus"].upper()}
        for group in groups(request.region).values()
        for one in group.shown()["Instances"]
        if not wanted or one["InstanceId"] in wanted
    ]
    return page(shown, parameters=request.parameters, key="AutoScalingInstances", default=50)


@handlers("SetInstanceProtection")
def set_instance_protection(request: Request) -> Mapping[str, Any]:
    """Protect instances from scaling in, or stop protecting them."""
    given = request.parameters
    group = find_group(request.region, given["AutoScalingGroupName"])
    for member in [group.member(one) for one in given["InstanceIds"]]:
        member.protected = bool(given["ProtectedFromScaleIn"])
    scale(group)
    return {}


@handlers("SetInstanceHealth")
def set_instance_health(request: Request) -> Mapping[str, Any]:
    """Set the health of an instance; an unhealthy one is replaced."""
    group, member = _member(request, request.parameters["InstanceId"])
    member.healthy = request.parameters["HealthStatus"] == "Healthy"
    scale(group)
    return {}


@handlers("TerminateInstanceInAutoScalingGroup")
def terminate_instance_in_auto_scaling_group(request: Request) -> Mapping[str, Any]:
    """Terminate an instance, protected or not; it is replaced unless the desired capacity falls with it."""
    group, member = _member(request, request.parameters["InstanceId"])
    if request.parameters["ShouldDecrementDesiredCapacity"]:
        if group.desired - 1 < group.least:
            raise invalid(
                f"Currently, desiredSize equals minSize ({group.least}). Terminating instance without replacement will violate "
                "group's min size constraint. Either set shouldDecrementDesiredCapacity flag to false or lower group's min size."
            )
        group.desired -= 1
    activity = terminate(group, member, "a user request")
    scale(group)
    return {"Activity": activity.shown()}
