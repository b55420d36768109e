"""Capacity that can be reserved or bought in a Region, and existing reservations, whose states follow the clock.

Prices are list prices, and nobody is charged. Tests change the settings of `CapacityMarket` to simulate quotas,
refusals, failed payments and other prices.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.ec2.capacity_block_terms import (
    BLOCK_END_UTC,
    FURTHEST_START,
    NEAREST_START,
    TERMINATION_BEFORE_END,
    ULTRASERVER_TERMINATION_BEFORE_END,
    list_price,
)

__all__ = ["CapacityMarket", "Extension", "Offering", "Reservation", "Segment", "capacity_market"]

_OFFERED_START_DAYS = (1, 3, 8)
_NO_DELAY = timedelta(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """The part of an offering in one Availability Zone.

    Attributes:
        zone: Availability Zone name.
        zone_id: Availability Zone ID.
        instance_type: Instance type.
        count: Number of instances.
    """

    zone: str
    zone_id: str
    instance_type: str
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Offering:
    """An offering of a Capacity Block.

    Attributes:
        offering_id: Offering ID, ``cbr-...``; the same search returns the same ID.
        segments: Parts; one, unless the market splits offerings.
        start: Start time.
        end: End time.
        fee: Upfront fee.
        ultraserver_type: UltraServer type; empty if sold by instance.
        ultraserver_count: Number of UltraServers; 0 if sold by instance.
    """

    offering_id: str
    segments: tuple[Segment, ...]
    start: datetime
    end: datetime
    fee: Decimal
    ultraserver_type: str = ""
    ultraserver_count: int = 0


@dataclass(kw_only=True, slots=True)
class Extension:
    """A purchased extension of a Capacity Block.

    Attributes:
        paid: When its payment succeeds and the block's end moves.
        failed: Whether the payment fails instead.
    """

    offering_id: str
    hours: int
    start: datetime
    end: datetime
    fee: Decimal
    purchased: datetime
    paid: datetime
    failed: bool

    def state(self) -> str:
        """Return the current payment state."""
        if CLOCK.now() < self.paid:
            return "payment-pending"
        return "payment-failed" if self.failed else "payment-succeeded"


@dataclass(kw_only=True, slots=True)
class Reservation:
    """An On-Demand Capacity Reservation, or that of a Capacity Block.

    Attributes:
        paid: When the payment of a block succeeds; None for on-demand reservations.
        failed: Whether the payment fails instead.
        cancelled: Whether it was canceled, as only on-demand reservations can be.
    """

    reservation_id: str
    arn: str
    segment: Segment
    platform: str
    created: datetime
    start: datetime | None
    end: datetime | None
    match_criteria: str
    tags: dict[str, str]
    end_type: str = "limited"
    block_id: str = ""
    block_tags: dict[str, str] = field(default_factory=dict)
    ultraserver_type: str = ""
    paid: datetime | None = None
    failed: bool = False
    cancelled: bool = False
    forced_state: str = ""
    token: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    extensions: list[Extension] = field(default_factory=list)

    def ends(self) -> datetime | None:
        """Return the end time including paid extensions."""
        paid = [one.end for one in self.extensions if one.state() == "payment-succeeded"]
        return max([self.end, *paid]) if self.end else None

    def period(self) -> tuple[datetime, datetime]:
        """Return the start and end of a block.

        Raises:
            ValueError: If it has no end, so it is not a block.
        """
        end = self.ends()
        if self.start is None or end is None:
            raise ValueError(f"{self.reservation_id} is not a Capacity Block")
        return self.start, end

    def termination(self) -> datetime:
        """Return when EC2 begins to terminate the instances of a block, and launches no more."""
        _, end = self.period()
        return end - (ULTRASERVER_TERMINATION_BEFORE_END if self.ultraserver_type else TERMINATION_BEFORE_END)

    def state(self) -> str:
        """Return the current state."""
        now, end = CLOCK.now(), self.ends()
        if self.forced_state or self.cancelled:
            return self.forced_state or "cancelled"
        if self.paid is not None and now < self.paid:
            return "payment-pending"
        if self.failed:
            return "payment-failed"
        if self.start is not None and now < self.start:
            return "scheduled"
        return "expired" if end is not None and now >= end else "active"

    def available(self) -> int:
        """Return the capacity for instances now, including running ones."""
        return self.segment.count if self.state() == "active" else 0


@dataclass(kw_only=True, slots=True)
class CapacityMarket:
    """Capacity market of one Region. Settings may be changed at any time.

    Attributes:
        price_per_node_hour: Price of a node and hour. Default: the list price of the instance type.
        currency: Currency of the price. Default: ``USD``.
        block_quota_vcpus: Quota of concurrently active blocks, in vCPUs; None for no limit. Default: no limit.
        sold_everywhere: Offer blocks also in Regions where AWS does not. Default: False.
        split: Offer blocks in two segments, in different zones if the Region has two. Default: False.
        sold_out: Offer nothing. Default: False.
        insufficient: Refuse on-demand reservations with InsufficientInstanceCapacity. Default: False.
        payment_takes: Duration of the payment of a block or extension. Default: none.
        payment_fails: Make payments fail. Default: False.
        sell_again: Sell the same offering repeatedly, each time as another block. EC2's behavior is not documented,
            and the operation has no client token; this is the worst case for a buyer. Default: True.
        unavailable: Number of unavailable instances by reservation ID.
        older_event_names: Send events of blocks with the names of older AWS documentation. Default: False.
        event_copies: How often each event of a block is delivered; 0 loses them. Default: 1.
        event_delay: Delay of the events of blocks. Default: none.
    """

    price_per_node_hour: Decimal | None = None
    currency: str = "USD"
    block_quota_vcpus: int | None = None
    sold_everywhere: bool = False
    split: bool = False
    sold_out: bool = False
    insufficient: bool = False
    payment_takes: timedelta = _NO_DELAY
    payment_fails: bool = False
    sell_again: bool = True
    unavailable: dict[str, int] = field(default_factory=dict)
    older_event_names: bool = False
    event_copies: int = 1
    event_delay: timedelta = _NO_DELAY
    offerings: dict[str, Offering] = field(default_factory=dict)
    extension_offerings: dict[str, tuple[str, Extension]] = field(default_factory=dict)
    reservations: dict[str, Reservation] = field(default_factory=dict)
    purchases: int = 0

    def offer(
        self,
        zones: list[tuple[str, str]],
        *,
        instance_type: str,
        count: int,
        hours: int,
        earliest: datetime | None,
        latest_end: datetime | None,
        ultraserver: tuple[str, int] = ("", 0),
    ) -> list[Offering]:
        """Create the offerings of a search and keep them for purchase.

        Args:
            zones: Name and ID of each zone with the instance type.
            instance_type: Instance type.
            count: Number of instances.
            hours: Duration of the block.
            earliest: Requested earliest start; None for any.
            latest_end: Requested latest end; None for any.
            ultraserver: Type and number of UltraServers; empty and 0 if sold by instance.
        """
        if self.sold_out:
            return []
        found = []
        for segments in self._segments(zones, instance_type, count):
            for start in _starts(earliest):
                end = start + timedelta(hours=hours)
                if latest_end is not None and end > latest_end:
                    continue
                fee = self.fee(instance_type, count=count, hours=hours)
                seed = f"{segments}{start}{hours}{fee}{ultraserver}".encode()
                offering = Offering(
                    offering_id=f"cbr-{sha256(seed).hexdigest()[:17]}",
                    segments=segments,
                    start=start,
                    end=end,
                    fee=fee,
                    ultraserver_type=ultraserver[0],
                    ultraserver_count=ultraserver[1],
                )
                self.offerings[offering.offering_id] = offering
                found.append(offering)
        return found

    def fee(self, instance_type: str, *, count: int, hours: int) -> Decimal:
        """Return the upfront fee, which does not depend on the zone."""
        price = list_price(instance_type) if self.price_per_node_hour is None else self.price_per_node_hour
        return (price * count * hours).quantize(Decimal("0.01"))

    def _segments(
        self, zones: list[tuple[str, str]], instance_type: str, count: int
    ) -> Iterator[tuple[Segment, ...]]:
        if self.split and count > 1:
            places = [zones[0], zones[1 % len(zones)]]
            counts = [count - count // 2, count // 2]
            yield tuple(
                Segment(zone=name, zone_id=zone_id, instance_type=instance_type, count=part)
                for (name, zone_id), part in zip(places, counts, strict=True)
            )
            return
        for name, zone_id in zones:
            yield (Segment(zone=name, zone_id=zone_id, instance_type=instance_type, count=count),)


def _starts(earliest: datetime | None) -> Iterator[datetime]:
    now = CLOCK.now()
    soonest = max(now + NEAREST_START, earliest or now)
    first = now.replace(hour=BLOCK_END_UTC.hour, minute=BLOCK_END_UTC.minute, second=0, microsecond=0)
    while first < soonest:
        first += timedelta(days=1)
    for days in _OFFERED_START_DAYS:
        start = first + timedelta(days=days - 1)
        if start <= now + FURTHEST_START:
            yield start


def capacity_market(region: str) -> CapacityMarket:
    """Return the capacity market of a Region."""
    return region_state("ec2:capacity", region=region, new=CapacityMarket)
