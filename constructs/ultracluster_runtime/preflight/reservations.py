"""Checks of reservations: that each exists, and is what the rollout takes it for."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from ultracluster_runtime.preflight.check import AnyCheck, Check, Outcome, failed, passed, skipped, warned
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.requirements import RolloutRequirements, SourceRequirements

__all__ = ["RESERVATION_CHECKS", "evaluate_count", "evaluate_state", "evaluate_window"]

Description = Mapping[str, Any]

_DESCRIBE: Final = "ec2:DescribeCapacityReservations"
_EXISTS: Final = "UC9422"
# The size of a block that has not started: EC2 shows it as a tag until then (EC2 User Guide, viewing Capacity Blocks).
_PURCHASED: Final = "aws:ec2capacityreservation:incrementalRequestedQuantity"
_LINUX: Final = "Linux/UNIX"
_USABLE: Final = frozenset({"active", "scheduled"})
_ON_THE_WAY: Final = frozenset({"assessing", "delayed", "payment-pending", "pending"})
_SOON: Final = timedelta(hours=12)


def _reserved(rollout: RolloutRequirements) -> Iterator[SourceRequirements]:
    for cluster in rollout.clusters:
        yield from (source for source in cluster.sources if source.reservation_id is not None)


def _find(reader: AwsReader, requirements: SourceRequirements) -> Description | None:
    response = reader.call_or_none(
        "ec2",
        requirements.region,
        "DescribeCapacityReservations",
        absent=("InvalidCapacityReservationId.NotFound",),
        CapacityReservationIds=[requirements.reservation_id],
    )
    return next(iter(response["CapacityReservations"]), None) if response else None


def _shown(reader: AwsReader, requirements: SourceRequirements) -> Description:
    return _find(reader, requirements) or {}


def _evaluate_exists(requirements: SourceRequirements, description: Description | None) -> Outcome:
    """Whether the account sees the reservation."""
    if description is None:
        return failed(
            f"{requirements.region} shows this account no reservation {requirements.reservation_id}",
            "Look for it in other Regions and accounts: `aws ec2 describe-capacity-reservations`",
        )
    return passed(f"{requirements.reservation_id} is {description['State']}")


def _evaluate_zone(requirements: SourceRequirements, description: Description) -> Outcome:
    """Whether it is in the zone of the cluster, by zone id."""
    got = description.get("AvailabilityZoneId", "")
    if got == requirements.zone_id:
        return passed(f"it is in {got}")
    return failed(
        f"it is in {got or 'an unknown zone'}; the cluster in {requirements.zone_id}", f"Set zone_id: {got}"
    )


def _evaluate_type(requirements: SourceRequirements, description: Description) -> Outcome:
    """Whether it is of the type of the nodes."""
    got = description.get("InstanceType", "")
    if got == requirements.instance_type:
        return passed(f"it is of {got}")
    return failed(f"it is of {got}; the nodes are {requirements.instance_type}", f"Set instance_type: {got}")


def _evaluate_platform(_: SourceRequirements, description: Description) -> Outcome:
    """Whether it is for the platform of the AMIs of nodes."""
    got = description.get("InstancePlatform", "")
    if got == _LINUX:
        return passed(f"it is for {got}")
    return failed(
        f"it is for {got}; the AMIs of nodes are {_LINUX}, and EC2 compares the two", f"Use one for {_LINUX}"
    )


def evaluate_count(requirements: SourceRequirements, description: Description) -> Outcome:
    """Whether it holds all nodes, and whether others use it."""
    tags = {tag["Key"]: tag["Value"] for tag in description.get("Tags", [])}
    total = int(description.get("TotalInstanceCount", 0))
    if description.get("State") == "scheduled" and tags.get(_PURCHASED, "").isdecimal():
        total = max(total, int(tags[_PURCHASED]))
    if total < requirements.nodes:
        return failed(
            f"it holds {total} instances; the cluster takes {requirements.nodes}",
            f"Set nodes: {total}, or extend what is reserved",
        )
    if total > requirements.nodes:
        return warned(
            f"it holds {total} instances; the cluster takes {requirements.nodes}: {total - requirements.nodes} are paid and idle",
            f"Set nodes: {total}, unless another cluster uses the rest",
        )
    return passed(f"it holds {total} instances, as many as the cluster takes")


def _evaluate_free(requirements: SourceRequirements, description: Description) -> Outcome:
    """Whether its instances are there to be used."""
    if description.get("State") != "active":
        return skipped(f"it is {description.get('State')}, so that nothing can be in use")
    free, total = int(description.get("AvailableInstanceCount", 0)), int(description.get("TotalInstanceCount", 0))
    if free >= requirements.nodes:
        return passed(f"{free} of {total} instances are free")
    return warned(
        f"{free} of {total} instances are free; the cluster takes {requirements.nodes}",
        "If they are not nodes of this cluster, find who uses them: `aws ec2 describe-instances --filters "
        f"Name=capacity-reservation-id,Values={requirements.reservation_id} --region {requirements.region}`",
    )


def evaluate_state(_: SourceRequirements, description: Description) -> Outcome:
    """Whether it can be used, now or from its start."""
    state = description.get("State", "")
    if state in _USABLE:
        return passed(f"it is {state}")
    if state in _ON_THE_WAY:
        return warned(
            f"it is {state}", "Nodes can be launched once it is active; look again before you submit jobs"
        )
    return failed(f"it is {state}", "Use one that is active or scheduled; buy another one if there is none")


def evaluate_window(requirements: SourceRequirements, evidence: tuple[Description, datetime]) -> Outcome:
    """Whether the capacity is there at the times that the rollout says, and for how long."""
    description, now = evidence
    start, end = description.get("StartDate"), description.get("EndDate")
    for name, expected, actual in (("start", requirements.start, start), ("end", requirements.end, end)):
        if expected is not None and actual is not None and abs(expected - actual) >= timedelta(minutes=1):
            return failed(
                f"its {name} is {_text(actual)}; the rollout says {_text(expected)}, and jobs are told and drained by that",
                f'Set {name}: "{_text(actual)}"',
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


def _evaluate_tenancy(_: SourceRequirements, description: Description) -> Outcome:
    """Whether nodes of AWS Batch, which have the default tenancy, can use it."""
    got = description.get("Tenancy", "default")
    if got == "default":
        return passed("its tenancy is default")
    return failed(f"its tenancy is {got}; nodes have the default one", "Use one of default tenancy")


def _evaluate_owner(_: SourceRequirements, evidence: tuple[Description, str]) -> Outcome:
    """Whether it is of this account: one that is shared can be taken back, and cannot be extended from here."""
    description, account = evidence
    owner = description.get("OwnerId", "")
    if owner == account:
        return passed(f"it is of {owner}, as the credentials")
    return warned(
        f"it is of {owner} and shared with {account}",
        "The owner alone extends it and may end the sharing: agree on both before the run",
    )


def _evaluate_kind(requirements: SourceRequirements, description: Description) -> Outcome:
    """Whether it is bought in the way that the rollout says: the market type of the launch depends on it."""
    got = "capacity-block" if description.get("ReservationType") == "capacity-block" else "on-demand"
    name = {"capacity-block": "a Capacity Block", "on-demand": "an On-Demand Capacity Reservation"}[got]
    if got == requirements.market_type:
        return passed(f"it is {name}")
    return failed(f"it is {name}; the rollout says {requirements.market_type}", f"Set market_type: {got}")


def _evaluate_group(requirements: SourceRequirements, description: Description) -> Outcome:
    """Whether nodes are launched into the placement group that it was made inside."""
    got = description.get("PlacementGroupArn", "").partition(":placement-group/")[2] or None
    if got == requirements.placement_group:
        return passed(f"it was made inside {got or 'no placement group'}, as the rollout says")
    remedy = f"Set placement_group: {got}" if got else "Take placement_group out"
    expected = requirements.placement_group or "none"
    return failed(f"it was made inside {got or 'no placement group'}; the rollout says {expected}", remedy)


def _with_now(reader: AwsReader, requirements: SourceRequirements) -> tuple[Description, datetime]:
    return _shown(reader, requirements), reader.now


def _with_account(reader: AwsReader, requirements: SourceRequirements) -> tuple[Description, str]:
    return _shown(reader, requirements), reader.call("sts", requirements.region, "GetCallerIdentity")["Account"]


def _check(
    code: str, evaluate: Callable[[SourceRequirements, Any], Outcome], gather: Any = _shown, *calls: str
) -> AnyCheck:
    return Check(
        code=code, calls=(_DESCRIBE, *calls), subjects=_reserved, gather=gather, evaluate=evaluate, after=(_EXISTS,)
    )


def _grouped(rollout: RolloutRequirements) -> Iterator[SourceRequirements]:
    for cluster in rollout.clusters:
        yield from (source for source in cluster.sources if source.resource_group_arn is not None)


def _members(reader: AwsReader, requirements: SourceRequirements) -> list[Description] | None:
    response = reader.call_or_none(
        "resource-groups",
        requirements.region,
        "ListGroupResources",
        absent=("NotFoundException",),
        Group=requirements.resource_group_arn,
    )
    if response is None:
        return None
    arns = [resource["Identifier"]["ResourceArn"] for resource in response.get("Resources", [])]
    ids = [arn.rpartition("/")[2] for arn in arns if ":capacity-reservation/" in arn]
    if not ids:
        return []
    reservations: list[Description] = reader.call(
        "ec2", requirements.region, "DescribeCapacityReservations", CapacityReservationIds=ids
    )["CapacityReservations"]
    return reservations


def _evaluate_members(requirements: SourceRequirements, members: list[Description] | None) -> Outcome:
    """Whether the reservations of the group hold the nodes."""
    if members is None:
        return failed(f"there is no resource group {requirements.resource_group_arn}", "Make it, or correct the ARN")
    usable = [
        reservation
        for reservation in members
        if reservation.get("InstanceType") == requirements.instance_type
        and reservation.get("AvailabilityZoneId") == requirements.zone_id
        and reservation.get("State") in _USABLE
    ]
    count = sum(int(reservation.get("TotalInstanceCount", 0)) for reservation in usable)
    evidence = f"{len(usable)} of {len(members)} reservations are of {requirements.instance_type} in {requirements.zone_id} and usable; "
    evidence += f"they hold {count} instances, the cluster takes {requirements.nodes}"
    if count < requirements.nodes:
        return failed(evidence, "Add reservations to the group, or set max_nodes")
    return passed(evidence)


RESERVATION_CHECKS: Final[tuple[AnyCheck, ...]] = (
    Check(
        code=_EXISTS,
        calls=(_DESCRIBE,),
        subjects=_reserved,
        gather=_find,
        evaluate=_evaluate_exists,
        after=("UC9404",),
    ),
    _check("UC9423", _evaluate_zone),
    _check("UC9424", _evaluate_type),
    _check("UC9425", _evaluate_platform),
    _check("UC9426", evaluate_count),
    _check("UC9427", evaluate_state),
    _check("UC9428", evaluate_window, _with_now),
    _check("UC9429", _evaluate_tenancy),
    _check("UC9430", _evaluate_owner, _with_account, "sts:GetCallerIdentity"),
    _check("UC9431", _evaluate_kind),
    _check("UC9432", _evaluate_group),
    _check("UC9433", _evaluate_free),
    Check(
        code="UC9434",
        calls=("resource-groups:ListGroupResources", _DESCRIBE),
        subjects=_grouped,
        gather=_members,
        evaluate=_evaluate_members,
        after=("UC9404",),
    ),
)
