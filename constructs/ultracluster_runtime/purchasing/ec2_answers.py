"""Parse EC2's responses about capacity, tolerating missing members."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from ultracluster_runtime.purchasing.ec2_objects import Block, Extension, ExtensionOffering, Reservation
from ultracluster_runtime.purchasing.effects import Bought
from ultracluster_runtime.purchasing.offerings import parse_fee, parse_time
from ultracluster_runtime.purchasing.orders import ORDER_TAG

_Answer = Mapping[str, Any]


def _order_name(response: _Answer) -> str | None:
    return next((tag["Value"] for tag in response.get("Tags") or () if tag.get("Key") == ORDER_TAG), None)


def reservation(response: _Answer) -> Reservation:
    """Parse a CapacityReservation."""
    return Reservation(
        reservation_id=response["CapacityReservationId"],
        state=response.get("State", "unknown"),
        reservation_type=response.get("ReservationType", "default"),
        instance_type=response.get("InstanceType", ""),
        instance_count=response.get("TotalInstanceCount", 0),
        zone_id=response.get("AvailabilityZoneId"),
        start=response.get("StartDate"),
        end=response.get("EndDate"),
        created=response.get("CreateDate"),
        order_name=_order_name(response),
    )


def block(response: _Answer) -> Block:
    """Parse a CapacityBlock."""
    return Block(
        block_id=response["CapacityBlockId"],
        state=response.get("State", "unknown"),
        reservation_ids=tuple(response.get("CapacityReservationIds") or ()),
        order_name=_order_name(response),
    )


def extension_offering(response: _Answer, *, reservation_id: str) -> ExtensionOffering:
    """Parse a CapacityBlockExtensionOffering; the response does not contain the ID of the reservation."""
    return ExtensionOffering(
        offering_id=response["CapacityBlockExtensionOfferingId"],
        reservation_id=reservation_id,
        start=parse_time(response["CapacityBlockExtensionStartDate"]),
        end=parse_time(response["CapacityBlockExtensionEndDate"]),
        hours=response["CapacityBlockExtensionDurationHours"],
        fee=parse_fee(response["UpfrontFee"]),
        currency=response["CurrencyCode"],
    )


def extension(response: _Answer) -> Extension:
    """Parse a CapacityBlockExtension of the history."""
    return Extension(
        offering_id=response["CapacityBlockExtensionOfferingId"],
        reservation_id=response["CapacityReservationId"],
        status=response.get("CapacityBlockExtensionStatus", "unknown"),
        purchased_at=response["CapacityBlockExtensionPurchaseDate"],
        start=response["CapacityBlockExtensionStartDate"],
        fee=_fee([response]),
    )


def _fee(extensions: Sequence[_Answer]) -> Decimal | None:
    """Return the sum of the fees of extensions, if each has one; for blocks and reservations EC2 names none."""
    fees = [parse_fee(item["UpfrontFee"]) for item in extensions if item.get("UpfrontFee")]
    return sum(fees, Decimal(0)) if fees and len(fees) == len(extensions) else None


def bought(response: _Answer) -> Bought:
    """Parse the response of a block purchase: every reservation of every segment, and every block.

    Raise ValueError if it contains no ID, so that the outcome is unknown.
    """
    reservations = [*(response.get("CapacityReservations") or ()), response.get("CapacityReservation") or {}]
    blocks = response.get("CapacityBlocks") or ()
    ids = {item["CapacityReservationId"] for item in reservations if item.get("CapacityReservationId")}
    ids |= {reservation_id for item in blocks for reservation_id in item.get("CapacityReservationIds") or ()}
    block_ids = {item["CapacityBlockId"] for item in blocks if item.get("CapacityBlockId")}
    block_ids |= {item["CapacityBlockId"] for item in reservations if item.get("CapacityBlockId")}
    if not ids and not block_ids:
        raise ValueError("the response contains no reservation")
    return Bought(reservation_ids=tuple(sorted(ids)), block_ids=tuple(sorted(block_ids)))


def bought_extension(response: _Answer) -> Bought:
    """Parse the response of an extension purchase."""
    extensions = response.get("CapacityBlockExtensions") or ()
    ids = {item["CapacityReservationId"] for item in extensions if item.get("CapacityReservationId")}
    if not ids:
        raise ValueError("the response contains no extension")
    return Bought(reservation_ids=tuple(sorted(ids)), fee=_fee(extensions))


def created(response: _Answer) -> Bought:
    """Parse the response of CreateCapacityReservation."""
    return Bought(reservation_ids=(response["CapacityReservation"]["CapacityReservationId"],))
