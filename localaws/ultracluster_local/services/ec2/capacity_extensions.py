"""Extensions of Capacity Blocks: offerings, fake purchases and history."""

from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.services.ec2.capacity import (
    apply_filters,
    find_reservation,
    named_reservations,
    refuse_dry_run,
)
from ultracluster_local.services.ec2.capacity_block_terms import (
    EXTENSION_CLOSES,
    EXTENSION_OPENS,
    LONGEST_BLOCK,
    is_offered_duration,
)
from ultracluster_local.services.ec2.capacity_market import Extension, Reservation, capacity_market
from ultracluster_local.services.ec2.errors import invalid_value
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, page

__all__ = ["handlers"]

handlers = Handlers(service="ec2")


@handlers("DescribeCapacityBlockExtensionOfferings")
def describe_capacity_block_extension_offerings(request: Request) -> Mapping[str, Any]:
    """Offer an extension of a block."""
    given = request.parameters
    reservation = find_reservation(request, given["CapacityReservationId"])
    hours = int(given["CapacityBlockExtensionDurationHours"])
    if not is_offered_duration(hours):
        raise invalid_value(f"The extension duration {hours} hours is not offered.")
    _refuse_extension(reservation)
    refuse_dry_run(request)
    market = capacity_market(request.region)
    begun, start = reservation.period()
    if market.sold_out or start + timedelta(hours=hours) - begun > LONGEST_BLOCK:
        return {"CapacityBlockExtensionOfferings": []}
    fee = market.fee(reservation.segment.instance_type, count=reservation.segment.count, hours=hours)
    # As with blocks, the same search returns the same ID.
    seed = f"{reservation.reservation_id}{start}{hours}{fee}".encode()
    extension = Extension(
        offering_id=f"cbe-{sha256(seed).hexdigest()[:17]}",
        hours=hours,
        start=start,
        end=start + timedelta(hours=hours),
        fee=fee,
        purchased=CLOCK.now(),
        paid=CLOCK.now(),
        failed=False,
    )
    market.extension_offerings[extension.offering_id] = (reservation.reservation_id, extension)
    shown = _shown_extension(request, reservation, extension) | {
        "StartDate": reservation.start,
        "Tenancy": "default",
    }
    return {"CapacityBlockExtensionOfferings": [shown]}


def _refuse_extension(reservation: Reservation) -> None:
    end = reservation.ends()
    if not reservation.block_id or end is None:
        raise ServiceError("UnsupportedOperation", "Only a Capacity Block can be extended.")
    if reservation.state() not in {"active", "scheduled"}:
        raise ServiceError(
            "IncorrectState", f"A Capacity Block that is {reservation.state()} cannot be extended."
        )
    if any(one.state() == "payment-pending" for one in reservation.extensions):
        raise ServiceError("IncorrectState", "An extension of this Capacity Block is pending.")
    left = end - CLOCK.now()
    if not EXTENSION_CLOSES <= left <= EXTENSION_OPENS:
        raise ServiceError(
            "IncorrectState", "A Capacity Block can be extended from 57 days until 1 hour before its end."
        )


def _shown_extension(request: Request, reservation: Reservation, extension: Extension) -> dict[str, Any]:
    return {
        "CapacityBlockExtensionOfferingId": extension.offering_id,
        "InstanceType": reservation.segment.instance_type,
        "InstanceCount": reservation.segment.count,
        "AvailabilityZone": reservation.segment.zone,
        "AvailabilityZoneId": reservation.segment.zone_id,
        "CapacityBlockExtensionStartDate": extension.start,
        "CapacityBlockExtensionEndDate": extension.end,
        "CapacityBlockExtensionDurationHours": extension.hours,
        "UpfrontFee": str(extension.fee),
        "CurrencyCode": capacity_market(request.region).currency,
        "ZoneType": "availability-zone",
    }


@handlers("PurchaseCapacityBlockExtension")
def purchase_capacity_block_extension(request: Request) -> Mapping[str, Any]:
    """Purchase an extension, which charges nobody; the block's end moves when it is paid."""
    given = request.parameters
    market = capacity_market(request.region)
    reservation = find_reservation(request, given["CapacityReservationId"])
    owner, extension = market.extension_offerings.get(given["CapacityBlockExtensionOfferingId"], ("", None))
    if extension is None or owner != reservation.reservation_id or extension.start != reservation.ends():
        raise ServiceError(
            "InvalidCapacityBlockExtensionOfferingId.NotFound",
            f"The extension offering '{given['CapacityBlockExtensionOfferingId']}' does not exist or is gone.",
        )
    _refuse_extension(reservation)
    refuse_dry_run(request)
    extension.purchased = CLOCK.now()
    extension.paid = CLOCK.now() + market.payment_takes
    extension.failed = market.payment_fails
    market.purchases += 1
    reservation.extensions.append(extension)
    return {"CapacityBlockExtensions": [_shown_history(request, reservation, extension)]}


def _shown_history(request: Request, reservation: Reservation, extension: Extension) -> dict[str, Any]:
    return _shown_extension(request, reservation, extension) | {
        "CapacityReservationId": reservation.reservation_id,
        "CapacityBlockExtensionStatus": extension.state(),
        "CapacityBlockExtensionPurchaseDate": extension.purchased,
    }


@handlers("DescribeCapacityBlockExtensionHistory")
def describe_capacity_block_extension_history(request: Request) -> Mapping[str, Any]:
    """Describe purchased extensions, whether paid or not."""
    refuse_dry_run(request)
    shown = [
        _shown_history(request, one, extension)
        for one in named_reservations(request)
        for extension in one.extensions
    ]
    shown = apply_filters(request, shown)
    return page(shown, parameters=request.parameters, key="CapacityBlockExtensions")
