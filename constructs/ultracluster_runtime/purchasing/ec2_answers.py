"""Reading EC2's answers about capacity into our own objects, tolerant of fields that are missing."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ultracluster_runtime.purchasing.ec2_objects import Block, Extension, ExtensionOffering, Reservation
from ultracluster_runtime.purchasing.effects import Bought
from ultracluster_runtime.purchasing.orders import ORDER_TAG

__all__ = ["block", "bought", "bought_extension", "created", "extension", "extension_offering", "reservation"]

_Answer = Mapping[str, Any]


def _order_name(response: _Answer) -> str | None:
    return next((tag["Value"] for tag in response.get("Tags") or () if tag.get("Key") == ORDER_TAG), None)


def reservation(response: _Answer) -> Reservation:
    """Read a CapacityReservation."""
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
    """Read a CapacityBlock."""
    return Block(
        block_id=response["CapacityBlockId"],
        state=response.get("State", "unknown"),
        reservation_ids=tuple(response.get("CapacityReservationIds") or ()),
        order_name=_order_name(response),
    )


def extension_offering(response: _Answer, *, reservation_id: str) -> ExtensionOffering:
    """Read a CapacityBlockExtensionOffering for a reservation; the answer does not repeat which."""
    return ExtensionOffering(
        offering_id=response["CapacityBlockExtensionOfferingId"],
        reservation_id=reservation_id,
        start=response["CapacityBlockExtensionStartDate"],
        end=response["CapacityBlockExtensionEndDate"],
        hours=response["CapacityBlockExtensionDurationHours"],
        fee=Decimal(response["UpfrontFee"]),
        currency=response["CurrencyCode"],
    )


def extension(response: _Answer) -> Extension:
    """Read a CapacityBlockExtension of the history."""
    return Extension(
        offering_id=response["CapacityBlockExtensionOfferingId"],
        reservation_id=response["CapacityReservationId"],
        status=response.get("CapacityBlockExtensionStatus", "unknown"),
        purchased_at=response["CapacityBlockExtensionPurchaseDate"],
        start=response["CapacityBlockExtensionStartDate"],
    )


def bought(response: _Answer) -> Bought:
    """Read what a purchase of a block says was bought: every reservation of every part, and every block.

    Raises:
        ValueError: If it names none. Then nobody can say what happened.
    """
    reservations = [*(response.get("CapacityReservations") or ()), response.get("CapacityReservation") or {}]
    blocks = response.get("CapacityBlocks") or ()
    ids = {item["CapacityReservationId"] for item in reservations if item.get("CapacityReservationId")}
    ids |= {reservation_id for item in blocks for reservation_id in item.get("CapacityReservationIds") or ()}
    block_ids = {item["CapacityBlockId"] for item in blocks if item.get("CapacityBlockId")}
    block_ids |= {item["CapacityBlockId"] for item in reservations if item.get("CapacityBlockId")}
    if not ids:
        raise ValueError("the answer names no reservation")
    return Bought(reservation_ids=tuple(sorted(ids)), block_ids=tuple(sorted(block_ids)))


def bought_extension(response: _Answer) -> Bought:
    """Read what a purchase of an extension says was bought.

    Raises:
        ValueError: If it names none.
    """
    ids = {item["CapacityReservationId"] for item in response.get("CapacityBlockExtensions") or ()}
    if not ids:
        raise ValueError("the answer names no extension")
    return Bought(reservation_ids=tuple(sorted(ids)))


def created(response: _Answer) -> Bought:
    """Read which On-Demand Capacity Reservation was made."""
    return Bought(reservation_ids=(response["CapacityReservation"]["CapacityReservationId"],))
