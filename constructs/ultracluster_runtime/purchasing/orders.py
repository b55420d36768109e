"""The terms that a person approves before any money moves.

An approval binds to terms, not to an offering: whatever AWS offers at the time of buying is bought only if it
keeps every term. The token of an order is a hash of its terms, so a changed term needs a new approval.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar

__all__ = [
    "ORDER_TAG",
    "BlockOrder",
    "ExtensionOrder",
    "OnDemandOrder",
    "Order",
    "order_token",
    "parse_terms",
    "terms_of",
]

ORDER_TAG = "uc:po"
"""The tag that every purchase carries in its request; its value is the order's name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """The terms that every kind of order has.

    Attributes:
        name: The order's own name, unique in the ledger; also the value of the tag `ORDER_TAG`.
        account: The 12-digit account that pays.
        cluster: The cluster that the capacity is for. Two orders of one cluster are never sent at the same time.
        currency: The only currency accepted.
        max_fee: The highest fee accepted for this order. There is no default.
        month_cap: The highest sum of fees of all orders of this account in a calendar month (UTC).
        approver: Who approves: a name or an address, for the record.
        expires_at: From this time on the approval is void. Aware UTC.
    """

    kind: ClassVar[str]

    name: str
    account: str
    cluster: str
    currency: str = "USD"
    max_fee: Decimal
    month_cap: Decimal
    approver: str
    expires_at: datetime

    @property
    def lock(self) -> str:
        """What this order must have to itself while it is sent and paid."""
        return f"cluster/{self.cluster}"


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockOrder(Order):
    """Terms for one Capacity Block of instances, or of UltraServers.

    Attributes:
        regions: Where to look. The offer with the best rank of all Regions is bought.
        instance_type: The instance type. None when UltraServers are bought.
        ultraserver_type: The UltraServer type. None when instances are bought.
        count: Instances, or UltraServers.
        platform: The platform of the AMI, as EC2 names it. Default: Linux/UNIX.
        zone_ids: The zone ids accepted. Default: every zone of the Regions.
        start_after: Earliest start accepted.
        start_before: Latest start accepted.
        end_by: Latest end accepted. Default: no limit but `max_hours`.
        request_hours: The durations to ask AWS for, in hours.
        min_hours: Shortest block accepted, in hours. AWS may answer with a block of other length than was asked.
        max_hours: Longest block accepted, in hours.
        prefer: What makes the best offer: a name of `ultracluster_runtime.purchasing.offerings.RANKINGS`. Default: lowest total.
    """

    kind: ClassVar[str] = "capacity-block"

    regions: tuple[str, ...]
    instance_type: str | None = None
    ultraserver_type: str | None = None
    count: int
    platform: str = "Linux/UNIX"
    zone_ids: tuple[str, ...] = ()
    start_after: datetime
    start_before: datetime
    end_by: datetime | None = None
    request_hours: tuple[int, ...]
    min_hours: int
    max_hours: int
    prefer: str = "total"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtensionOrder(Order):
    """Terms for an extension of a Capacity Block that is owned already.

    Attributes:
        region: The Region of the reservation.
        reservation_id: The reservation to extend; it keeps its id.
        expected_end: The end that the reservation must still have when the extension is bought. An end that moved
            means that somebody extended it already.
        extension_hours: The length of the extension in hours: one length, since longer is not better here.
    """

    kind: ClassVar[str] = "extension"

    region: str
    reservation_id: str
    expected_end: datetime
    extension_hours: int

    @property
    def lock(self) -> str:
        """A reservation has one extension under way at a time."""
        return f"reservation/{self.reservation_id}"


@dataclass(frozen=True, kw_only=True, slots=True)
class OnDemandOrder(Order):
    """Terms for an On-Demand Capacity Reservation.

    EC2 quotes no price for it and bills by the hour until the end. So the approver states the hourly price, and the
    end is mandatory: together they bound what it can cost.

    Attributes:
        region: Where to reserve.
        instance_type: The instance type.
        count: Instances.
        platform: The platform of the AMI, as EC2 names it. Default: Linux/UNIX.
        zone_id: The zone id of the reservation.
        end: When the reservation ends by itself. EC2 ends it within an hour after that.
        hourly_price: Price of one instance-hour, as the approver knows it.
        placement_group_arn: A cluster placement group to reserve in. Default: none.
    """

    kind: ClassVar[str] = "on-demand"

    region: str
    instance_type: str
    count: int
    platform: str = "Linux/UNIX"
    zone_id: str
    end: datetime
    hourly_price: Decimal
    placement_group_arn: str | None = None

    def max_cost(self, now: datetime) -> Decimal:
        """The most that this reservation can cost when it is made at `now`, in the order's currency.

        EC2 ends a reservation up to one hour after its end, so that hour counts.
        """
        hours = Decimal((self.end - now + timedelta(hours=1)) // timedelta(seconds=1)) / 3600
        return (self.hourly_price * self.count * hours).quantize(Decimal("0.01"))


_KINDS: Mapping[str, type[Order]] = {kind.kind: kind for kind in (BlockOrder, ExtensionOrder, OnDemandOrder)}
_TERMS = {name: tuple(field.name for field in fields(kind)) for name, kind in _KINDS.items()}
_TIMES = frozenset({"expires_at", "start_after", "start_before", "end_by", "expected_end", "end"})
_MONEY = frozenset({"max_fee", "month_cap", "hourly_price"})
_LISTS = frozenset({"regions", "zone_ids", "request_hours"})


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def _encode(value: Any) -> Any:
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, tuple):
        return sorted(value)
    return value


def _decode(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _TIMES:
        return datetime.fromisoformat(value)
    if name in _MONEY:
        return Decimal(value)
    return tuple(value) if name in _LISTS else value


def terms_of(order: Order) -> str:
    """Write an order's terms in their one canonical form: JSON with sorted keys."""
    terms = {name: _encode(getattr(order, name)) for name in _TERMS[order.kind]}
    return _canonical({"kind": order.kind, **terms})


def parse_terms(text: str) -> Order:
    """Read what `terms_of` wrote.

    Raises:
        ValueError: If the text is not the terms of an order.
    """
    try:
        terms = json.loads(text)
        kind = _KINDS[terms.pop("kind")]
        return kind(**{name: _decode(name, value) for name, value in terms.items()})
    except (KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"not the terms of an order: {error!r}") from error


def order_token(order: Order) -> str:
    """The token of an order: the first 16 hexadecimal digits of the SHA-256 of its terms."""
    return hashlib.sha256(terms_of(order).encode()).hexdigest()[:16]
