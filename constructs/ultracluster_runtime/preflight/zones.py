"""Checks of the zone: that the account sees it, and that EC2 offers the type there."""

from typing import Any, Final

from ultracluster_runtime.preflight.check import (
    REGION_IS_ENABLED,
    AnyCheck,
    Check,
    Outcome,
    failed,
    passed,
    warned,
)
from ultracluster_runtime.preflight.reads import Reads
from ultracluster_runtime.preflight.requirements import ClusterNeeds

__all__ = ["ZONE_CHECKS"]


def _zones(reads: Reads, needs: ClusterNeeds) -> dict[str, Any]:
    # All of them, not a filter: the message shall say which there are.
    shown = reads.ask("ec2", needs.region, "DescribeAvailabilityZones", AllAvailabilityZones=True)
    return {zone["ZoneId"]: zone for zone in shown["AvailabilityZones"]}


def _judge_zone(needs: ClusterNeeds, zones: dict[str, Any]) -> Outcome:
    """Whether the account can launch into the zone."""
    zone = zones.get(needs.zone_id)
    if zone is None:
        return failed(
            f"{needs.region} shows this account no zone {needs.zone_id}; it has {', '.join(sorted(zones))}",
            "Take the zone id of the capacity: `aws ec2 describe-capacity-reservations`",
        )
    if zone.get("OptInStatus") == "not-opted-in":
        group = zone.get("GroupName", needs.zone_id)
        command = f"aws ec2 modify-availability-zone-group --group-name {group} --opt-in-status opted-in"
        return failed(f"{needs.zone_id} is not opted in", f"Opt in: `{command} --region {needs.region}`")
    if zone.get("State", "available") != "available":
        return failed(f"{needs.zone_id} is {zone['State']}", "Wait, or use another zone")
    return passed(f"{needs.zone_id} is {zone['ZoneName']} in this account")


def _offered(reads: Reads, needs: ClusterNeeds) -> list[str]:
    offered = reads.every(
        "ec2",
        needs.region,
        "DescribeInstanceTypeOfferings",
        "InstanceTypeOfferings",
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": [needs.instance_type]}],
    )
    return sorted(one["Location"] for one in offered)


def _judge_offered(needs: ClusterNeeds, zones: list[str]) -> Outcome:
    """Whether EC2 offers the type in the zone; Capacity Blocks are also sold where it is not listed."""
    if needs.zone_id in zones:
        return passed(f"{needs.instance_type} is offered in {', '.join(zones)}")
    seen = f"{needs.instance_type} is offered in {', '.join(zones) or 'no zone of ' + needs.region}"
    seen += f", not in {needs.zone_id}"
    if all(source.market_type == "capacity-block" for source in needs.sources):
        return warned(
            f"{seen}; Capacity Blocks are sold apart from these offerings",
            "See that the reservation is of this type and zone",
        )
    return failed(seen, "Use another zone or type")


ZONE_CHECKS: Final[tuple[AnyCheck, ...]] = (
    Check(
        code="UC9420",
        calls=("ec2:DescribeAvailabilityZones",),
        subjects=lambda rollout: rollout.clusters,
        gather=_zones,
        judge=_judge_zone,
        after=(REGION_IS_ENABLED,),
    ),
    Check(
        code="UC9421",
        calls=("ec2:DescribeInstanceTypeOfferings",),
        subjects=lambda rollout: rollout.clusters,
        gather=_offered,
        judge=_judge_offered,
        after=("UC9420",),
    ),
)
