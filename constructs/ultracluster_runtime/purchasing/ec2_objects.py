"""What EC2 shows of capacity, and the requests that can be sent for it."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from ultracluster_runtime.purchasing.offerings import Offering

__all__ = [
    "Block",
    "CreateReservation",
    "Extension",
    "ExtensionOffering",
    "PurchaseBlock",
    "PurchaseExtension",
    "Quote",
    "Request",
    "Reservation",
]

# What EC2 shows


@dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """One Capacity Reservation. `order_name` is the value of the order's tag, None without one."""

    reservation_id: str
    state: str
    reservation_type: str
    instance_type: str
    instance_count: int
    zone_id: str | None
    start: datetime | None
    end: datetime | None
    created: datetime | None
    order_name: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """One Capacity Block, with the reservations that it consists of."""

    block_id: str
    state: str
    reservation_ids: tuple[str, ...]
    order_name: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtensionOffering:
    """One offer to extend a block."""

    offering_id: str
    reservation_id: str
    start: datetime
    end: datetime
    hours: int
    fee: Decimal
    currency: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Extension:
    """One extension that was bought, by whomever."""

    offering_id: str
    reservation_id: str
    status: str
    purchased_at: datetime
    start: datetime


# What can be sent


@dataclass(frozen=True, kw_only=True, slots=True)
class PurchaseBlock:
    """Buy a Capacity Block; the order's tag travels in the request."""

    region: str
    offering_id: str
    platform: str
    order_name: str
    ultraserver: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PurchaseExtension:
    """Buy an extension. AWS takes neither a tag nor a token here."""

    region: str
    offering_id: str
    reservation_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CreateReservation:
    """Make an On-Demand Capacity Reservation. Besides our own protocol, AWS honours the client token."""

    region: str
    instance_type: str
    count: int
    platform: str
    zone_id: str
    end: datetime
    placement_group_arn: str | None
    client_token: str
    order_name: str


Request = PurchaseBlock | PurchaseExtension | CreateReservation


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """What would be sent, and what it costs; the offering as evidence for a person where there is one."""

    request: Request
    offering_id: str | None
    fee: Decimal
    currency: str
    start: datetime
    end: datetime
    zone_ids: tuple[str, ...]
    offering: Offering | None = None
