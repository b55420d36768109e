"""Bring a group to its desired capacity: launches, terminations and replacements, with their activities and events.

Amazon EC2 Auto Scaling acts some time after a change; here it acts at once, and again while the clock is moved.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError
from moto.ec2.models import ec2_backends

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.running import running
from ultracluster_local.instance.state import regions_with_state
from ultracluster_local.services.auto_scaling.group import Activity, Group, Member, groups, notices
from ultracluster_local.services.auto_scaling.joining import join_cluster, leave_clusters
from ultracluster_local.services.ec2.launch_templates import template_data
from ultracluster_local.services.ec2.networks import subnets

__all__ = ["next_scaling", "scale", "terminate"]

_FIRST_RETRY = timedelta(minutes=1)
_LAST_RETRY = timedelta(minutes=16)
"""Bounds of the time between failed launches, which doubles; AWS publishes no figures."""
_HEALTH_CHECK = timedelta(minutes=1)
"""After which a terminated instance is noticed; AWS publishes no figure."""
_GONE = "an EC2 health check that indicated it had been terminated or stopped"
_PROTECTED = (
    "Could not scale to desired capacity because all remaining instances are protected from scale-in."
)
"""Both from the Amazon EC2 Auto Scaling User Guide (launch-template-capacity-blocks, ec2-auto-scaling-instance-protection), the
second with its status from aws-samples/aws-fault-injection-simulator-workshop#114 (2021-07-30).
"""


def scale(group: Group) -> None:
    """Replace missing and unhealthy instances, then launch or terminate until the desired capacity is reached or a launch fails."""
    replaced = not group.suspends("ReplaceUnhealthy") and not group.suspends("HealthCheck")
    for member in list(group.members) if replaced else ():
        if not _runs(group.region, member):
            _forget(group, member)
            _ended(group, member, _GONE)
        elif not member.healthy:
            # Protection from scaling in does not protect from replacement.
            terminate(group, member, "a user health-check")
    surplus = len(group.members) - group.desired
    if surplus > 0 and not group.suspends("Terminate"):
        _scale_in(group, surplus)
    while len(group.members) < group.desired and not group.suspends("Launch"):
        if not _launch(group):
            return
    group.failures, group.retry_at = 0, None


def _scale_in(group: Group, surplus: int) -> None:
    free = [one for one in group.members if not one.protected]
    for member in free[:surplus]:
        terminate(group, member, "a difference between desired and actual capacity")
    if len(free) < surplus and (not group.activities or group.activities[0].message != _PROTECTED):
        cause = f"the desired capacity was {group.desired}."
        group.tell(_PROTECTED, cause, code="Cancelled", message=_PROTECTED)


def _runs(region: str, member: Member) -> bool:
    instance = ec2_backends[ACCOUNT][region].get_instance_by_id(member.instance_id)
    return instance is not None and instance.state in {"pending", "running"}


# Launches


def _launch(group: Group) -> bool:
    template = group.settings["LaunchTemplate"]
    before, places = len(group.members), str(group.settings["VPCZoneIdentifier"]).split(",")
    subnet = places[before % len(places)]
    zone = subnets(group.region)[subnet].availability_zone
    details = json.dumps({"Subnet ID": subnet, "Availability Zone": zone})
    cause = (
        "an instance was started in response to a difference between desired and actual capacity, increasing the "
        f"capacity from {before} to {before + 1}."
    )
    try:
        launched = _run_instance(group, template, subnet)
    except ClientError as error:
        message = f"{error.response['Error']['Message']} Launching EC2 instance failed."
        description = f"Launching a new EC2 instance.  Status Reason: {message}"
        failed = group.tell(description, cause, code="Failed", message=message, details=details)
        group.retry_at = CLOCK.now() + min(_FIRST_RETRY * 2 ** min(group.failures, 10), _LAST_RETRY)
        group.failures += 1
        _send(group, "EC2 Instance Launch Unsuccessful", failed, "")
        return False
    names = ("LaunchTemplateId", "LaunchTemplateName", "Version")
    member = Member(
        instance_id=launched["InstanceId"],
        instance_type=launched["InstanceType"],
        zone=zone,
        template={key: template[key] for key in names if key in template},
        protected=bool(group.settings.get("NewInstancesProtectedFromScaleIn")),
    )
    group.members.append(member)
    activity = group.tell(f"Launching a new EC2 instance: {member.instance_id}", cause, details=details)
    join_cluster(group.region, member.instance_id, template_data(group.region, template))
    _send(group, "EC2 Instance Launch Successful", activity, member.instance_id)
    return True


def _run_instance(group: Group, template: Mapping[str, str], subnet: str) -> Mapping[str, Any]:
    data = template_data(group.region, template)
    place: dict[str, Any] = {"SubnetId": subnet}
    if data.get("NetworkInterfaces"):
        place = {"NetworkInterfaces": [{**one, "SubnetId": subnet} for one in data["NetworkInterfaces"]]}
    specification = group.settings.get("CapacityReservationSpecification") or {}
    targets = (specification.get("CapacityReservationTarget") or {}).get("CapacityReservationIds") or []
    if targets:  # the group's target overrides the template's
        place["CapacityReservationSpecification"] = {
            "CapacityReservationTarget": {"CapacityReservationId": targets[0]}
        }
    wanted = {
        "LaunchTemplateId": template["LaunchTemplateId"],
        "Version": str(template.get("Version", "$Default")),
    }
    client = running().clients.get("ec2", group.region)
    answer = client.run_instances(LaunchTemplate=wanted, MinCount=1, MaxCount=1, **place)
    launched: Mapping[str, Any] = answer["Instances"][0]
    own = {one["Key"]: one.get("Value", "") for one in group.tags if one.get("PropagateAtLaunch")}
    backend = ec2_backends[ACCOUNT][group.region]
    backend.create_tags([launched["InstanceId"]], {**own, "aws:autoscaling:groupName": group.name})
    return launched


# Terminations


def terminate(group: Group, member: Member, why: str) -> Activity:
    """Terminate an instance, and return the activity.

    Args:
        group: Group.
        member: Its instance.
        why: To what it is a response.
    """
    ended = _ended(group, member, why)
    # Protection is from users: AWSEC2/latest/UserGuide/Using_ChangingDisableAPITermination.html
    instance = ec2_backends[ACCOUNT][group.region].get_instance(member.instance_id)
    instance.disable_api_stop = instance.disable_api_termination = False
    running().clients.get("ec2", group.region).terminate_instances(InstanceIds=[member.instance_id])
    _forget(group, member)
    _send(group, "EC2 Instance Terminate Successful", ended, member.instance_id)
    return ended


def _ended(group: Group, member: Member, why: str) -> Activity:
    cause = f"an instance was taken out of service in response to {why}."
    details = json.dumps({"Availability Zone": member.zone})
    return group.tell(f"Terminating EC2 instance: {member.instance_id}", cause, details=details)


def _forget(group: Group, member: Member) -> None:
    group.members.remove(member)
    leave_clusters(group.region, member.instance_id)


# Events and time


def _send(group: Group, name: str, activity: Activity, instance_id: str) -> None:
    shown = activity.shown()
    times = {key: shown.pop(key).strftime("%Y-%m-%dT%H:%M:%SZ") for key in ("StartTime", "EndTime")}
    detail = {**shown, **times, "RequestId": shown["ActivityId"], "EC2InstanceId": instance_id}
    detail["Details"] = json.loads(activity.details)
    notices(group.region).append({"detail_type": name, "detail": detail, "resources": [group.arn]})


def next_scaling(after: datetime) -> tuple[datetime, list[Callable[[], None]]] | None:
    """Return the next time after a given one at which groups act by themselves, and their actions; None if there is none."""
    coming = [(when, group) for when, group in _due(after) if when > after]
    if not coming:
        return None
    moment = min(when for when, _ in coming)
    return moment, [lambda group=group: scale(group) for when, group in coming if when == moment]  # type: ignore[misc]


def _due(after: datetime) -> Iterator[tuple[datetime, Group]]:
    for region in regions_with_state("autoscaling:groups"):
        for group in list(groups(region).values()):
            if any(not _runs(region, member) for member in group.members):
                yield after + _HEALTH_CHECK, group
            if group.retry_at is not None:
                yield max(group.retry_at, after + timedelta(microseconds=1)), group
