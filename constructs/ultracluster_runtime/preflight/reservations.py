"""Checks of reservations: that each exists, and is what the rollout takes it for."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from ultracluster_runtime.preflight.check import (
    REGION_IS_ENABLED,
    AnyCheck,
    Check,
    Outcome,
    failed,
    passed,
    skipped,
    warned,
)
from ultracluster_runtime.preflight.reads import Reads
from ultracluster_runtime.preflight.requirements import RolloutNeeds, SourceNeeds

__all__ = ["RESERVATION_CHECKS", "judge_count", "judge_state", "judge_window"]

Shown = Mapping[str, Any]

_DESCRIBE: Final = "ec2:DescribeCapacityReservations"
_EXISTS: Final = "UC9422"
# The size of a block that has not started: EC2 shows it as a tag until then (EC2 User Guide, viewing Capacity Blocks).
_PURCHASED: Final = "aws:ec2capacityreservation:incrementalRequestedQuantity"
_LINUX: Final = "Linux/UNIX"
_USABLE: Final = frozenset({"active", "scheduled"})
_ON_THE_WAY: Final = frozenset({"assessing", "delayed", "payment-pending", "pending"})
_SOON: Final = timedelta(hours=12)


def _reserved(rollout: RolloutNeeds) -> Iterator[SourceNeeds]:
    for cluster in rollout.clusters:
        yield from (source for source in cluster.sources if source.reservation_id is not None)


def _find(reads: Reads, needs: SourceNeeds) -> Shown | None:
    answer = reads.find(
        "ec2",
        needs.region,
        "DescribeCapacityReservations",
        absent=("InvalidCapacityReservationId.NotFound",),
        CapacityReservationIds=[needs.reservation_id],
    )
    return next(iter(answer["CapacityReservations"]), None) if answer else None


def _shown(reads: Reads, needs: SourceNeeds) -> Shown:
    return _find(reads, needs) or {}


def _judge_exists(needs: SourceNeeds, shown: Shown | None) -> Outcome:
    """Whether the account sees the reservation."""
    if shown is None:
        return failed(
            f"{needs.region} shows this account no reservation {needs.reservation_id}",
            "Look for it in other Regions and accounts: `aws ec2 describe-capacity-reservations`",
        )
    return passed(f"{needs.reservation_id} is {shown['State']}")


def _judge_zone(needs: SourceNeeds, shown: Shown) -> Outcome:
    """Whether it is in the zone of the cluster, by zone id."""
    got = shown.get("AvailabilityZoneId", "")
    if got == needs.zone_id:
        return passed(f"it is in {got}")
    return failed(
        f"it is in {got or 'an unknown zone'}; the cluster in {needs.zone_id}", f"Set zone_id: {got}"
    )


def _judge_type(needs: SourceNeeds, shown: Shown) -> Outcome:
    """Whether it is of the type of the nodes."""
    got = shown.get("InstanceType", "")
    if got == needs.instance_type:
        return passed(f"it is of {got}")
    return failed(f"it is of {got}; the nodes are {needs.instance_type}", f"Set instance_type: {got}")


def _judge_platform(_: SourceNeeds, shown: Shown) -> Outcome:
    """Whether it is for the platform of the AMIs of nodes."""
    got = shown.get("InstancePlatform", "")
    if got == _LINUX:
        return passed(f"it is for {got}")
    return failed(
        f"it is for {got}; the AMIs of nodes are {_LINUX}, and EC2 compares the two", f"Use one for {_LINUX}"
    )


def judge_count(needs: SourceNeeds, shown: Shown) -> Outcome:
    """Whether it holds all nodes, and whether others use it."""
    tags = {tag["Key"]: tag["Value"] for tag in shown.get("Tags", [])}
    total = int(shown.get("TotalInstanceCount", 0))
    if shown.get("State") == "scheduled" and tags.get(_PURCHASED, "").isdecimal():
        total = max(total, int(tags[_PURCHASED]))
    if total < needs.nodes:
        return failed(
            f"it holds {total} instances; the cluster takes {needs.nodes}",
            f"Set nodes: {total}, or extend what is reserved",
        )
    if total > needs.nodes:
        return warned(
            f"it holds {total} instances; the cluster takes {needs.nodes}: {total - needs.nodes} are paid and idle",
            f"Set nodes: {total}, unless another cluster uses the rest",
        )
    return passed(f"it holds {total} instances, as many as the cluster takes")


def _judge_free(needs: SourceNeeds, shown: Shown) -> Outcome:
    """Whether its instances are there to be used."""
    if shown.get("State") != "active":
        return skipped(f"it is {shown.get('State')}, so that nothing can be in use")
    free, total = int(shown.get("AvailableInstanceCount", 0)), int(shown.get("TotalInstanceCount", 0))
    if free >= needs.nodes:
        return passed(f"{free} of {total} instances are free")
    return warned(
        f"{free} of {total} instances are free; the cluster takes {needs.nodes}",
        "If they are not nodes of this cluster, find who uses them: `aws ec2 describe-instances --filters "
        f"Name=capacity-reservation-id,Values={needs.reservation_id} --region {needs.region}`",
    )


def judge_state(_: SourceNeeds, shown: Shown) -> Outcome:
    """Whether it can be used, now or from its start."""
    state = shown.get("State", "")
    if state in _USABLE:
        return passed(f"it is {state}")
    if state in _ON_THE_WAY:
        return warned(
            f"it is {state}", "Nodes can be launched once it is active; look again before you submit jobs"
        )
    return failed(f"it is {state}", "Use one that is active or scheduled; buy another one if there is none")


def judge_window(needs: SourceNeeds, seen: tuple[Shown, datetime]) -> Outcome:
    """Whether the capacity is there at the times that the rollout says, and for how long."""
    shown, now = seen
    start, end = shown.get("StartDate"), shown.get("EndDate")
    for name, said, got in (("start", needs.start, start), ("end", needs.end, end)):
        if said is not None and got is not None and abs(said - got) >= timedelta(minutes=1):
            return failed(
                f"its {name} is {_text(got)}; the rollout says {_text(said)}, and jobs are told and drained by that",
                f'Set {name}: "{_text(got)}"',
            )
    if end is None:
        return passed("it has no end")
    if end <= now:
        return failed(f"it ended at {_text(end)}", "Use one that has not ended")
    if end - now < _SOON:
        return warned(f"it ends at {_text(end)}, in {_hours(end - now)}", "Extend it, or expect short runs")
    begins = f"starts in {_hours(start - now)}" if start is not None and start > now else "has started"
    return passed(f"it {begins} and ends at {_text(end)}, in {_hours(end - now)}")


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%MZ")


def _hours(span: timedelta) -> str:
    return f"{span / timedelta(hours=1):,.1f} h"


def _judge_tenancy(_: SourceNeeds, shown: Shown) -> Outcome:
    """Whether nodes of AWS Batch, which have the default tenancy, can use it."""
    got = shown.get("Tenancy", "default")
    if got == "default":
        return passed("its tenancy is default")
    return failed(f"its tenancy is {got}; nodes have the default one", "Use one of default tenancy")


def _judge_owner(_: SourceNeeds, seen: tuple[Shown, str]) -> Outcome:
    """Whether it is of this account: one that is shared can be taken back, and cannot be extended from here."""
    shown, account = seen
    owner = shown.get("OwnerId", "")
    if owner == account:
        return passed(f"it is of {owner}, as the credentials")
    return warned(
        f"it is of {owner} and shared with {account}",
        "The owner alone extends it and may end the sharing: agree on both before the run",
    )


def _judge_kind(needs: SourceNeeds, shown: Shown) -> Outcome:
    """Whether it is bought in the way that the rollout says: the market type of the launch depends on it."""
    got = "capacity-block" if shown.get("ReservationType") == "capacity-block" else "on-demand"
    name = {"capacity-block": "a Capacity Block", "on-demand": "an On-Demand Capacity Reservation"}[got]
    if got == needs.market_type:
        return passed(f"it is {name}")
    return failed(f"it is {name}; the rollout says {needs.market_type}", f"Set market_type: {got}")


def _judge_group(needs: SourceNeeds, shown: Shown) -> Outcome:
    """Whether nodes are launched into the placement group that it was made inside."""
    got = shown.get("PlacementGroupArn", "").partition(":placement-group/")[2] or None
    if got == needs.placement_group:
        return passed(f"it was made inside {got or 'no placement group'}, as the rollout says")
    remedy = f"Set placement_group: {got}" if got else "Take placement_group out"
    said = needs.placement_group or "none"
    return failed(f"it was made inside {got or 'no placement group'}; the rollout says {said}", remedy)


def _with_now(reads: Reads, needs: SourceNeeds) -> tuple[Shown, datetime]:
    return _shown(reads, needs), reads.now


def _with_account(reads: Reads, needs: SourceNeeds) -> tuple[Shown, str]:
    return _shown(reads, needs), reads.ask("sts", needs.region, "GetCallerIdentity")["Account"]


def _check(
    code: str, judge: Callable[[SourceNeeds, Any], Outcome], gather: Any = _shown, *calls: str
) -> AnyCheck:
    return Check(
        code=code, calls=(_DESCRIBE, *calls), subjects=_reserved, gather=gather, judge=judge, after=(_EXISTS,)
    )


def _grouped(rollout: RolloutNeeds) -> Iterator[SourceNeeds]:
    for cluster in rollout.clusters:
        yield from (source for source in cluster.sources if source.resource_group_arn is not None)


def _members(reads: Reads, needs: SourceNeeds) -> list[Shown] | None:
    answer = reads.find(
        "resource-groups",
        needs.region,
        "ListGroupResources",
        absent=("NotFoundException",),
        Group=needs.resource_group_arn,
    )
    if answer is None:
        return None
    arns = [one["Identifier"]["ResourceArn"] for one in answer.get("Resources", [])]
    ids = [arn.rpartition("/")[2] for arn in arns if ":capacity-reservation/" in arn]
    if not ids:
        return []
    found: list[Shown] = reads.ask(
        "ec2", needs.region, "DescribeCapacityReservations", CapacityReservationIds=ids
    )["CapacityReservations"]
    return found


def _judge_members(needs: SourceNeeds, members: list[Shown] | None) -> Outcome:
    """Whether the reservations of the group hold the nodes."""
    if members is None:
        return failed(f"there is no resource group {needs.resource_group_arn}", "Make it, or correct the ARN")
    fit = [
        one
        for one in members
        if one.get("InstanceType") == needs.instance_type
        and one.get("AvailabilityZoneId") == needs.zone_id
        and one.get("State") in _USABLE
    ]
    count = sum(int(one.get("TotalInstanceCount", 0)) for one in fit)
    seen = f"{len(fit)} of {len(members)} reservations are of {needs.instance_type} in {needs.zone_id} and usable; "
    seen += f"they hold {count} instances, the cluster takes {needs.nodes}"
    if count < needs.nodes:
        return failed(seen, "Add reservations to the group, or set max_nodes")
    return passed(seen)


RESERVATION_CHECKS: Final[tuple[AnyCheck, ...]] = (
    Check(
        code=_EXISTS,
        calls=(_DESCRIBE,),
        subjects=_reserved,
        gather=_find,
        judge=_judge_exists,
        after=(REGION_IS_ENABLED,),
    ),
    _check("UC9423", _judge_zone),
    _check("UC9424", _judge_type),
    _check("UC9425", _judge_platform),
    _check("UC9426", judge_count),
    _check("UC9427", judge_state),
    _check("UC9428", judge_window, _with_now),
    _check("UC9429", _judge_tenancy),
    _check("UC9430", _judge_owner, _with_account, "sts:GetCallerIdentity"),
    _check("UC9431", _judge_kind),
    _check("UC9432", _judge_group),
    _check("UC9433", _judge_free),
    Check(
        code="UC9434",
        calls=("resource-groups:ListGroupResources", _DESCRIBE),
        subjects=_grouped,
        gather=_members,
        judge=_judge_members,
        after=(REGION_IS_ENABLED,),
    ),
)
