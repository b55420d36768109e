"""Whether the terms of an order make sense: every problem at once, before anything is written or asked."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal

from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_REGIONS_DATED,
    EXTENSION_CLOSES,
    EXTENSION_OPENS,
    FURTHEST_START,
    MAX_INSTANCES_PER_BLOCK,
    ULTRASERVER_REGIONS,
    block_regions,
)
from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK, ON_DEMAND
from ultracluster_catalog.names.identifiers import RESERVATION_ID
from ultracluster_rules.findings import Finding, quote
from ultracluster_runtime.purchasing.offerings import RANKINGS
from ultracluster_runtime.purchasing.orders import BlockOrder, ExtensionOrder, OnDemandOrder, Order
from ultracluster_runtime.purchasing.term_checks import (
    check_duration,
    check_form,
    check_instances,
    check_money,
    check_regions,
    check_time,
    check_zones,
    is_utc,
    is_whole,
    matches,
)

__all__ = ["check_order", "check_ranking"]

_NAME = re.compile(r"[a-z][a-z0-9-]{1,47}")
_CLUSTER = re.compile(r"[a-z][a-z0-9-]{1,31}")
_ACCOUNT = re.compile(r"[0-9]{12}")
_RESERVATION = re.compile(RESERVATION_ID)
_ULTRASERVER = re.compile(r"u-[a-z0-9]+")
_CURRENCY = re.compile(r"[A-Z]{3}")


def check_order(order: Order, *, now: datetime) -> list[Finding]:
    """Check the terms of an order.

    Args:
        order: The order.
        now: The present time, aware.

    Returns:
        Every problem, in the order of the terms; empty when the order can be approved.
    """
    findings = [*_common(order, now)]
    if isinstance(order, BlockOrder):
        findings += _block(order, now)
    elif isinstance(order, ExtensionOrder):
        findings += _extension(order, now)
    elif isinstance(order, OnDemandOrder):
        findings += _on_demand(order, now)
    return findings


def _common(order: Order, now: datetime) -> Iterator[Finding]:
    yield from check_form(
        "UC7001",
        "name",
        order.name,
        ok=matches(_NAME, order.name),
        allowed="2 to 48 of a-z, 0-9 and -, a letter first",
    )
    yield from check_form(
        "UC7002", "account", order.account, ok=matches(_ACCOUNT, order.account), allowed="12 digits"
    )
    yield from check_form(
        "UC7001",
        "cluster",
        order.cluster,
        ok=matches(_CLUSTER, order.cluster),
        allowed="2 to 32 of a-z, 0-9 and -, a letter first",
    )
    yield from check_form(
        "UC7005",
        "currency",
        order.currency,
        ok=matches(_CURRENCY, order.currency),
        allowed="three letters such as USD",
    )
    caps = [*check_money("max_fee", order.max_fee), *check_money("month_cap", order.month_cap)]
    yield from caps
    if not caps and order.max_fee > order.month_cap:
        yield Finding(
            code="UC7006",
            path="max_fee",
            problem=f"{order.max_fee} is above month_cap {order.month_cap}",
            allowed="at most the month's cap",
        )
    approver_ok = (
        isinstance(order.approver, str) and bool(order.approver.strip()) and order.approver.isprintable()
    )
    yield from check_form(
        "UC7007", "approver", order.approver, ok=approver_ok, allowed="the name of the person who approves"
    )
    yield from check_time("expires_at", order.expires_at)
    if is_utc(order.expires_at) and order.expires_at <= now:
        yield Finding(
            code="UC7009",
            path="expires_at",
            problem=f"{order.expires_at.isoformat()} has passed: it is {now.astimezone(UTC).isoformat(timespec='seconds')}",
            allowed="a time in the future",
        )


def _block(order: BlockOrder, now: datetime) -> Iterator[Finding]:
    yield from check_regions("regions", order.regions)
    if (order.instance_type is None) == (order.ultraserver_type is None):
        yield Finding(
            code="UC7010",
            path="instance_type",
            problem=f"got instance type {quote(order.instance_type)} and UltraServer type {quote(order.ultraserver_type)}",
            allowed="exactly one of the two",
        )
    elif order.ultraserver_type is not None:
        ok = matches(_ULTRASERVER, order.ultraserver_type)
        yield from check_form(
            "UC7010",
            "ultraserver_type",
            order.ultraserver_type,
            ok=ok,
            allowed="an UltraServer type such as u-trn2x64",
        )
    yield from check_instances(order, CAPACITY_BLOCK, MAX_INSTANCES_PER_BLOCK)
    yield from check_zones("zone_ids", order.zone_ids, order.regions)
    yield from _unlisted(order)
    yield from check_ranking("prefer", order.prefer)
    yield from _durations(order)
    yield from _start_window(order, now)


def _unlisted(order: BlockOrder) -> Iterator[Finding]:
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


def check_ranking(path: str, name: str) -> Iterator[Finding]:
    """UC7016 for a ranking of offerings that there is not."""
    if name not in RANKINGS:
        allowed = ", ".join(sorted(RANKINGS))
        yield Finding(code="UC7016", path=path, problem=f"got {quote(name)}", allowed=allowed)


def _durations(order: BlockOrder) -> Iterator[Finding]:
    if not order.request_hours:
        yield Finding(code="UC7013", path="request_hours", problem="no duration is given")
    for hours in order.request_hours:
        yield from check_duration("request_hours", hours)
    bounds_ok = (
        is_whole(order.min_hours) and is_whole(order.max_hours) and 0 < order.min_hours <= order.max_hours
    )
    if not bounds_ok:
        yield Finding(
            code="UC7013",
            path="min_hours",
            problem=f"got {quote(order.min_hours)} to {quote(order.max_hours)} hours",
            allowed="whole numbers above zero, the smaller first",
        )


def _start_window(order: BlockOrder, now: datetime) -> Iterator[Finding]:
    times = [
        *check_time("start_after", order.start_after),
        *check_time("start_before", order.start_before),
        *(() if order.end_by is None else check_time("end_by", order.end_by)),
    ]
    yield from times
    if times:
        return
    if order.start_before < max(order.start_after, now):
        yield Finding(
            code="UC7014",
            path="start_before",
            problem=f"no start lies between {max(order.start_after, now).isoformat()} and {order.start_before.isoformat()}",
            allowed="a window that begins before it ends, and ends in the future",
        )
    if order.start_after > now + FURTHEST_START:
        yield Finding(
            code="UC7014",
            path="start_after",
            problem=f"{order.start_after.isoformat()} is more than {FURTHEST_START.days} days ahead",
            allowed="blocks are offered up to 8 weeks ahead",
        )
    if order.end_by is not None and order.end_by <= order.start_after:
        yield Finding(
            code="UC7014",
            path="end_by",
            problem="the latest end is not after the earliest start",
            allowed="a later time",
        )


def _extension(order: ExtensionOrder, now: datetime) -> Iterator[Finding]:
    yield from check_regions("region", (order.region,))
    if not matches(_RESERVATION, order.reservation_id):
        offering = isinstance(order.reservation_id, str) and order.reservation_id.startswith("cb")
        yield Finding(
            code="UC7015",
            path="reservation_id",
            problem=f"got {quote(order.reservation_id)}",
            allowed="cr- and 17 hexadecimal digits",
            remedy="That is an offering or a block; give the id of its Capacity Reservation"
            if offering
            else "",
        )
    yield from check_duration("extension_hours", order.extension_hours)
    times = [*check_time("expected_end", order.expected_end)]
    yield from times
    if not times and not now + EXTENSION_CLOSES <= order.expected_end <= now + EXTENSION_OPENS:
        yield Finding(
            code="UC7014",
            path="expected_end",
            problem=f"the block ends at {order.expected_end.isoformat()}",
            allowed="an extension can be bought from 57 days to 1 hour before the end",
        )


def _on_demand(order: OnDemandOrder, now: datetime) -> Iterator[Finding]:
    yield from check_regions("region", (order.region,))
    yield from check_instances(order, ON_DEMAND, 1000)
    yield from check_zones("zone_id", (order.zone_id,), (order.region,))
    price = [*check_money("hourly_price", order.hourly_price)]
    times = [*check_time("end", order.end)]
    yield from [*price, *times]
    if not times and order.end <= now:
        yield Finding(
            code="UC7014", path="end", problem=f"{order.end.isoformat()} has passed", allowed="a later time"
        )
    elif not times and not price and is_whole(order.count) and isinstance(order.max_fee, Decimal):
        bound = order.bound(now)
        if order.max_fee.is_finite() and bound > order.max_fee:
            yield Finding(
                code="UC7006",
                path="max_fee",
                problem=f"the reservation can cost {bound} until its end and max_fee is {order.max_fee}",
                allowed="a cap that covers the price until the end",
                remedy="Raise the cap or set an earlier end",
            )
