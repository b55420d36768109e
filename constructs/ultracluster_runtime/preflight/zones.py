"""Checks of zones: visible to the account, and offering the instance type."""

from functools import partial
from typing import Any, Final

from ultracluster_runtime.preflight.check import ZONE_IS_VISIBLE, Outcome, check, failed, passed, warned
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.requirements import ClusterRequirements

_cluster_check: Final = partial(check, subjects=lambda rollout: rollout.clusters)


def zones_of(reader: AwsReader, region: str) -> dict[str, Any]:
    """Return all zones of a Region by their ID, without a filter, so that a message can list them."""
    description = reader.call("ec2:DescribeAvailabilityZones", region, AllAvailabilityZones=True)
    return {zone["ZoneId"]: zone for zone in description["AvailabilityZones"]}


@_cluster_check(
    ZONE_IS_VISIBLE,
    lambda reader, requirements: zones_of(reader, requirements.region),
    "ec2:DescribeAvailabilityZones",
)
def _check_zone(requirements: ClusterRequirements, zones: dict[str, Any]) -> Outcome:
    zone = zones.get(requirements.zone_id)
    if zone is None:
        return failed(
            f"{requirements.region} has no zone {requirements.zone_id} in this account; it has {', '.join(sorted(zones))}",
            "Use the zone ID of the capacity: `aws ec2 describe-capacity-reservations`",
        )
    if zone.get("OptInStatus") == "not-opted-in":
        group = zone.get("GroupName", requirements.zone_id)
        command = f"aws ec2 modify-availability-zone-group --group-name {group} --opt-in-status opted-in"
        return failed(
            f"{requirements.zone_id} is not opted in", f"Opt in: `{command} --region {requirements.region}`"
        )
    if zone.get("State", "available") != "available":
        return failed(f"{requirements.zone_id} is {zone['State']}", "Wait, or use another zone")
    return passed(f"{requirements.zone_id} is {zone['ZoneName']} in this account")


def _offered(reader: AwsReader, requirements: ClusterRequirements) -> list[str]:
    offered = reader.list_all(
        "ec2:DescribeInstanceTypeOfferings",
        requirements.region,
        "InstanceTypeOfferings",
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": [requirements.instance_type]}],
    )
    return sorted(offering["Location"] for offering in offered)


@_cluster_check("UC9421", _offered, "ec2:DescribeInstanceTypeOfferings", after=(ZONE_IS_VISIBLE,))
def _check_offered(requirements: ClusterRequirements, zones: list[str]) -> Outcome:
    """Check that EC2 offers the type in the zone; Capacity Blocks are also sold where it is not listed."""
    if requirements.zone_id in zones:
        return passed(f"{requirements.instance_type} is offered in {', '.join(zones)}")
    evidence = f"{requirements.instance_type} is offered in {', '.join(zones) or 'no zone of ' + requirements.region}"
    evidence += f", not in {requirements.zone_id}"
    if all(source.capacity.market_type == "capacity-block" for source in requirements.sources):
        return warned(
            f"{evidence}; Capacity Blocks are sold independently of these offerings",
            "Check that the reservation has this type and zone",
        )
    return failed(evidence, "Use another zone or type")
