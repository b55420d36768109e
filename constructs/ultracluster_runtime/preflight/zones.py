"""Checks of zones: visible to the account, and offering the instance type."""

from functools import partial
from typing import Any, Final

from ultracluster_runtime.preflight.check import ZONE_IS_VISIBLE, Outcome, check, failed, passed, warned
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.record import RuleRecord

_cluster_check: Final = partial(check, subjects=lambda account: account.clusters)


def zones_of(reader: AwsReader, region: str) -> dict[str, Any]:
    """Return all zones of a Region by their ID, without a filter, so that a message can list them."""
    description = reader.call("ec2:DescribeAvailabilityZones", region, AllAvailabilityZones=True)
    return {zone["ZoneId"]: zone for zone in description["AvailabilityZones"]}


@_cluster_check(ZONE_IS_VISIBLE, lambda reader, cluster: zones_of(reader, cluster.region))
def _check_zone(cluster: Cluster, zones: dict[str, Any]) -> Outcome:
    zone = zones.get(cluster.zone_id)
    if zone is None:
        return failed(
            f"{cluster.region} has no zone {cluster.zone_id} in this account; it has {', '.join(sorted(zones))}",
            "Use the zone ID of the capacity: `aws ec2 describe-capacity-reservations`",
        )
    if zone.get("OptInStatus") == "not-opted-in":
        group = zone.get("GroupName", cluster.zone_id)
        command = f"aws ec2 modify-availability-zone-group --group-name {group} --opt-in-status opted-in"
        return failed(f"{cluster.zone_id} is not opted in", f"Opt in: `{command} --region {cluster.region}`")
    if zone.get("State", "available") != "available":
        return failed(f"{cluster.zone_id} is {zone['State']}", "Wait, or use another zone")
    return passed(f"{cluster.zone_id} is {zone['ZoneName']} in this account")


def _zones_with_type(reader: AwsReader, cluster: Cluster) -> list[str]:
    offered = reader.list_all(
        "ec2:DescribeInstanceTypeOfferings",
        cluster.region,
        "InstanceTypeOfferings",
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": [cluster.instance_type]}],
    )
    return sorted(offering["Location"] for offering in offered)


@_cluster_check("UC9421", _zones_with_type, after=(ZONE_IS_VISIBLE,))
def _check_offered(cluster: Cluster, zones: list[str]) -> Outcome:
    """Check that EC2 offers the type in the zone; Capacity Blocks are also sold where it is not listed."""
    if cluster.zone_id in zones:
        return passed(f"{cluster.instance_type} is offered in {', '.join(zones)}")
    evidence = f"{cluster.instance_type} is offered in {', '.join(zones) or 'no zone of ' + cluster.region}"
    evidence += f", not in {cluster.zone_id}"
    if all(capacity.market_type == "capacity-block" for _, capacity in cluster.sources()):
        return warned(
            f"{evidence}; Capacity Blocks are sold independently of these offerings",
            "Check that the reservation has this type and zone",
        )
    return failed(evidence, "Use another zone or type")


RECORDS: Final = (
    RuleRecord(
        "UC9421",
        "EC2 offers the instance type in the zone.",
        remedy="Use another zone or type. Blocks are sold independently of these offerings; for them, this is only a warning.",
        source="botocore 1.44.5, EC2 DescribeInstanceTypeOfferings, 2026.",
    ),
)
