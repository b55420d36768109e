"""Capacity Block offerings: parsing and ranking.

All figures derive from the fee and the exact duration of the offering, never from what was requested.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_runtime.functions.window import BlockWindow

_FEE = re.compile(r"[0-9]{1,12}(\.[0-9]{1,8})?")
_ROUNDED = timedelta(minutes=1)  # durations are stated in whole minutes
_LAST = Decimal("Infinity")  # offerings whose figure is unknown rank last


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """Segment of an offering that spans zones or instance types; it becomes a separate reservation."""

    instance_type: str
    zone_id: str | None
    instance_count: int
    start: datetime
    end: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Offering:
    """Capacity Block offering. It is not held: another customer can buy it first."""

    offering_id: str  # ID of the offering (cb-…); not a reservation ID
    region: str
    instance_type: str | None  # AWS may omit it for UltraServers
    ultraserver_type: str | None
    ultraserver_count: int  # number of UltraServers; 0 for instances
    instance_count: int
    zone: str  # zone name, which differs between accounts
    zone_ids: tuple[str, ...]  # zone IDs of all segments; empty if any is unknown
    start: datetime
    end: datetime
    duration: timedelta
    fee: Decimal  # total upfront fee
    currency: str
    # Segments of an offering that spans zones or instance types; otherwise empty
    segments: tuple[Segment, ...] = ()

    @property
    def catalog_type(self) -> InstanceType | None:
        """Catalog entry of the instance type; None if the catalog does not have it."""
        if self.instance_type is not None:
            return INSTANCE_TYPES.get(self.instance_type)
        members = (
            instance_type
            for instance_type in INSTANCE_TYPES.values()
            if instance_type.ultraserver_type == self.ultraserver_type
        )
        return next(members, None) if self.ultraserver_type else None

    @property
    def window(self) -> BlockWindow:
        """Window of the block."""
        return BlockWindow(start=self.start, end=self.end, ultraserver=self.ultraserver_type is not None)

    @property
    def node_hours(self) -> Decimal:
        """Paid instance-hours."""
        return self.instance_count * _hours(self.duration)

    @property
    def usable_node_hours(self) -> Decimal:
        """Instance-hours in which jobs can run, without the drain before the end."""
        drained = self.end - self.window.drain_at
        return self.instance_count * _hours(max(timedelta(0), self.duration - drained))

    @property
    def fee_per_node_hour(self) -> Decimal:
        """Fee per paid instance-hour."""
        return self.fee / self.node_hours

    @property
    def fee_per_chip_hour(self) -> Decimal | None:
        """Fee per paid chip-hour; None if the type is mixed or unknown."""
        return self._fee_per(lambda instance_type: instance_type.chips)

    @property
    def fee_per_core_hour(self) -> Decimal | None:
        """Fee per paid hour of a physical NeuronCore; None without NeuronCores."""
        return self._fee_per(lambda instance_type: instance_type.neuron_cores)

    @property
    def usable_node_hours_per_unit(self) -> Decimal:
        """Usable instance-hours per unit of the currency (one dollar)."""
        return self.usable_node_hours / self.fee

    def _fee_per(self, parts: Callable[[InstanceType], int]) -> Decimal | None:
        mixed = any(segment.instance_type != self.instance_type for segment in self.segments)
        instance_type = None if mixed else self.catalog_type
        if instance_type is None or not parts(instance_type):
            return None
        return self.fee / (self.node_hours * parts(instance_type))


def _hours(duration: timedelta) -> Decimal:
    return Decimal(duration // timedelta(seconds=1)) / 3600


RANKINGS: Mapping[str, Callable[[Offering], Any]] = MappingProxyType(
    {
        "total": lambda offering: offering.fee,
        "chip-hour": lambda offering: (
            _LAST if offering.fee_per_chip_hour is None else offering.fee_per_chip_hour
        ),
        "core-hour": lambda offering: (
            _LAST if offering.fee_per_core_hour is None else offering.fee_per_core_hour
        ),
        "start": lambda offering: offering.start,
        "node-hours": lambda offering: -offering.usable_node_hours_per_unit,
    }
)
"""Rankings by name on the command line; the smallest key is the best."""


def rank_offerings(offerings: list[Offering], *, by: str) -> list[Offering]:
    """Sort offerings, best first. Ties go to the lower fee, then the earlier start, then the ID."""
    key = RANKINGS[by]
    return sorted(
        offerings, key=lambda offering: (key(offering), offering.fee, offering.start, offering.offering_id)
    )


def parse_time(value: Any) -> datetime:
    """Return a timezone-aware time of EC2 in UTC, or raise ValueError."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise ValueError(f"not a timezone-aware time: {value!r}")
    return value.astimezone(UTC)


