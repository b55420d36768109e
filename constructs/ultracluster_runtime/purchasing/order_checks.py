"""Parse the terms of an order and report all their problems at once, before anything is written or requested."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import ROUND_DOWN, Decimal
from typing import Any, Final

from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_PLATFORMS,
    BLOCK_REGIONS_DATED,
    EXTENSION_CLOSES,
    EXTENSION_OPENS,
    FURTHEST_START,
    MAX_INSTANCES_PER_BLOCK,
    ULTRASERVER_REGIONS,
    block_regions,
    is_block_duration,
)
from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK, ON_DEMAND
from ultracluster_catalog.names.identifiers import REGION, RESERVATION_ID
from ultracluster_catalog.places.zones import region_of_zone_id
from ultracluster_catalog.prices.prices import capacity_block_price
from ultracluster_runtime.purchasing.offerings import RANKINGS
from ultracluster_runtime.purchasing.orders import BlockOrder, ExtensionOrder, OnDemandOrder, Order
from ultracluster_spec.capacity import check_block_duration
from ultracluster_spec.findings import Finding, FindingsError, Severity, quote
from ultracluster_spec.instance_type import get_instance_type
from ultracluster_spec.network import check_zone_id
from ultracluster_spec.record import RuleRecord

_CHARACTERS = "characters of a-z, 0-9 and -, starting with a letter"
_TEXTS = (
    ("name", r"[a-z][a-z0-9-]{1,47}", f"2 to 48 {_CHARACTERS}"),
    ("account", r"[0-9]{12}", "12 digits"),
    ("cluster", r"[a-z][a-z0-9-]{1,31}", f"2 to 32 {_CHARACTERS}"),
    ("currency", r"[A-Z]{3}", "three letters such as USD"),
)  # name, pattern and description of each term that is a text
MAX_INSTANCES_RESERVED = 1000
"""Maximum number of instances of one On-Demand Capacity Reservation that an order may have."""
PRICE_DECIMALS = 6  # maximum number of decimals of the price of an instance-hour, such as 35.7608
_DECIMALS = 2
_MOST_MONEY = Decimal(10**12)  # more digits would be rounded in sums
_AMOUNT = re.compile(r"[0-9]+(\.[0-9]+)?")
_INTEGER = re.compile(r"[0-9]{1,4}")
_RANGE = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")  # a range up to a longer number would exhaust memory


def check_order(order: Order, *, now: datetime) -> list[Finding]:
    """Return all problems of the terms of an order; empty if it can be approved."""
    findings = [*_check_common_terms(order, now)]
    if isinstance(order, BlockOrder):
        findings += _check_block(order, now)
    elif isinstance(order, ExtensionOrder):
        findings += _check_extension(order, now)
    elif isinstance(order, OnDemandOrder):
        findings += _on_demand(order, now)
    return findings


def _check_common_terms(order: Order, now: datetime) -> Iterator[Finding]:
    for path, pattern, allowed in _TEXTS:
        yield from _check_text(path, getattr(order, path), pattern, allowed=allowed)
    caps = [*_check_money("max_fee", order.max_fee), *_check_money("month_cap", order.month_cap)]
    yield from caps
    if not caps and order.max_fee > order.month_cap:
        problem = f"{order.max_fee} is above month_cap {order.month_cap}"
        yield Finding.message(path="max_fee", problem=problem, allowed="at most month_cap")
    approver_ok = (
        isinstance(order.approver, str) and bool(order.approver.strip()) and order.approver.isprintable()
    )
    yield from _check_value(
        "approver", order.approver, ok=approver_ok, allowed="name of the person who approves"
    )
    yield from _check_time("expires_at", order.expires_at)
    if _is_utc(order.expires_at) and order.expires_at <= now:
        problem = f"{order.expires_at.isoformat()} is in the past; now is {now.astimezone(UTC).isoformat(timespec='seconds')}"
        yield Finding.message(path="expires_at", problem=problem, allowed="a time in the future")


def _check_block(order: BlockOrder, now: datetime) -> Iterator[Finding]:
    yield from _check_regions("regions", order.regions)
    if (order.instance_type is None) == (order.ultraserver_type is None):
        problem = f"got instance type {quote(order.instance_type)} and UltraServer type {quote(order.ultraserver_type)}"
        yield ambiguous_size(problem, allowed="exactly one of them", path="instance_type")
    elif order.ultraserver_type is not None:
        allowed = "an UltraServer type such as u-trn2x64"
        yield from _check_text("ultraserver_type", order.ultraserver_type, r"u-[a-z0-9]+", allowed=allowed)
    yield from _check_instances(order, CAPACITY_BLOCK, MAX_INSTANCES_PER_BLOCK)
    if order.min_count is not None:
        yield from _check_count("min_count", order.min_count, order.count)
    yield from _check_zones("zone_ids", order.zone_ids, order.regions)
    yield from _warn_of_unlisted_regions(order)
    yield from check_ranking("prefer", order.prefer)
    yield from _check_durations(order)
    yield from _start_window(order, now)


def _warn_of_unlisted_regions(order: BlockOrder) -> Iterator[Finding]:
    if order.ultraserver_type is not None:
        listed = ULTRASERVER_REGIONS.get(order.ultraserver_type, ())
    else:
        listed = block_regions(str(order.instance_type))
    unlisted = [str(region) for region in order.regions if region not in listed]
    if unlisted:
        yield Finding(
            code="UC7017",
            path="regions",
            problem=f"{order.ultraserver_type or order.instance_type} is not listed for {', '.join(unlisted)}",
            allowed=f"{', '.join(listed) or 'no Region'} (as of {BLOCK_REGIONS_DATED.isoformat()}; AWS may have added more)",
        )


def ambiguous_size(problem: str, *, allowed: str, path: str = "") -> Finding:
    """Return UC7010 because a block is not sized either by instances or by UltraServers."""
    return Finding(code="UC7010", path=path, problem=problem, allowed=allowed)


def check_ranking(path: str, name: str) -> Iterator[Finding]:
    """Yield a finding for an unknown ranking of offerings."""
    if name not in RANKINGS:
        allowed = ", ".join(sorted(RANKINGS))
        yield Finding.message(path=path, problem=f"got {quote(name)}", allowed=allowed)


def _check_durations(order: BlockOrder) -> Iterator[Finding]:
    if not order.request_hours:
        yield Finding.message(path="request_hours", problem="no duration is specified")
    for hours in order.request_hours:
        yield from _check_duration("request_hours", hours)
    shortest, longest = order.min_hours, order.max_hours
    if not (_is_integer(shortest) and _is_integer(longest) and 0 < shortest <= longest):
        problem = f"got {quote(shortest)} to {quote(longest)} hours"
        allowed = "positive integers, min_hours not above max_hours"
        yield Finding.message(path="min_hours", problem=problem, allowed=allowed)


def _start_window(order: BlockOrder, now: datetime) -> Iterator[Finding]:
    times = [
        *_check_time("start_after", order.start_after),
        *_check_time("start_before", order.start_before),
        *(() if order.end_by is None else _check_time("end_by", order.end_by)),
    ]
    yield from times
    if times:
        return
    yield from check_window("start_before", order.start_after, order.start_before, now=now)
    if order.end_by is not None and order.end_by <= order.start_after:
        problem = "the latest end is not after the earliest start"
        yield Finding(code="UC7014", path="end_by", problem=problem, allowed="a later time")
    elif (
        order.end_by is not None
        and _is_integer(order.min_hours)
        and order.end_by - max(order.start_after, now) < timedelta(hours=order.min_hours)
    ):
        problem = f"no block of {order.min_hours} hours fits between the earliest start and {order.end_by.isoformat()}"
        yield Finding(
            code="UC7014", path="end_by", problem=problem, allowed="a later time, or a shorter block"
        )


def check_window(
    path: str, start_after: datetime, start_before: datetime, *, now: datetime
) -> Iterator[Finding]:
    """Yield UC7014 unless a block can start in a window."""
    if start_before < now:
        problem = f"the latest start, {start_before:%Y-%m-%d %H:%M} UTC, is in the past"
    elif start_before < start_after:
        problem = f"no start lies between {start_after.isoformat()} and {start_before.isoformat()}"
    elif start_after > now + FURTHEST_START:
        problem = f"{start_after.isoformat()} is more than {FURTHEST_START.days} days ahead"
    else:
        return
    allowed = (
        "a window whose start is before its end and at most 8 weeks ahead, and whose end is in the future"
    )
    yield Finding(code="UC7014", path=path, problem=problem, allowed=allowed)


def least_list_price(order: BlockOrder) -> Decimal | None:
    """Return what the smallest and shortest block of an order costs where it is cheapest; None without a list price."""
    prices = [capacity_block_price(str(order.instance_type), region).amount for region in order.regions]
    known = [price for price in prices if price is not None]
    if not known or len(known) < len(prices):
        return None
    cost = min(known) * order.counts[-1] * min(order.request_hours)
    return cost.quantize(Decimal("0.01"), ROUND_DOWN)


def check_list_price(order: BlockOrder) -> list[Finding]:
    """Return a finding (UC7057) if the cap is below the list price of everything that the order accepts."""
    least = least_list_price(order)
    if least is None or order.max_fee >= least:
        return []
    price = capacity_block_price(str(order.instance_type), order.regions[0])
    return [
        Finding(
            code="UC7057",
            path="max_fee",
            problem=f"{order.max_fee} is below the list price of {order.counts[-1]} x {order.instance_type} for "
            f"{min(order.request_hours)} hours, {least} ({price.dated})",
            allowed=f"{least} or more",
            remedy="Raise --max-fee, or use --below-list to wait for a lower price or a shorter block",
        )
    ]


def _check_extension(order: ExtensionOrder, now: datetime) -> Iterator[Finding]:
    yield from _check_regions("region", (order.region,))
    allowed = "cr- and 17 hexadecimal digits"
    for finding in _check_text("reservation_id", order.reservation_id, RESERVATION_ID, allowed=allowed):
        remedy = "This is an offering or a block; specify the ID of its Capacity Reservation"
        yield replace(finding, remedy=remedy if str(order.reservation_id).startswith("cb") else "")
    yield from _check_duration("extension_hours", order.extension_hours)
    times = [*_check_time("expected_end", order.expected_end)]
    yield from times
    if not times and not now + EXTENSION_CLOSES <= order.expected_end <= now + EXTENSION_OPENS:
        problem = f"the block ends at {order.expected_end.isoformat()}"
        allowed = "an extension can be bought from 57 days to 1 hour before the end"
        yield Finding(code="UC7014", path="expected_end", problem=problem, allowed=allowed)


def _on_demand(order: OnDemandOrder, now: datetime) -> Iterator[Finding]:
    yield from _check_regions("region", (order.region,))
    yield from _check_instances(order, ON_DEMAND, MAX_INSTANCES_RESERVED)
    yield from _check_zones("zone_id", (order.zone_id,), (order.region,))
    price = [*_check_money("hourly_price", order.hourly_price, decimals=PRICE_DECIMALS)]
    times = [*_check_time("end", order.end)]
    yield from [*price, *times]
    if not times and order.end <= now:
        problem = f"{order.end.isoformat()} is in the past"
        yield Finding(code="UC7014", path="end", problem=problem, allowed="a later time")
    elif not times and not price and _is_integer(order.count) and isinstance(order.max_fee, Decimal):
        max_cost = order.max_cost(now)
        if order.max_fee.is_finite() and max_cost > order.max_fee:
            yield Finding.message(
                path="max_fee",
                problem=f"the reservation can cost {max_cost} until its end; max_fee is {order.max_fee}",
                allowed="a cap that covers the cost until the end",
                remedy="Raise max_fee, or set an earlier end",
            )


# Terms as text


def parse_amount(path: str, text: str, *, decimals: int = _DECIMALS) -> Decimal:
    """Parse an amount of money without separators, such as ``190000.00``, that an order accepts."""
    amount = Decimal(text if _AMOUNT.fullmatch(text) else "NaN")
    if list(_check_money(path, amount, decimals=decimals)):
        raise FindingsError(_check_money(path, text, decimals=decimals))
    return amount


def parse_time(path: str, text: str, *, also: str = "") -> datetime:
    """Parse a day (midnight UTC) or a time with a UTC offset in ISO 8601; a refusal names what is allowed also."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is not None and len(text) == len("2026-12-01"):
        return time.replace(tzinfo=UTC)
    if time is None or time.tzinfo is None:
        allowed = f"{also}a day such as 2026-12-01 (midnight UTC), or a time such as 2026-12-01T11:30:00Z"
        raise FindingsError(_check_value(path, text, ok=False, allowed=allowed))
    return time.astimezone(UTC)


