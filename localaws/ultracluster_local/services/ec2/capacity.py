"""On-Demand Capacity Reservations, and descriptions of all reservations; moto has neither."""

from collections.abc import Mapping
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.instance_types import INSTANCE_TYPES

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.ec2.capacity_market import Reservation, Segment, capacity_market
from ultracluster_local.services.ec2.errors import invalid_combination, invalid_value
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, hex_id, page, tags_of

__all__ = [
    "apply_filters",
    "find_reservation",
    "handlers",
    "instances_in",
    "named_reservations",
    "refuse_dry_run",
    "reservation_description",
    "tag_list",
    "zone_names",
]

handlers = Handlers(service="ec2")


def refuse_dry_run(request: Request) -> None:
    """Raise EC2's error for a dry run that would have succeeded."""
    if request.parameters.get("DryRun"):
        raise ServiceError("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Return tags as a list of keys and values."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def zone_names(request: Request) -> dict[str, str]:
    """Return the zone names of the Region by zone ID."""
    zones = ec2_backends[request.account][request.region].describe_availability_zones()
    return {zone.zone_id: zone.name for zone in zones}


def apply_filters(request: Request, shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the items that match the filters of a request, which are named like members, or for tags.

    Args:
        request: API request.
        shown: Items as described.
    """
    for condition in request.parameters.get("Filters") or []:
        name, wanted = condition["Name"], condition.get("Values") or []
        kind, _, key = name.partition(":")
        if kind == "tag":
            shown = [
                one
                for one in shown
                if any(tag["Key"] == key and _matches(tag["Value"], wanted) for tag in one["Tags"])
            ]
        elif kind == "tag-key":
            shown = [one for one in shown if any(_matches(tag["Key"], wanted) for tag in one["Tags"])]
        else:
            member = name.title().replace("-", "")
            shown = [one for one in shown if _matches(one.get(member, ""), wanted)]
    return shown


def _matches(value: Any, wanted: list[str]) -> bool:
    text = value.strftime("%Y-%m-%dT%H:%M:%S.000Z") if isinstance(value, datetime) else str(value)
    return any(fnmatchcase(text, pattern) for pattern in wanted)


def reservation_description(request: Request, reservation: Reservation) -> dict[str, Any]:
    """Return the current description of a reservation."""
    segment, end = reservation.segment, reservation.ends()
    shown: dict[str, Any] = {
        "CapacityReservationId": reservation.reservation_id,
        "CapacityReservationArn": reservation.arn,
        "OwnerId": request.account,
        "AvailabilityZone": segment.zone,
        "AvailabilityZoneId": segment.zone_id,
        "InstanceType": segment.instance_type,
        "InstancePlatform": reservation.platform,
        "Tenancy": "default",
        "TotalInstanceCount": segment.count,
        "AvailableInstanceCount": reservation.available()
        - len(instances_in(request.region, reservation.reservation_id))
        - capacity_market(request.region).unavailable.get(reservation.reservation_id, 0),
        "EbsOptimized": False,
        "EphemeralStorage": False,
        "State": reservation.state(),
        "EndDateType": reservation.end_type,
        "InstanceMatchCriteria": reservation.match_criteria,
        "CreateDate": reservation.created,
        "Tags": tag_list(reservation.tags),
        "ReservationType": "capacity-block" if reservation.block_id else "default",
        **reservation.settings,
    }
    shown["AvailableInstanceCount"] = max(0, shown["AvailableInstanceCount"])
    if reservation.block_id:
        shown["CapacityBlockId"] = reservation.block_id
    return shown | {
        key: value for key, value in (("StartDate", reservation.start), ("EndDate", end)) if value is not None
    }


def instances_in(region: str, reservation_id: str) -> list[Any]:
    """Return moto's running instances of a reservation."""
    return [
        instance
        for group in list(ec2_backends[ACCOUNT][region].reservations.values())
        for instance in group.instances
        if getattr(instance, "capacity_reservation_id", None) == reservation_id
        and instance.state in {"pending", "running"}
    ]


def find_reservation(request: Request, reservation_id: str) -> Reservation:
    """Return a reservation by ID.

    Raises:
        ServiceError: If there is none.
    """
    try:
        return capacity_market(request.region).reservations[reservation_id]
    except KeyError:
        raise ServiceError(
            "InvalidCapacityReservationId.NotFound",
            f"The capacity reservation ID '{reservation_id}' does not exist",
        ) from None


def named_reservations(request: Request) -> list[Reservation]:
    """Return the reservations named by a request, or all.

    Raises:
        ServiceError: If one does not exist.
    """
    if ids := request.parameters.get("CapacityReservationIds"):
        return [find_reservation(request, one) for one in ids]
    return list(capacity_market(request.region).reservations.values())


@handlers("DescribeCapacityReservations")
def describe_capacity_reservations(request: Request) -> Mapping[str, Any]:
    """Describe Capacity Reservations of all kinds, including ended ones."""
    refuse_dry_run(request)
    found = named_reservations(request)
    shown = apply_filters(request, [reservation_description(request, one) for one in found])
    return page(shown, parameters=request.parameters, key="CapacityReservations")


@handlers("CreateCapacityReservation")
def create_capacity_reservation(request: Request) -> Mapping[str, Any]:
    """Create an On-Demand Capacity Reservation; the same client token returns the same one."""
    given = request.parameters
    market = capacity_market(request.region)
    if given["InstanceType"] not in INSTANCE_TYPES:
        raise invalid_value(f"Invalid value '{given['InstanceType']}' for InstanceType.")
    segment = Segment(
        **_zone(request), instance_type=given["InstanceType"], count=int(given["InstanceCount"])
    )
    end_type = given.get("EndDateType", "unlimited")
    if (end_type == "limited") != ("EndDate" in given):
        raise invalid_combination("EndDate is required if, and only if, EndDateType is limited.")
    if "EndDate" in given and given["EndDate"] <= CLOCK.now():  # API_CreateCapacityReservation
        raise invalid_value("EndDate must be in the future.")
    token = given.get("ClientToken", "")
    for existing in market.reservations.values():
        if token and existing.token == token:
            if existing.segment != segment:
                raise ServiceError(
                    "IdempotentParameterMismatch", "The client token was used with other parameters."
                )
            return {"CapacityReservation": reservation_description(request, existing)}
    refuse_dry_run(request)
    if market.insufficient:
        raise ServiceError(
            "InsufficientInstanceCapacity",
            f"There is not enough capacity of {segment.instance_type} in {segment.zone} to fulfil the request.",
        )
    reservation_id = hex_id("cr")
    carried = (
        "PlacementGroupArn",
        "OutpostArn",
        "EbsOptimized",
        "EphemeralStorage",
        "Tenancy",
        "DeliveryPreference",
    )
    tags = tags_of(given, resource_type="capacity-reservation")
    reservation = Reservation(
        reservation_id=reservation_id,
        arn=request.arn("ec2", f"capacity-reservation/{reservation_id}"),
        segment=segment,
        platform=given["InstancePlatform"],
        created=CLOCK.now(),
        start=given.get("StartDate") or CLOCK.now(),
        end=given.get("EndDate"),
        end_type=end_type,
        match_criteria=given.get("InstanceMatchCriteria", "open"),
        tags={tag["Key"]: tag["Value"] for tag in tags},
        token=token,
        settings={key: given[key] for key in carried if key in given},
    )
    market.reservations[reservation_id] = reservation
    return {"CapacityReservation": reservation_description(request, reservation)}


def _zone(request: Request) -> dict[str, str]:
    """Return the name and ID of the zone that a request names by either."""
    names = zone_names(request)
    for zone_id, name in names.items():
        if zone_id == request.parameters.get("AvailabilityZoneId") or name == request.parameters.get(
            "AvailabilityZone"
        ):
            return {"zone": name, "zone_id": zone_id}
    asked = request.parameters.get("AvailabilityZoneId") or request.parameters.get("AvailabilityZone")
    raise invalid_value(f"Invalid availability zone: [{asked}]")


@handlers("ModifyCapacityReservation")
def modify_capacity_reservation(request: Request) -> Mapping[str, Any]:
    """Modify the size or end of an On-Demand Capacity Reservation; blocks cannot be modified."""
    given = request.parameters
    reservation = find_reservation(request, given["CapacityReservationId"])
    if reservation.block_id:
        raise ServiceError("UnsupportedOperation", "A Capacity Block cannot be modified.")
    if reservation.state() not in {"active", "scheduled"}:
        raise ServiceError("IncorrectState", f"The reservation is {reservation.state()}.")
    refuse_dry_run(request)
    if "InstanceCount" in given:
        segment = reservation.segment
        reservation.segment = Segment(
            zone=segment.zone,
            zone_id=segment.zone_id,
            instance_type=segment.instance_type,
            count=int(given["InstanceCount"]),
        )
    if "EndDateType" in given:
        reservation.end_type = given["EndDateType"]
        reservation.end = given.get("EndDate")
    elif "EndDate" in given:
        reservation.end = given["EndDate"]
    reservation.match_criteria = given.get("InstanceMatchCriteria", reservation.match_criteria)
    return {"Return": True}


@handlers("CancelCapacityReservation")
def cancel_capacity_reservation(request: Request) -> Mapping[str, Any]:
    """Cancel an On-Demand Capacity Reservation; blocks cannot be canceled."""
    reservation = find_reservation(request, request.parameters["CapacityReservationId"])
    if reservation.block_id:
        raise ServiceError("UnsupportedOperation", "A Capacity Block cannot be cancelled.")
    if reservation.state() not in {"active", "scheduled"}:
        raise ServiceError("IncorrectState", f"The reservation is {reservation.state()}.")
    refuse_dry_run(request)
    reservation.cancelled = True
    return {"Return": True}
