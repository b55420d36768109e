"""Terms of an order, which a person approves before money is spent; its states, and its record in the ledger.

An approval applies to terms, not to an offering: at the time of purchase, an offering is bought only if it meets
every term. The token of an order is a hash of its terms, so changed terms need a new approval.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from decimal import ROUND_UP, Decimal
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

from ultracluster_catalog.capacity.capacity_blocks import block_counts

ORDER_TAG = "uc:po"  # tag that every purchase request carries; its value is the name of the order


@dataclass(frozen=True, kw_only=True)
class Order:
    """Terms of all kinds of orders."""

    kind: ClassVar[str]

    name: str  # name of the order, unique in the ledger; also the value of the tag ORDER_TAG
    account: str  # 12-digit account that pays
    cluster: str  # cluster that the capacity is for; two orders for a cluster are never sent at the same time
    currency: str = "USD"
    max_fee: Decimal  # maximum fee of this order; there is no default
    month_cap: Decimal  # maximum sum of the fees of all orders of this account in a calendar month (UTC)
    approver: str  # name or address of the person who approves, for the record
    expires_at: datetime  # time from which the approval is void, in UTC

    @property
    def lock(self) -> str:
        """Lock that the order holds while it is sent and paid."""
        return f"cluster/{self.cluster}"

    @cached_property
    def token(self) -> str:
        """Token of the order: the first 16 hexadecimal digits of the SHA-256 of its terms."""
        return hashlib.sha256(terms_of(self).encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class BlockOrder(Order):
    """Terms of a purchase of one Capacity Block of instances or UltraServers."""

    kind: ClassVar[str] = "capacity-block"

    regions: tuple[str, ...]  # Regions to search; the best offering of all Regions is bought
    instance_type: str | None = None  # None for UltraServers
    ultraserver_type: str | None = None
    count: int  # number of instances or UltraServers
    # Fewest to accept, where the largest block up to `count` is wanted. None: exactly `count`.
    min_count: int | None = None
    platform: str = "Linux/UNIX"  # platform of the AMI, as EC2 names it
    zone_ids: tuple[str, ...] = ()  # accepted zone IDs; default: all zones of the Regions
    start_after: datetime
    start_before: datetime
    end_by: datetime | None = None  # latest end; default: limited by max_hours only
    request_hours: tuple[int, ...]  # durations to request, in hours
    min_hours: int  # minimum duration in hours; AWS may offer other durations than requested
    max_hours: int  # maximum duration in hours
    # Ranking: a key of ultracluster_runtime.purchasing.offerings.RANKINGS. Default: lowest total fee.
    prefer: str = "total"

    @property
    def counts(self) -> tuple[int, ...]:
        """Numbers to search for, largest first."""
        return block_counts(self.count, self.min_count)


@dataclass(frozen=True, kw_only=True)
class ExtensionOrder(Order):
    """Terms of an extension of an owned Capacity Block."""

    kind: ClassVar[str] = "extension"

    region: str
    reservation_id: str  # reservation to extend; it keeps its ID
    # End that the reservation must still have at the time of purchase. Another end means that it was extended
    # already.
    expected_end: datetime
    extension_hours: int  # duration of the extension in hours

    @property
    def lock(self) -> str:
        """Lock of the reservation: only one extension at a time."""
        return f"reservation/{self.reservation_id}"


@dataclass(frozen=True, kw_only=True)
class OnDemandOrder(Order):
    """Terms of an On-Demand Capacity Reservation.

    EC2 quotes no price for it and bills by the hour until the end. So the approver specifies the hourly price and an
    end: together they limit its cost.
    """

    kind: ClassVar[str] = "on-demand"

    region: str
    instance_type: str
    count: int
    platform: str = "Linux/UNIX"  # platform of the AMI, as EC2 names it
    zone_id: str
    end: datetime  # end of the reservation; EC2 ends it within one hour after this time
    hourly_price: Decimal  # price per instance-hour, as the approver knows it
    placement_group_arn: str | None = None  # cluster placement group of the reservation

    def max_cost(self, now: datetime) -> Decimal:
        """Return the maximum cost of the reservation if it is created at `now`, in the currency of the order.

        EC2 ends a reservation up to one hour after its end, so that hour is included.
        """
        hours = Decimal((self.end - now + timedelta(hours=1)) // timedelta(seconds=1)) / 3600
        return (self.hourly_price * self.count * hours).quantize(Decimal("0.01"), ROUND_UP)


_KINDS: Mapping[str, type[Order]] = {kind.kind: kind for kind in (BlockOrder, ExtensionOrder, OnDemandOrder)}
_TERMS = {name: tuple(field.name for field in fields(kind)) for name, kind in _KINDS.items()}
_TIMES = frozenset({"expires_at", "start_after", "start_before", "end_by", "expected_end", "end"})
_MONEY = frozenset({"max_fee", "month_cap", "hourly_price"})
_LISTS = frozenset({"regions", "zone_ids", "request_hours"})
# Terms that older orders lack: left out where they are not set, so that the token of such an order stays the same.
_LATER_TERMS = frozenset({"min_count"})


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
    """Serialize the terms of an order to canonical JSON with sorted keys."""
    terms = {
        name: _encode(value)
        for name in _TERMS[order.kind]
        if (value := getattr(order, name)) is not None or name not in _LATER_TERMS
    }
    return _canonical({"kind": order.kind, **terms})


def parse_terms(text: str) -> Order:
    """Parse the serialized terms of an order; other text raises ValueError."""
    try:
        terms = json.loads(text)
        kind = _KINDS[terms.pop("kind")]
        return kind(**{name: _decode(name, value) for name, value in terms.items()})
    except (KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"not the terms of an order: {error!r}") from error


class OrderState(StrEnum):
    """State of an order. No state leads back to APPROVED, and only APPROVED leads to SENDING."""

    APPROVED = "APPROVED"  # the terms were approved; nothing was sent
    SENDING = "SENDING"  # one process may have sent the request. The outcome is not known yet.
    PURCHASED = "PURCHASED"  # the reservations exist; the payment is not confirmed
    PAID = "PAID"  # the payment is confirmed; for an On-Demand Capacity Reservation: the capacity is reserved
    FAILED = "FAILED"  # the payment failed or AWS could not deliver, and released the reservation
    REJECTED = "REJECTED"  # nothing was bought: AWS refused before executing, or the request was not sent
    UNKNOWN = "UNKNOWN"  # nothing was found within 30 minutes after sending. A person decides, on evidence.
    CLOSED = "CLOSED"  # a person decided on evidence that nothing was bought
    REVOKED = "REVOKED"  # the approval was revoked before anything was sent
    CANCELLED = "CANCELLED"  # an On-Demand Capacity Reservation was cancelled. Capacity Blocks cannot be.


_FOUND = frozenset({OrderState.PURCHASED, OrderState.PAID, OrderState.FAILED})
"""States that evidence in EC2 leads to. Evidence in EC2 overrides the ledger."""

TRANSITIONS: Mapping[OrderState, frozenset[OrderState]] = MappingProxyType(
    {
        # UNKNOWN: a dry run that succeeds like a real request may have bought.
        OrderState.APPROVED: _FOUND | {OrderState.SENDING, OrderState.REVOKED, OrderState.UNKNOWN},
        OrderState.SENDING: _FOUND | {OrderState.REJECTED, OrderState.UNKNOWN},
        OrderState.UNKNOWN: _FOUND | {OrderState.CLOSED},
        OrderState.PURCHASED: frozenset({OrderState.PAID, OrderState.FAILED, OrderState.CANCELLED}),
        OrderState.PAID: frozenset({OrderState.CANCELLED}),
        OrderState.REJECTED: _FOUND,
        OrderState.CLOSED: _FOUND,
        OrderState.FAILED: frozenset(),
        OrderState.REVOKED: frozenset(),
        OrderState.CANCELLED: frozenset(),
    }
)

HOLDS_FEE = frozenset(
    {
        OrderState.SENDING,
        OrderState.UNKNOWN,
        OrderState.PURCHASED,
        OrderState.PAID,
        OrderState.CANCELLED,  # the hours until the cancellation were billed; their number is unknown here
    }
)
"""States whose fee counts against the monthly cap."""

HOLDS_LOCK = frozenset({OrderState.SENDING, OrderState.UNKNOWN, OrderState.PURCHASED})
"""States in which no other order for the same cluster (or extension of the same reservation) may be sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """Order in the ledger."""

    order: Order
    token: str  # token of the terms at the time of approval
    state: OrderState
    changed_at: datetime
    version: int = 1  # number of writes; a write requires the version that was read
    reason: str = ""  # reason of the state, for people
    # Random value of the process that may send: the one that won APPROVED to SENDING. None before.
    nonce: str | None = None
    sent_at: datetime | None = None  # time at which that process wrote SENDING; None before
    region: str | None = None  # Region of the purchase; None before SENDING
    offering_id: str | None = None  # requested offering; None before, and for On-Demand Capacity Reservations
    fee: Decimal | None = None  # None before SENDING
    month: str | None = None  # key of the month whose cap the fee counts against; None before SENDING
    start: datetime | None = None  # start of the requested capacity; None before SENDING
    end: datetime | None = None  # end of the requested capacity; None before SENDING
    zone_ids: tuple[str, ...] = ()  # zone IDs of the requested capacity
    count: int | None = None  # instances of the requested block; None before SENDING, and for other orders
    holds_lock: bool = False
    reservation_ids: tuple[str, ...] = ()  # all bought reservations, sorted; never removed
    block_ids: tuple[str, ...] = ()  # all bought Capacity Blocks, sorted
    ec2_states: tuple[str, ...] = ()  # id=state of each reservation when it was last read

    @property
    def held_fee(self) -> Decimal:
        """Fee that counts against the monthly cap now."""
        return self.fee if self.fee is not None and self.state in HOLDS_FEE else Decimal(0)
