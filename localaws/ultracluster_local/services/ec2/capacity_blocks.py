"""Capacity Blocks, which moto lacks: offerings, fake purchases, descriptions and status."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.services.ec2.capacity import (
    apply_filters,
    refuse_dry_run,
    reservation_description,
    tag_list,
    zone_names,
)
from ultracluster_local.services.ec2.capacity_block_terms import (
    MAX_INSTANCES,
    PLATFORMS,
    ULTRASERVERS,
    is_offered_duration,
    is_sold_by_instance,
    offered_zone_ids,
    sold_in,
    vcpus,
)
from ultracluster_local.services.ec2.capacity_market import Offering, Reservation, Segment, capacity_market
from ultracluster_local.services.ec2.errors import invalid_combination, invalid_value
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, hex_id, page, tags_of

__all__ = ["handlers"]

handlers = Handlers(service="ec2")

_HOUR = timedelta(hours=1)


# Offerings


@handlers("DescribeCapacityBlockOfferings")
def describe_capacity_block_offerings(request: Request) -> Mapping[str, Any]:
    """Offer blocks that start at 11:30 UTC on a few days, in each zone with the instance type."""
    given = request.parameters
    hours = int(given["CapacityDurationHours"])
    instance_type, count, ultraserver = _requested(request)
    market = capacity_market(request.region)
    if not is_offered_duration(hours):
        raise invalid_value(f"The capacity duration {hours} hours is not offered.")
    if not (market.sold_everywhere or sold_in(instance_type, request.region)):
        raise _not_sold(request, instance_type)
    _refuse_over_quota(request, instance_type, count)
    refuse_dry_run(request)
    offered = market.offer(
        _zones(request, instance_type),
        instance_type=instance_type,
        count=count,
        hours=hours,
        earliest=given.get("StartDateRange"),
        latest_end=given.get("EndDateRange"),
        ultraserver=ultraserver,
    )
    shown = [_shown_offering(request, one) for one in offered]
    return page(shown, parameters=given, key="CapacityBlockOfferings")


def _requested(request: Request) -> tuple[str, int, tuple[str, int]]:
    """Return the type and number of the instances, and of the UltraServers, that a search requests."""
    given = request.parameters
    ways = [key for key in ("InstanceType", "InstanceTypePreferences", "UltraserverType") if given.get(key)]
    if len(ways) != 1:
        raise invalid_combination(
            "Exactly one of InstanceType, InstanceTypePreferences and UltraserverType is needed.",
        )
    if ways == ["UltraserverType"]:
        servers = int(given.get("UltraserverCount", 1))
        if given["UltraserverType"] not in ULTRASERVERS:
            raise invalid_value(f"The UltraServer type '{given['UltraserverType']}' is not supported.")
        instance_type, instances = ULTRASERVERS[given["UltraserverType"]]
        return instance_type, servers * instances, (given["UltraserverType"], servers)
    instance_type = (
        given["InstanceType"]
        if ways == ["InstanceType"]
        else given["InstanceTypePreferences"][0]["InstanceType"]
    )
    if not is_sold_by_instance(instance_type):
        raise _not_sold(request, instance_type)
    count = int(given.get("InstanceCount", 1))
    if not 1 <= count <= MAX_INSTANCES:
        raise invalid_value(f"The instance count {count} must be between 1 and {MAX_INSTANCES}.")
    return instance_type, count, ("", 0)


def _not_sold(request: Request, instance_type: str) -> ServiceError:
    return invalid_value(
        f"The instance type '{instance_type}' is not supported for Capacity Blocks in '{request.region}'"
    )


def _refuse_over_quota(request: Request, instance_type: str, count: int) -> None:
    quota = capacity_market(request.region).block_quota_vcpus
    requested = count * vcpus(instance_type)
    if quota is not None and requested > quota:
        raise ServiceError(
            "CapacityBlockDescribeLimitExceeded",
            "Your existing service limits are not sufficient to use EC2 Capacity Blocks: "
            f"{requested} vCPUs requested, {quota} allowed.",
        )


def _zones(request: Request, instance_type: str) -> list[tuple[str, str]]:
    """Return the name and ID of the zones that have the type; the first zone of the Region if none is known."""
    names = zone_names(request)
    known = [zone_id for zone_id in offered_zone_ids(instance_type, request.region) if zone_id in names]
    return [(names[zone_id], zone_id) for zone_id in known or sorted(names)[:1]]


def _shown_offering(request: Request, offering: Offering) -> dict[str, Any]:
    hours, rest = divmod(offering.end - offering.start, _HOUR)
    first, currency = offering.segments[0], capacity_market(request.region).currency
    shown: dict[str, Any] = {
        "CapacityBlockOfferingId": offering.offering_id,
        "InstanceType": first.instance_type,
        "AvailabilityZone": first.zone,
        "InstanceCount": sum(one.count for one in offering.segments),
        "StartDate": offering.start,
        "EndDate": offering.end,
        "CapacityBlockDurationHours": hours,
        "CapacityBlockDurationMinutes": rest // timedelta(minutes=1),
        "UpfrontFee": str(offering.fee),
        "CurrencyCode": currency,
        "Tenancy": "default",
        "ZoneType": "availability-zone",
    }
    if offering.ultraserver_type:
        shown |= {
            "UltraserverType": offering.ultraserver_type,
            "UltraserverCount": offering.ultraserver_count,
        }
    if len(offering.segments) > 1:
        total = shown["InstanceCount"]
        shown["CapacityBlockOfferingSegments"] = [
            {
                "InstanceType": one.instance_type,
                "AvailabilityZone": one.zone,
                "AvailabilityZoneId": one.zone_id,
                "InstanceCount": one.count,
                "StartDate": offering.start,
                "EndDate": offering.end,
                "CapacityBlockDurationHours": hours,
                "UpfrontFee": str(offering.fee * one.count / total),
                "CurrencyCode": currency,
                "ZoneType": "availability-zone",
            }
            for one in offering.segments
        ]
    return shown


# Purchase


@handlers("PurchaseCapacityBlock")
def purchase_capacity_block(request: Request) -> Mapping[str, Any]:
    """Purchase a block, which charges nobody: one reservation per segment or UltraServer."""
    given = request.parameters
    market = capacity_market(request.region)
    offering = market.offerings.get(given["CapacityBlockOfferingId"])
    if given["InstancePlatform"] not in PLATFORMS:
        raise invalid_value(f"The instance platform '{given['InstancePlatform']}' is not supported.")
    if offering is None or offering.end <= CLOCK.now():
        raise ServiceError(
            "InvalidCapacityBlockOfferingId.NotFound",
            f"The Capacity Block offering '{given['CapacityBlockOfferingId']}' does not exist or is gone.",
        )
    refuse_dry_run(request)
    if not market.sell_again:
        del market.offerings[offering.offering_id]
    market.purchases += 1
    made = [_reserve(request, segment, offering) for segment in _parts(offering)]
    blocks = _shown_blocks(made)
    return {
        "CapacityReservation": reservation_description(request, made[0]),
        "CapacityReservations": [reservation_description(request, one) for one in made],
        "CapacityBlocks": blocks,
    }


def _parts(offering: Offering) -> list[Segment]:
    """Return a segment per reservation: one per UltraServer, otherwise those of the offering."""
    if not offering.ultraserver_type:
        return list(offering.segments)
    whole = offering.segments[0]
    each = whole.count // offering.ultraserver_count
    part = Segment(zone=whole.zone, zone_id=whole.zone_id, instance_type=whole.instance_type, count=each)
    return [part] * offering.ultraserver_count


def _reserve(request: Request, segment: Segment, offering: Offering) -> Reservation:
    market, now = capacity_market(request.region), CLOCK.now()
    given = tags_of(request.parameters, resource_type="capacity-reservation")
    block_tags = tags_of(request.parameters, resource_type="capacity-block")
    reservation_id = hex_id("cr")
    reservation = Reservation(
        reservation_id=reservation_id,
        arn=request.arn("ec2", f"capacity-reservation/{reservation_id}"),
        segment=segment,
        platform=request.parameters["InstancePlatform"],
        created=now,
        start=offering.start,
        end=offering.end,
        match_criteria="targeted",
        tags={
            **{tag["Key"]: tag["Value"] for tag in given},
            "aws:ec2capacityreservation:incrementalRequestedQuantity": str(segment.count),
        },
        block_id=hex_id("cb"),
        ultraserver_type=offering.ultraserver_type,
        paid=now + market.payment_takes,
        failed=market.payment_fails,
        block_tags={tag["Key"]: tag["Value"] for tag in block_tags},
    )
    market.reservations[reservation_id] = reservation
    return reservation


# Blocks


def _blocks(request: Request) -> list[Reservation]:
    """Return the reservations of Capacity Blocks: those named by a request, or all."""
    blocks = {
        one.block_id: one for one in capacity_market(request.region).reservations.values() if one.block_id
    }
    wanted = request.parameters.get("CapacityBlockIds")
    for one in wanted or []:
        if one not in blocks:
            raise ServiceError(
                "InvalidCapacityBlockId.NotFound", f"The Capacity Block '{one}' does not exist"
            )
    return [blocks[one] for one in wanted] if wanted else list(blocks.values())


def _shown_blocks(blocks: list[Reservation]) -> list[dict[str, Any]]:
    shown = []
    for one in blocks:
        block = {
            "CapacityBlockId": one.block_id,
            "AvailabilityZone": one.segment.zone,
            "AvailabilityZoneId": one.segment.zone_id,
            "CapacityReservationIds": [one.reservation_id],
            "StartDate": one.start,
            "EndDate": one.ends(),
            "CreateDate": one.created,
            "State": one.state(),
            "Tags": tag_list(one.block_tags),
        }
        shown.append(block | ({"UltraserverType": one.ultraserver_type} if one.ultraserver_type else {}))
    return shown


@handlers("DescribeCapacityBlocks")
def describe_capacity_blocks(request: Request) -> Mapping[str, Any]:
    """Describe Capacity Blocks."""
    refuse_dry_run(request)
    shown = apply_filters(request, _shown_blocks(_blocks(request)))
    return page(shown, parameters=request.parameters, key="CapacityBlocks")


@handlers("DescribeCapacityBlockStatus")
def describe_capacity_block_status(request: Request) -> Mapping[str, Any]:
    """Describe the health of blocks, as set by `CapacityMarket.unavailable`."""
    refuse_dry_run(request)
    market = capacity_market(request.region)
    shown = []
    for one in _blocks(request):
        broken = min(market.unavailable.get(one.reservation_id, 0), one.segment.count)
        total = one.segment.count if one.state() == "active" else 0
        counts = {
            "TotalCapacity": total,
            "TotalAvailableCapacity": max(0, total - broken),
            "TotalUnavailableCapacity": min(total, broken),
        }
        status = {"CapacityReservationId": one.reservation_id, **counts}
        shown.append(
            {
                "CapacityBlockId": one.block_id,
                "InterconnectStatus": "impaired" if broken else "ok",
                **counts,
                "CapacityReservationStatuses": [status],
            }
        )
    return page(shown, parameters=request.parameters, key="CapacityBlockStatuses")
