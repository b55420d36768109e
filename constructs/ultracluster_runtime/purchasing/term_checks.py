"""Validate single terms of orders; each function yields findings."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from ultracluster_catalog.capacity.capacity_blocks import BLOCK_PLATFORMS, check_block_duration
from ultracluster_catalog.machines.instance_types import get_instance_type
from ultracluster_catalog.places.zones import region_of_zone_id
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.purchasing.orders import BlockOrder, OnDemandOrder

__all__ = [
    "check_duration",
    "check_instances",
    "check_money",
    "check_regions",
    "check_time",
    "check_value",
    "check_zones",
    "is_integer",
    "is_utc",
    "matches",
]

_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-[0-9]")


def matches(pattern: re.Pattern[str], value: Any) -> bool:
    """Return whether a value is a string that matches a pattern."""
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer; a Boolean is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_utc(value: Any) -> bool:
    """Return whether a value is a timezone-aware time in UTC."""
    return isinstance(value, datetime) and value.utcoffset() == timedelta(0)


def check_value(code: str, path: str, value: Any, *, ok: bool, allowed: str) -> Iterator[Finding]:
    """Yield a finding unless the value is valid."""
    if not ok:
        yield Finding(code=code, path=path, problem=f"got {quote(value)}", allowed=allowed)


def check_money(path: str, value: Any) -> Iterator[Finding]:
    """Yield UC7006 unless the value is a positive amount of money with at most two decimals."""
    ok = isinstance(value, Decimal) and value.is_finite() and value > 0 and value == round(value, 2)
    yield from check_value(
        "UC7006",
        path,
        value,
        ok=ok,
        allowed='a positive Decimal with at most two decimals, such as "190000.00"',
    )


def check_time(path: str, value: Any) -> Iterator[Finding]:
    """Yield UC7008 unless the value is a time in UTC."""
    yield from check_value(
        "UC7008", path, value, ok=is_utc(value), allowed="a time in UTC, such as 2026-12-01T11:30:00Z"
    )


def check_regions(path: str, regions: tuple[Any, ...]) -> Iterator[Finding]:
    """Yield UC7003 for values that are not Regions."""
    if not regions:
        yield Finding(
            code="UC7003", path=path, problem="no Region is specified", allowed="one or more Regions"
        )
    for region in regions:
        yield from check_value(
            "UC7003",
            path,
            region,
            ok=matches(_REGION, region),
            allowed="the name of a Region, such as us-east-2",
        )


def check_instances(order: BlockOrder | OnDemandOrder, purchase_option: str, limit: int) -> Iterator[Finding]:
    """Yield UC7010 to UC7012 and UC4001 for count, platform and instance type."""
    ok = is_integer(order.count) and 1 <= order.count <= limit
    yield from check_value("UC7011", "count", order.count, ok=ok, allowed=f"an integer from 1 to {limit}")
    if order.platform not in BLOCK_PLATFORMS:
        yield Finding(
            code="UC7012",
            path="platform",
            problem=f"got {quote(order.platform)}",
            allowed=", ".join(BLOCK_PLATFORMS),
            remedy="Use the platform of the AMI",
        )
    if order.instance_type is None:
        return
    try:
        machine = get_instance_type(order.instance_type)
    except FindingsError as error:
        yield from error.findings
        return
    if purchase_option not in machine.purchase_options:
        yield Finding(
            code="UC7010",
            path="instance_type",
            problem=f"{machine.name} is not sold as {purchase_option}",
            allowed=", ".join(sorted(machine.purchase_options)),
            remedy=f"Buy the UltraServer {machine.ultraserver_type} instead"
            if machine.ultraserver_type
            else "",
        )


def check_zones(path: str, zone_ids: tuple[Any, ...], regions: tuple[str, ...]) -> Iterator[Finding]:
    """Yield UC7004 and UC3003 for zone IDs outside of the Regions."""
    for zone_id in zone_ids:
        try:
            region = region_of_zone_id(zone_id)
        except FindingsError as error:
            yield from (replace(finding, path=path) for finding in error.findings)
            continue
        if region not in regions:
            yield Finding(
                code="UC7004",
                path=path,
                problem=f"{zone_id} is in {region}",
                allowed=f"zones of {', '.join(map(str, regions))}",
            )


def check_duration(path: str, hours: Any) -> Iterator[Finding]:
    """Yield UC7101 and UC7013 for durations that AWS does not sell."""
    if is_integer(hours):
        yield from (replace(finding, path=path) for finding in check_block_duration(hours))
    else:
        yield from check_value("UC7013", path, hours, ok=False, allowed="an integer number of hours")