def parse_counts(path: str, text: str) -> tuple[int, ...]:
    """Parse numbers of instances or UltraServers that an order accepts, such as ``16``, ``8,16`` or ``1-4``."""
    counts = _parse_numbers(text)
    if not counts:
        allowed = "numbers and ranges separated by commas, such as 8,16 or 1-4"
        raise FindingsError(_check_value(path, text, ok=False, allowed=allowed))
    if findings := [finding for count in {counts[0], counts[-1]} for finding in _check_count(path, count)]:
        raise FindingsError(findings)
    return counts


def parse_count(path: str, text: str, *, limit: int = MAX_INSTANCES_PER_BLOCK) -> int:
    """Parse one number from 1 to `limit` in plain digits, such as ``16``."""
    count = int(text) if _INTEGER.fullmatch(text) else 0
    if list(_check_count(path, count, limit)):
        raise FindingsError(_check_count(path, text, limit))
    return count


def parse_days(path: str, text: str) -> tuple[int, ...]:
    """Parse durations in days, such as ``14`` or ``7-14``, and return those that AWS sells in hours (UC7101)."""
    durations = [days * 24 for days in _parse_numbers(text)]
    if not durations:
        allowed = "numbers of days and ranges separated by commas, such as 14 or 7-14"
        raise FindingsError(_check_value(path, text, ok=False, allowed=allowed))
    sold = tuple(hours for hours in durations if is_block_duration(hours))
    if not sold:
        raise FindingsError(_check_duration(path, durations[0]))
    return sold


