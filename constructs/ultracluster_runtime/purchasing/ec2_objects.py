"""Capacity in EC2, and the requests that buy it."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from ultracluster_runtime.purchasing.offerings import Offering

# Capacity


@dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """Capacity Reservation. `order_name` is the value of the order's tag; None without one."""

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
    """Capacity Block with its reservations."""

    block_id: str
    state: str
    reservation_ids: tuple[str, ...]
    order_name: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtensionOffering:
    """Offering of a block extension."""

    offering_id: str
    reservation_id: str
    start: datetime
    end: datetime
    hours: int
    fee: Decimal
    currency: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Extension:
    """Extension that was bought, by whatever order."""

    offering_id: str
    reservation_id: str
    status: str
    purchased_at: datetime
    start: datetime
    fee: Decimal | None = None


# Requests


@dataclass(frozen=True, kw_only=True, slots=True)
class PurchaseBlock:
    """Purchase of a Capacity Block; the request carries the tag of the order."""

    region: str
    offering_id: str
    platform: str
    order_name: str
    ultraserver: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PurchaseExtension:
    """Purchase of an extension. AWS accepts neither a tag nor a client token here."""

    region: str
    offering_id: str
    reservation_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CreateReservation:
    """Creation of an On-Demand Capacity Reservation. In addition to our protocol, AWS honors the client token."""

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
    """Request to send with its price, and the offering as evidence for the user if there is one."""

    request: Request
    offering_id: str | None
    fee: Decimal
    currency: str
    start: datetime
    end: datetime
    zone_ids: tuple[str, ...]
    offering: Offering | None = None