def parse_fee(value: Any) -> Decimal:
    """Parse a fee. EC2 returns it as a string; a float could have lost cents. Raise ValueError unless it is positive."""
    if not isinstance(value, str) or not _FEE.fullmatch(value) or not Decimal(value):
        raise ValueError(f"not a fee: {value!r}")
    return Decimal(value)


def check_duration(*, start: datetime, end: datetime, duration: timedelta) -> None:
    """Raise ValueError if a duration is not the time from start to end, so that it is unknown what the fee buys."""
    if duration <= timedelta(0) or abs(end - start - duration) >= _ROUNDED:
        raise ValueError(f"{duration} does not last from {start.isoformat()} to {end.isoformat()}")


def _positive(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"not a count: {value!r}")
    return value


def _segment(response: Mapping[str, Any], zone_ids: Mapping[str, str]) -> Segment:
    return Segment(
        instance_type=response["InstanceType"],
        zone_id=response.get("AvailabilityZoneId") or zone_ids.get(response.get("AvailabilityZone", "")),
        instance_count=_positive(response["InstanceCount"]),
        start=parse_time(response["StartDate"]),
        end=parse_time(response["EndDate"]),
    )


def parse_offering(response: Mapping[str, Any], *, region: str, zone_ids: Mapping[str, str]) -> Offering:
    """Parse a CapacityBlockOffering; `zone_ids` are by the zone names of this account, which are all that offerings have.

    Raise ValueError if a required field is missing or invalid. Such an offering is never bought.
    """
    try:
        segments = tuple(
            _segment(segment, zone_ids) for segment in response.get("CapacityBlockOfferingSegments") or ()
        )
        zone = response.get("AvailabilityZone", "")
        zones = [segment.zone_id for segment in segments] or [zone_ids.get(zone)]
        ultraservers = response.get("UltraserverCount") or 0
        start, end = parse_time(response["StartDate"]), parse_time(response["EndDate"])
        duration = timedelta(
            hours=response["CapacityBlockDurationHours"],
            minutes=response.get("CapacityBlockDurationMinutes") or 0,
        )
        check_duration(start=start, end=end, duration=duration)
        offering = Offering(
            offering_id=response["CapacityBlockOfferingId"],
            region=region,
            instance_type=response.get("InstanceType"),
            ultraserver_type=response.get("UltraserverType"),
            ultraserver_count=ultraservers,
            instance_count=0,
            zone=zone,
            # One segment in an unknown zone makes the zones of the offering unknown.
            zone_ids=() if None in zones else tuple(sorted({str(zone_id) for zone_id in zones})),
            start=start,
            end=end,
            duration=duration,
            fee=parse_fee(response["UpfrontFee"]),
            currency=response["CurrencyCode"],
            segments=segments,
        )
    except (KeyError, TypeError, ArithmeticError) as error:
        raise ValueError(
            f"offering {response.get('CapacityBlockOfferingId')!r} cannot be read: {error!r}"
        ) from error
    return _with_instances(offering, response.get("InstanceCount"))


def _with_instances(offering: Offering, stated: int | None) -> Offering:
    count = stated or sum(segment.instance_count for segment in offering.segments)
    if not count and offering.ultraserver_count and offering.catalog_type:
        count = offering.ultraserver_count * offering.catalog_type.instances_per_ultraserver
    return replace(offering, instance_count=_positive(count))