def _parse_numbers(text: str) -> tuple[int, ...]:
    """Return the sorted numbers of a list such as ``8,10-12``; empty if the text is not one."""
    numbers: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None or int(match[2] or match[1]) < int(match[1]):
            return ()
        numbers |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(sorted(numbers))


# Single terms


def _is_integer(value: Any) -> bool:
    """Return whether a value is an integer; a Boolean is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_utc(value: Any) -> bool:
    """Return whether a value is a timezone-aware time in UTC."""
    return isinstance(value, datetime) and value.utcoffset() == timedelta(0)


def _check_value(path: str, value: Any, *, ok: bool, allowed: str) -> Iterator[Finding]:
    """Yield a finding unless the value is valid."""
    if not ok:
        yield Finding.message(path=path, problem=f"got {quote(value)}", allowed=allowed)


def _check_text(path: str, value: Any, pattern: str, *, allowed: str) -> Iterator[Finding]:
    """Yield a finding unless the value is a string that matches a pattern."""
    ok = isinstance(value, str) and re.fullmatch(pattern, value) is not None
    yield from _check_value(path, value, ok=ok, allowed=allowed)


def _check_money(path: str, value: Any, *, decimals: int = _DECIMALS) -> Iterator[Finding]:
    """Yield a finding unless the value is a positive amount of money with at most 12 digits and some decimals."""
    ok = (
        isinstance(value, Decimal)
        and value.is_finite()
        and 0 < value < _MOST_MONEY
        and _decimals(value) <= decimals
    )
    allowed = f"a positive number with at most 12 digits and {decimals} decimals and without a currency, such as 190000.00"
    yield from _check_value(path, value, ok=ok, allowed=allowed)


def _decimals(value: Decimal) -> int:
    """Return the number of decimals of a finite number."""
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def _check_time(path: str, value: Any) -> Iterator[Finding]:
    """Yield a finding unless the value is a time in UTC."""
    yield from _check_value(
        path, value, ok=_is_utc(value), allowed="a time in UTC, such as 2026-12-01T11:30:00Z"
    )


def _check_regions(path: str, regions: tuple[Any, ...]) -> Iterator[Finding]:
    """Yield a finding for values that are not Regions."""
    if not regions:
        yield Finding.message(path=path, problem="no Region is specified", allowed="one or more Regions")
    allowed = "the name of a Region, such as us-east-2"
    for region in regions:
        yield from _check_text(path, region, REGION, allowed=allowed)


def _check_instances(
    order: BlockOrder | OnDemandOrder, purchase_option: str, limit: int
) -> Iterator[Finding]:
    """Yield findings, also UC7010 and UC4001, for count, platform and instance type."""
    yield from _check_count("count", order.count, limit)
    if order.platform not in BLOCK_PLATFORMS:
        problem, allowed = f"got {quote(order.platform)}", ", ".join(BLOCK_PLATFORMS)
        remedy = "Use the platform of the AMI"
        yield Finding.message(path="platform", problem=problem, allowed=allowed, remedy=remedy)
    if order.instance_type is None:
        return
    try:
        instance_type = get_instance_type(order.instance_type)
    except FindingsError as error:
        yield from error.findings
        return
    if purchase_option not in instance_type.purchase_options:
        yield Finding(
            code="UC7010",
            path="instance_type",
            problem=f"{instance_type.name} is not sold as {purchase_option}",
            allowed=", ".join(sorted(instance_type.purchase_options)),
            remedy=f"Buy the UltraServer {instance_type.ultraserver_type} instead"
            if instance_type.ultraserver_type
            else "",
        )


def _check_count(path: str, count: Any, limit: int = MAX_INSTANCES_PER_BLOCK) -> Iterator[Finding]:
    """Yield a finding unless a value is a number of instances that one order can buy."""
    ok = _is_integer(count) and 1 <= count <= limit
    yield from _check_value(path, count, ok=ok, allowed=f"an integer from 1 to {limit}")


def _check_zones(path: str, zone_ids: tuple[Any, ...], regions: tuple[str, ...]) -> Iterator[Finding]:
    """Yield findings, also UC3003, for zone IDs outside of the Regions."""
    for zone_id in zone_ids:
        if findings := check_zone_id(zone_id):
            yield from (replace(finding, path=path) for finding in findings)
        elif (region := region_of_zone_id(zone_id)) not in regions:
            allowed = f"zones of {', '.join(map(str, regions))}"
            yield Finding.message(path=path, problem=f"{zone_id} is in {region}", allowed=allowed)


def _check_duration(path: str, hours: Any) -> Iterator[Finding]:
    """Yield findings, also UC7101, for durations that AWS does not sell."""
    if _is_integer(hours):
        yield from (replace(finding, path=path) for finding in check_block_duration(hours))
    else:
        yield from _check_value(path, hours, ok=False, allowed="an integer number of hours")


RECORDS: Final = (
    RuleRecord(
        "UC7010",
        "An order is for one instance type or one UltraServer type that is sold with its purchase option.",
        remedy="Specify either an instance type or an UltraServer type, one that is sold with this purchase option.",
        source="botocore 1.44.5, EC2 DescribeCapacityBlockOfferings, 2026: one of the two.",
    ),
    RuleRecord(
        "UC7014",
        "The times of an order allow a purchase.",
        remedy="Specify a window that starts before it ends, ends in the future and is at most 8 weeks ahead, and a latest end that a block can meet.",
        source="EC2 user guide, Capacity Blocks for ML, 2026-10: offered up to 8 weeks ahead.",
    ),
    RuleRecord(
        "UC7057",
        "The cap of an order is not below the list price of the least that it accepts.",
        remedy="Raise --max-fee, or approve fewer nodes or days. With --below-list, the order waits for a lower price, or for the rest of a day.",
        source="AWS's price page of Capacity Blocks, as the catalogue has it with its date; offerings cost the list price (2026-10-03).",
    ),
    RuleRecord(
        "UC7017",
        "An order searches Regions that are known to sell its instance type.",
        severity=Severity.WARNING,
        remedy="Check with `ultracluster capacity find` whether the Region has offerings; the published list may be out of date.",
        source="EC2 user guide, Capacity Blocks by Region, 2026-10; offers seen in ap-south-2, 2026-10-03.",
    ),
)
