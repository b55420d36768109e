"""What capacity there is to reserve or buy in a Region, and what has been: states follow the clock.

Nothing here costs money, and the prices show it: one cent for each node and hour. Tests change the settings of
`CapacityMarket` to make quotas, refusals, failed payments and other prices happen.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any

from ultracluster_catalog.capacity.capacity_blocks import BLOCK_END_UTC, FURTHEST_START, NEAREST_START
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import remembered

__all__ = ["CapacityMarket", "Extension", "Offering", "Reservation", "Segment", "capacity_market"]

_OFFERED_START_DAYS = (1, 3, 8)
_NO_DELAY = timedelta(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """A part of an offering that is in one zone.

    Attributes:
        zone: Name of the zone.
        zone_id: Id of the zone.
        instance_type: Type of its instances.
        count: Number of its instances.
    """

    zone: str
    zone_id: str
    instance_type: str
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Offering:
    """A Capacity Block that could be bought.

    Attributes:
        offering_id: ``cbr-...``; the same search gives the same id.
        segments: Its parts; one, unless the market splits offerings.
        start: When it starts.
        end: When it ends.
        fee: What it costs, fake.
        ultraserver_type: Type of its UltraServers; empty if it is sold by instance.
        ultraserver_count: How many; 0 if it is sold by instance.
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
    """More time for a block, once bought.

    Attributes:
        paid: When its payment succeeds, and the block's end moves.
        failed: Whether it will fail instead.
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
        """Return the state of the payment now."""
        if CLOCK.now() < self.paid:
            return "payment-pending"
        return "payment-failed" if self.failed else "payment-succeeded"


@dataclass(kw_only=True, slots=True)
class Reservation:
    """A reservation: on demand, or that of a Capacity Block.

    Attributes:
        paid: When the payment of a block succeeds; None for what is on demand.
        failed: Whether it will fail instead.
        cancelled: Whether somebody cancelled it; a block cannot be.
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
        """Return when it ends, extensions that are paid counted in."""
        paid = [one.end for one in self.extensions if one.state() == "payment-succeeded"]
        return max([self.end, *paid]) if self.end else None

    def period(self) -> tuple[datetime, datetime]:
        """Return start and end of a block.

        Raises:
            ValueError: If this has no end, so that it is no block.
        """
        end = self.ends()
        if self.start is None or end is None:
            raise ValueError(f"{self.reservation_id} is no Capacity Block")
        return self.start, end

    def state(self) -> str:
        """Return its state now."""
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
        """Return how many instances have room in it now, those that run in it counted in."""
        return self.segment.count if self.state() == "active" else 0


@dataclass(kw_only=True, slots=True)
class CapacityMarket:
    """One Region's market. All settings may be changed at any time.

    Attributes:
        price_per_node_hour: Fake price. Default: one cent.
        currency: Currency of the fake price. Default: ``USD``.
        block_quota_vcpus: Quota of concurrently active blocks, in vCPUs; None for no limit. Default: no limit.
        sold_everywhere: Sell blocks of every type that blocks are sold of, also where AWS does not. Default: no.
        split: Offer blocks in two segments, each in its own zone if the Region has two. Default: no.
        sold_out: Offer nothing. Default: no.
        insufficient: Refuse reservations on demand for want of capacity. Default: no.
        payment_takes: How long the payment of a block or extension takes. Default: no time.
        payment_fails: Let payments fail. Default: no.
        sell_again: Let the same offering be bought again, each time as another block. What EC2 does is not documented,
            and the call has no token; this is the worst case for a buyer. Default: yes.
        unavailable: Instances that are out of order, by reservation id.
        older_event_names: Send events about blocks under the names of AWS's older pages. Default: the current names.
        event_copies: How often each event about a block is delivered; 0 loses all, 2 doubles them. Default: once.
        event_delay: How late events about blocks are delivered. Default: at once.
    """

    price_per_node_hour: Decimal = Decimal("0.01")
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
        """Make the offerings of one search, and keep them for sale.

        Args:
            zones: Name and id of each zone that has the type.
            instance_type: Type of the instances.
            count: Number of instances.
            hours: Length of the block.
            earliest: Earliest start asked for; None for any.
            latest_end: Latest end asked for; None for any.
            ultraserver: Type and number of UltraServers; empty and 0 for a sale by instance.
        """
        if self.sold_out:
            return []
        found = []
        for index, segments in enumerate(self._segments(zones, instance_type, count)):
            for start in _starts(earliest):
                end = start + timedelta(hours=hours)
                if latest_end is not None and end > latest_end:
                    continue
                # Zones differ a little in price, so that there is something to rank.
                fee = self.price_per_node_hour * count * hours * (100 + index) / 100
                seed = f"{segments}{start}{hours}{fee}{ultraserver}".encode()
                offering = Offering(
                    offering_id=f"cbr-{sha256(seed).hexdigest()[:17]}",
                    segments=segments,
                    start=start,
                    end=end,
                    fee=fee.quantize(Decimal("0.01")),
                    ultraserver_type=ultraserver[0],
                    ultraserver_count=ultraserver[1],
                )
                self.offerings[offering.offering_id] = offering
                found.append(offering)
        return found

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
    """Return the market of a Region."""
    return remembered("ec2:capacity", region=region, new=CapacityMarket)
