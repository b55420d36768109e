"""Reading EC2's answers about capacity into our own objects, tolerant of fields that are missing."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ultracluster_runtime.purchasing.ec2_objects import Block, Extension, ExtensionOffering, Reservation
from ultracluster_runtime.purchasing.effects import Bought
from ultracluster_runtime.purchasing.orders import ORDER_TAG

__all__ = ["block", "bought", "bought_extension", "created", "extension", "extension_offering", "reservation"]

_Answer = Mapping[str, Any]


def _order_name(answer: _Answer) -> str | None:
    return next((tag["Value"] for tag in answer.get("Tags") or () if tag.get("Key") == ORDER_TAG), None)


def reservation(answer: _Answer) -> Reservation:
    """Read a CapacityReservation."""
    return Reservation(
        reservation_id=answer["CapacityReservationId"],
        state=answer.get("State", "unknown"),
        reservation_type=answer.get("ReservationType", "default"),
        instance_type=answer.get("InstanceType", ""),
        instance_count=answer.get("TotalInstanceCount", 0),
        zone_id=answer.get("AvailabilityZoneId"),
        start=answer.get("StartDate"),
        end=answer.get("EndDate"),
        created=answer.get("CreateDate"),
        order_name=_order_name(answer),
    )


def block(answer: _Answer) -> Block:
    """Read a CapacityBlock."""
    return Block(
        block_id=answer["CapacityBlockId"],
        state=answer.get("State", "unknown"),
        reservation_ids=tuple(answer.get("CapacityReservationIds") or ()),
        order_name=_order_name(answer),
    )


def extension_offering(answer: _Answer, *, reservation_id: str) -> ExtensionOffering:
    """Read a CapacityBlockExtensionOffering for a reservation; the answer does not repeat which."""
    return ExtensionOffering(
        offering_id=answer["CapacityBlockExtensionOfferingId"],
        reservation_id=reservation_id,
        start=answer["CapacityBlockExtensionStartDate"],
        end=answer["CapacityBlockExtensionEndDate"],
        hours=answer["CapacityBlockExtensionDurationHours"],
        fee=Decimal(answer["UpfrontFee"]),
        currency=answer["CurrencyCode"],
    )


def extension(answer: _Answer) -> Extension:
    """Read a CapacityBlockExtension of the history."""
    return Extension(
        offering_id=answer["CapacityBlockExtensionOfferingId"],
        reservation_id=answer["CapacityReservationId"],
        status=answer.get("CapacityBlockExtensionStatus", "unknown"),
        purchased_at=answer["CapacityBlockExtensionPurchaseDate"],
        start=answer["CapacityBlockExtensionStartDate"],
    )


def bought(answer: _Answer) -> Bought:
    """Read what a purchase of a block says was bought: every reservation of every part, and every block.

    Raises:
        ValueError: If it names none. Then nobody can say what happened.
    """
    reservations = [*(answer.get("CapacityReservations") or ()), answer.get("CapacityReservation") or {}]
    blocks = answer.get("CapacityBlocks") or ()
    ids = {item["CapacityReservationId"] for item in reservations if item.get("CapacityReservationId")}
    ids |= {reservation_id for item in blocks for reservation_id in item.get("CapacityReservationIds") or ()}
    block_ids = {item["CapacityBlockId"] for item in blocks if item.get("CapacityBlockId")}
    block_ids |= {item["CapacityBlockId"] for item in reservations if item.get("CapacityBlockId")}
    if not ids:
        raise ValueError("the answer names no reservation")
    return Bought(reservation_ids=tuple(sorted(ids)), block_ids=tuple(sorted(block_ids)))


def bought_extension(answer: _Answer) -> Bought:
    """Read what a purchase of an extension says was bought.

    Raises:
        ValueError: If it names none.
    """
    ids = {item["CapacityReservationId"] for item in answer.get("CapacityBlockExtensions") or ()}
    if not ids:
        raise ValueError("the answer names no extension")
    return Bought(reservation_ids=tuple(sorted(ids)))


def created(answer: _Answer) -> Bought:
    """Read which On-Demand Capacity Reservation was made."""
    return Bought(reservation_ids=(answer["CapacityReservation"]["CapacityReservationId"],))
