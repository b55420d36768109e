"""Checks of reservations: they exist and match the rollout."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from ultracluster_runtime.preflight.account import identity
from ultracluster_runtime.preflight.check import MakesCheck, Outcome, check, failed, passed, skipped, warned
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.subjects import Account, Source
from ultracluster_spec.record import RuleRecord

Description = Mapping[str, Any]

_DESCRIBE: Final = "ec2:DescribeCapacityReservations"
_EXISTS: Final = "UC9422"
TIMES: Final = "UC9428"  # code of the check of start and end
# Size of a block that has not started; until then EC2 shows it only in this tag:
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-view.html
_PURCHASED: Final = "aws:ec2capacityreservation:incrementalRequestedQuantity"
_LINUX: Final = "Linux/UNIX"
_USABLE: Final = frozenset({"active", "scheduled"})
_ON_THE_WAY: Final = frozenset({"assessing", "delayed", "payment-pending", "pending"})
_SOON: Final = timedelta(hours=12)


def _reserved(account: Account) -> Iterator[Source]:
    return (source for source in account.sources() if source.capacity.reservation_id is not None)


def _find_reservation(reader: AwsReader, source: Source) -> Description | None:
    return reader.find(
        _DESCRIBE,
        source.region,
        "CapacityReservations",
        absent=("InvalidCapacityReservationId.NotFound",),
        CapacityReservationIds=[source.capacity.reservation_id],
    )


def _shown(reader: AwsReader, source: Source) -> Description:
    return _find_reservation(reader, source) or {}


def _with_account(reader: AwsReader, source: Source) -> tuple[Description, str]:
    return _shown(reader, source), identity(reader, source.region)["Account"]


def _reservation_check(code: str, gather: Any = _shown) -> MakesCheck:
    return check(code, gather, subjects=_reserved, after=(_EXISTS,))


@check(_EXISTS, _find_reservation, subjects=_reserved)
def _check_exists(source: Source, description: Description | None) -> Outcome:
    if description is None:
        return failed(
            f"{source.region} has no reservation {source.capacity.reservation_id} visible to this account",
            "Look for it in other Regions and accounts: `aws ec2 describe-capacity-reservations`",
        )
    return passed(f"{source.capacity.reservation_id} is {description['State']}")


@_reservation_check("UC9423")
def _check_zone(source: Source, description: Description) -> Outcome:
    """Check that the reservation is in the zone of the cluster, by zone ID."""
    got = description.get("AvailabilityZoneId", "")
    if got == source.cluster.zone_id:
        return passed(f"it is in {got}")
    return failed(
        f"it is in {got or 'an unknown zone'}; the cluster is in {source.cluster.zone_id}",
        f"Set zone_id: {got}",
    )


@_reservation_check("UC9424")
def _check_type(source: Source, description: Description) -> Outcome:
    got = description.get("InstanceType", "")
    if got == source.cluster.instance_type:
        return passed(f"it is for {got}")
    return failed(
        f"it is for {got}; the nodes are {source.cluster.instance_type}", f"Set instance_type: {got}"
    )


@_reservation_check("UC9425")
def _check_platform(_: Source, description: Description) -> Outcome:
    got = description.get("InstancePlatform", "")
    if got == _LINUX:
        return passed(f"it is for {got}")
    return failed(
        f"it is for {got}; the AMIs of nodes are {_LINUX}, and EC2 requires a match",
        f"Use a reservation for {_LINUX}",
    )


@_reservation_check("UC9426")
def _check_count(source: Source, description: Description) -> Outcome:
    tags = {tag["Key"]: tag["Value"] for tag in description.get("Tags", [])}
    total = int(description.get("TotalInstanceCount", 0))
    if description.get("State") == "scheduled" and tags.get(_PURCHASED, "").isdecimal():
        total = max(total, int(tags[_PURCHASED]))
    if total < source.nodes:
        return failed(
            f"it holds {total} instances; the cluster needs {source.nodes}",
            f"Set nodes: {total}, or reserve more",
        )
    if total > source.nodes:
        return warned(
            f"it holds {total} instances; the cluster uses {source.nodes}: {total - source.nodes} are paid and idle",
            f"Set nodes: {total}, unless another cluster uses the rest",
        )
    return passed(f"it holds {total} instances, as many as the cluster uses")


@_reservation_check("UC9427")
def _check_state(_: Source, description: Description) -> Outcome:
    state = description.get("State", "")
    if state in _USABLE:
        return passed(f"it is {state}")
    if state in _ON_THE_WAY:
        return warned(
            f"it is {state}", "Nodes can be launched once it is active; check again before you submit jobs"
        )
    return failed(f"it is {state}", "Use a reservation that is active or scheduled, or buy another one")


@_reservation_check(TIMES, lambda reader, source: (_shown(reader, source), reader.now))
def _check_window(source: Source, evidence: tuple[Description, datetime]) -> Outcome:
    description, now = evidence
    start, end = description.get("StartDate"), description.get("EndDate")
    for name, expected, actual in (
        ("start", source.capacity.start, start),
        ("end", source.capacity.end, end),
    ):
        if expected is not None and actual is not None and abs(expected - actual) >= timedelta(minutes=1):
            return failed(
                f"its {name} is {_text(actual)}; the rollout says {_text(expected)}, which schedules checkpoints and the drain",
                f'Set {name}: "{_text(actual)}"',
            )
    if end is None:
        return passed("it has no end")
    if end <= now:
        return failed(f"it ended at {_text(end)}", "Use a reservation that has not ended")
    if end - now < _SOON:
        return warned(f"it ends at {_text(end)}, in {_hours(end - now)}", "Extend it, or expect short runs")
    begins = f"starts in {_hours(start - now)}" if start is not None and start > now else "has started"
    return passed(f"it {begins} and ends at {_text(end)}, in {_hours(end - now)}")


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%MZ")


def _hours(span: timedelta) -> str:
    return f"{span / timedelta(hours=1):,.1f} h"


@_reservation_check("UC9429")
def _check_tenancy(_: Source, description: Description) -> Outcome:
    """Check that the tenancy is default, like that of AWS Batch nodes."""
    got = description.get("Tenancy", "default")
    if got == "default":
        return passed("its tenancy is default")
    return failed(
        f"its tenancy is {got}; nodes have tenancy default", "Use a reservation with tenancy default"
    )


@_reservation_check("UC9430", _with_account)
def _check_owner(_: Source, evidence: tuple[Description, str]) -> Outcome:
    """Check the owner: a shared reservation can be revoked, and only its owner can extend it."""
    description, account = evidence
    owner = description.get("OwnerId", "")
    if owner == account:
        return passed(f"it belongs to {owner}, the account of the credentials")
    return warned(
        f"it belongs to {owner} and is shared with {account}",
        "Only the owner can extend it or stop sharing it: agree on both before the run",
    )


@_reservation_check("UC9431")
def _check_kind(source: Source, description: Description) -> Outcome:
    """Check that the reservation type matches the market type in the rollout, which launches depend on."""
    got = "capacity-block" if description.get("ReservationType") == "capacity-block" else "on-demand"
    name = {"capacity-block": "a Capacity Block", "on-demand": "an On-Demand Capacity Reservation"}[got]
    if got == source.capacity.market_type:
        return passed(f"it is {name}")
    return failed(f"it is {name}; the rollout says {source.capacity.market_type}", f"Set market_type: {got}")


@_reservation_check("UC9432")
def _check_group(source: Source, description: Description) -> Outcome:
    got = description.get("PlacementGroupArn", "").partition(":placement-group/")[2] or None
    if got == source.capacity.placement_group:
        return passed(f"it is in {got or 'no placement group'}, as in the rollout")
    remedy = f"Set placement_group: {got}" if got else "Remove placement_group"
    expected = source.capacity.placement_group or "none"
    return failed(f"it is in {got or 'no placement group'}; the rollout says {expected}", remedy)


@_reservation_check("UC9433")
def _check_free(source: Source, description: Description) -> Outcome:
    if description.get("State") != "active":
        return skipped(f"it is {description.get('State')}, so no instances can be in use")
    free = int(description.get("AvailableInstanceCount", 0))
    total = int(description.get("TotalInstanceCount", 0))
    if free >= source.nodes:
        return passed(f"{free} of {total} instances are free")
    return warned(
        f"{free} of {total} instances are free; the cluster needs {source.nodes}",
        "If the others are not nodes of this cluster, find out who uses them: `aws ec2 describe-instances --filters "
        f"Name=capacity-reservation-id,Values={source.capacity.reservation_id} --region {source.region}`",
    )


def _grouped(account: Account) -> Iterator[Source]:
    return (source for source in account.sources() if source.capacity.resource_group_arn is not None)


def _reservations_of_group(reader: AwsReader, source: Source) -> list[Description] | None:
    response = reader.call_or_none(
        "resource-groups:ListGroupResources",
        source.region,
        absent=("NotFoundException",),
        Group=source.capacity.resource_group_arn,
    )
    if response is None:
        return None
    arns = [resource["Identifier"]["ResourceArn"] for resource in response.get("Resources", [])]
    ids = [arn.rpartition("/")[2] for arn in arns if ":capacity-reservation/" in arn]
    if not ids:
        return []
    response = reader.call(_DESCRIBE, source.region, CapacityReservationIds=ids)
    return list(response["CapacityReservations"])


@check("UC9434", _reservations_of_group, subjects=_grouped)
def _check_members(source: Source, members: list[Description] | None) -> Outcome:
    if members is None:
        return failed(
            f"the resource group {source.capacity.resource_group_arn} does not exist",
            "Create it, or correct the ARN",
        )
    usable = [
        reservation
        for reservation in members
        if reservation.get("InstanceType") == source.cluster.instance_type
        and reservation.get("AvailabilityZoneId") == source.cluster.zone_id
        and reservation.get("State") in _USABLE
    ]
    count = sum(int(reservation.get("TotalInstanceCount", 0)) for reservation in usable)
    evidence = f"{len(usable)} of {len(members)} reservations are usable {source.cluster.instance_type} in {source.cluster.zone_id}; "
    evidence += f"they hold {count} instances, the cluster needs {source.nodes}"
    if count < source.nodes:
        return failed(evidence, "Add reservations to the group, or set max_nodes")
    return passed(evidence)


RECORDS: Final = (
    RuleRecord(
        "UC9422",
        "The reservation is visible to the account.",
        remedy="Search other Regions and accounts; `ultracluster capacity status` lists what was bought with this ledger.",
        source="botocore 1.44.5, EC2 DescribeCapacityReservations, 2026.",
    ),
    RuleRecord(
        "UC9423",
        "The reservation is in the zone of the cluster.",
        remedy="Set zone_id to the zone of the reservation: capacity cannot move.",
        source="EC2 user guide, launch into Capacity Blocks, 2026-10.",
    ),
    RuleRecord(
        "UC9424",
        "The reservation is for the instance type of the nodes.",
        remedy="Set instance_type to the type of the reservation.",
        source="EC2 user guide, Capacity Reservations, 2026-10.",
    ),
    RuleRecord(
        "UC9425",
        "The reservation matches the platform of the AMI.",
        remedy="Use a reservation for Linux/UNIX: EC2 compares it with the platform of the AMI.",
        source="EC2 user guide, launch into Capacity Blocks, 2026-10.",
    ),
    RuleRecord(
        "UC9426",
        "The reservation has enough instances for the cluster.",
        remedy="Set nodes to the size of the reservation, or extend the reservation; instances beyond the nodes are paid for and idle.",
        source="botocore 1.44.5, EC2 CapacityReservation TotalInstanceCount, 2026.",
    ),
    RuleRecord(
        "UC9427",
        "The reservation is active or scheduled.",
        remedy="Use one that is active or scheduled; buy another one if there is none.",
        source="botocore 1.44.5, EC2 CapacityReservationState, 2026.",
    ),
    RuleRecord(
        "UC9428",
        "The reservation starts and ends at the times in the rollout, and has not ended.",
        remedy="Set start and end as the finding says: they schedule checkpoints and the drain.",
        source="EC2 user guide, Capacity Blocks for ML, 2026-10.",
    ),
    RuleRecord(
        "UC9429",
        "The reservation has default tenancy.",
        remedy="Use one of default tenancy.",
        source="EC2 user guide, Capacity Blocks for ML, 2026-10: default tenancy only.",
    ),
    RuleRecord(
        "UC9430",
        "The reservation belongs to the account.",
        remedy="Agree with the owner on extension and sharing before the run: the owner alone can do both.",
        source="EC2 user guide, share Capacity Blocks, 2026-10.",
    ),
    RuleRecord(
        "UC9431",
        "The reservation matches the market type.",
        remedy="Set market_type as the finding says: with the wrong one every launch fails.",
        source="EC2 user guide, launch into Capacity Blocks, 2026-10.",
    ),
    RuleRecord(
        "UC9432",
        "The reservation was created in the placement group that the rollout specifies.",
        remedy="Set placement_group to the group of the reservation, or remove it.",
        source="EC2 user guide, Capacity Reservations in cluster placement groups, 2026-10.",
    ),
    RuleRecord(
        "UC9433",
        "The instances of the reservation are available.",
        remedy="Find out who uses them with the command in the finding.",
        source="botocore 1.44.5, EC2 AvailableInstanceCount, 2026.",
    ),
    RuleRecord(
        "UC9434",
        "The reservations of the resource group have enough instances for the nodes.",
        remedy="Add reservations to the group, or set max_nodes.",
        source="EC2 user guide, Capacity Reservation groups, 2026-10.",
    ),
)
