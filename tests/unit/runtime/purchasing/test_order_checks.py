"""Invalid terms: each with its code, all at once, at both sides of each boundary."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.unit.runtime.purchasing.example_orders import block_order, extension_order, on_demand_order
from tests.unit.runtime.purchasing.simulation import OWNED_END, START

from ultracluster_runtime.purchasing.order_checks import (
    check_list_price,
    check_order,
    least_list_price,
    parse_amount,
    parse_counts,
    parse_days,
    parse_time,
)
from ultracluster_runtime.purchasing.orders import Order
from ultracluster_spec.findings import FindingsError


def codes(order: Order, now: datetime = START) -> list[str]:
    return sorted(finding.code for finding in check_order(order, now=now))


def says(order: Order, line: str) -> bool:
    return any(str(finding).startswith(line) for finding in check_order(order, now=START))


@pytest.mark.parametrize(
    "order", [block_order(), extension_order(), on_demand_order()], ids=lambda order: order.kind
)
def test_accepts_a_valid_order(order: Order) -> None:
    assert codes(order) == []


NAMES = "{} characters of a-z, 0-9 and -, starting with a letter"
TIME_IN_UTC = "a time in UTC, such as 2026-12-01T11:30:00Z"
PLATFORMS = "Linux/UNIX, Red Hat Enterprise Linux, RHEL with HA, SUSE Linux, Ubuntu Pro"
AMOUNTS = "a positive number with at most 12 digits and 2 decimals and without a currency, such as 190000.00"


@pytest.mark.parametrize(
    ("term", "values", "allowed"),
    [
        ("name", ["a", "Dec", "d" * 49, "d\u0435c"], NAMES.format("2 to 48")),
        ("cluster", ["a/b", "c" * 33], NAMES.format("2 to 32")),
        ("max_fee", [None, Decimal(0), Decimal(-1), 1000.0, "50k"], AMOUNTS),
        ("max_fee", [Decimal(text) for text in ("NaN", "Infinity", "1.001", "1.000", "9" * 29)], AMOUNTS),
        ("count", [0, 65, True, 3.5], "an integer from 1 to 64"),
        ("account", ["12345678901", 123456789012], "12 digits"),
        ("currency", ["usd"], "three letters such as USD"),
        ("approver", ["  ", "a\nb"], "name of the person who approves"),
        ("expires_at", [datetime(2026, 12, 1)], TIME_IN_UTC),  # noqa: DTZ001 - that is the mistake
        ("start_after", ["2026-12-01"], TIME_IN_UTC),
        ("min_count", [0, 17], "an integer from 1 to 16"),
        ("prefer", ["cheapest"], "chip-hour, core-hour, node-hours, start, total"),
        ("platform", ["Windows"], PLATFORMS),
    ],
)
def test_refuses_a_value_of_another_form(term: str, values: list[Any], allowed: str) -> None:
    for value in values:
        assert says(block_order(**{term: value}), f"error: {term}: got {value!a}. Allowed: {allowed}."), value


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"zone_ids": (), "regions": ()},
            "error: regions: no Region is specified. Allowed: one or more Regions.",
        ),
        (
            {"zone_ids": (), "regions": ("us-east-2; rm -rf",)},
            "error: regions: got 'us-east-2; rm -rf'. Allowed: the name of a Region, such as us-east-2.",
        ),
        (
            {"zone_ids": ("usw2-az1",)},
            "error: zone_ids: usw2-az1 is in us-west-2. Allowed: zones of us-east-2.",
        ),
        (
            {"zone_ids": ("us-east-2a",)},
            "UC3003: zone_ids: 'us-east-2a' is not a zone ID of a known Region. Allowed: a zone ID such as use2-az3. `aws ec2 describe-availability-zones` shows the zone ID of each zone name.",
        ),
        (
            {"max_fee": Decimal("250000.01")},
            "error: max_fee: 250000.01 is above month_cap 250000. Allowed: at most month_cap.",
        ),
        (
            {"expires_at": START},
            "error: expires_at: 2026-11-20T09:00:00+00:00 is in the past; now is 2026-11-20T09:00:00+00:00. Allowed: a time in the future.",
        ),
        (
            {"instance_type": None},
            "UC7010: instance_type: got instance type None and UltraServer type None. Allowed: exactly one of them.",
        ),
        (
            {"ultraserver_type": "u-trn2x64"},
            "UC7010: instance_type: got instance type 'trn2.48xlarge' and UltraServer type 'u-trn2x64'. Allowed: exactly one of them.",
        ),
        (
            {"instance_type": "trn1n.32xlarge", "regions": ("us-east-2",)},
            "UC7010: instance_type: trn1n.32xlarge is not sold as capacity-block. Allowed: on-demand, spot.",
        ),
        (
            {"instance_type": "trn2.96xlarge"},
            "UC4001: got 'trn2.96xlarge'",
        ),
        ({"request_hours": ()}, "error: request_hours: no duration is specified."),
        (
            {"request_hours": (25,)},
            "UC7101: request_hours: got 25 hours. Allowed: 1 to 14 days in whole days (24 to 336 hours), or 21 to 182 days in whole weeks. Nearest valid durations: 24 hours and 48 hours.",
        ),
        ({"request_hours": ("24",)}, "error: request_hours: got '24'. Allowed: an integer number of hours."),
        (
            {"min_hours": 0},
            "error: min_hours: got 0 to 360 hours. Allowed: positive integers, min_hours not above max_hours.",
        ),
        (
            {"min_hours": 361},
            "error: min_hours: got 361 to 360 hours. Allowed: positive integers, min_hours not above max_hours.",
        ),
        (
            {"start_before": START - timedelta(seconds=1)},
            "UC7014: start_before: the latest start, 2026-11-20 08:59 UTC, is in the past. Allowed: a window whose start is before its end and at most 8 weeks ahead, and whose end is in the future.",
        ),
        (
            {
                "start_after": START + timedelta(weeks=8, seconds=1),
                "start_before": START + timedelta(weeks=9),
            },
            "UC7014: start_before: 2027-01-15T09:00:01+00:00 is more than 56 days ahead. Allowed: a window whose start is before its end and at most 8 weeks ahead, and whose end is in the future.",
        ),
        (
            {"end_by": START + timedelta(hours=312) - timedelta(seconds=1)},
            (
                "UC7014: end_by: no block of 312 hours fits between the earliest start and 2026-12-03T08:59:59+00:00. "
                "Allowed: a later time, or a shorter block."
            ),
        ),
        (
            {"end_by": START},
            "UC7014: end_by: the latest end is not after the earliest start. Allowed: a later time.",
        ),
        (
            {"regions": ("eu-west-1",), "zone_ids": ()},
            "UC7017: regions: trn2.48xlarge is not listed for eu-west-1. Allowed: us-east-2, ap-south-2 (as of 2026-09-01; AWS may have added more).",
        ),
    ],
)
def test_refuses_a_block_order(changes: dict[str, Any], line: str) -> None:
    assert says(block_order(**changes), line)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "de"},
        {"name": "d" * 48},
        {"cluster": "c" * 32},
        {"max_fee": Decimal("250000.00")},
        {"max_fee": Decimal("0.01")},
        {"expires_at": START + timedelta(seconds=1)},
        {"count": 1},
        {"count": 64},
        {"start_before": START},
        {"start_after": START + timedelta(weeks=8), "start_before": START + timedelta(weeks=9)},
        {"end_by": START + timedelta(hours=312)},
        {"min_count": 16},
        {"zone_ids": ()},
        {"min_hours": 360},
        {"instance_type": None, "ultraserver_type": "u-trn2x64"},
    ],
)
def test_accepts_the_last_valid_value(changes: dict[str, Any]) -> None:
    assert codes(block_order(**changes)) == []


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"reservation_id": "cr-XYZ"},
            "error: reservation_id: got 'cr-XYZ'. Allowed: cr- and 17 hexadecimal digits.",
        ),
        (
            {"reservation_id": "cb-0123456789abcdef0"},
            "error: reservation_id: got 'cb-0123456789abcdef0'. Allowed: cr- and 17 hexadecimal digits. This is an offering or a block; specify the ID of its Capacity Reservation.",
        ),
        (
            {"extension_hours": 15 * 24},
            "UC7101: extension_hours: got 360 hours. Allowed: 1 to 14 days in whole days (24 to 336 hours), or 21 to 182 days in whole weeks. Nearest valid durations: 336 hours and 504 hours.",
        ),
        (
            {"extension_hours": True},
            "error: extension_hours: got True. Allowed: an integer number of hours.",
        ),
        (
            {"expected_end": START + timedelta(minutes=59)},
            "UC7014: expected_end: the block ends at 2026-11-20T09:59:00+00:00. Allowed: an extension can be bought from 57 days to 1 hour before the end.",
        ),
        (
            {"expected_end": START + timedelta(days=57, seconds=1)},
            "UC7014: expected_end: the block ends at 2027-01-16T09:00:01+00:00. Allowed: an extension can be bought from 57 days to 1 hour before the end.",
        ),
    ],
)
def test_refuses_an_extension_order(changes: dict[str, Any], line: str) -> None:
    assert says(extension_order(**changes), line)


@pytest.mark.parametrize("end", [START + timedelta(hours=1), START + timedelta(days=57)])
def test_accepts_an_extension_at_the_first_and_last_possible_time(end: datetime) -> None:
    assert codes(extension_order(expected_end=end)) == []


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"end": START}, "UC7014: end: 2026-11-20T09:00:00+00:00 is in the past. Allowed: a later time."),
        (
            {"hourly_price": Decimal(0)},
            "error: hourly_price: got Decimal('0'). Allowed: a positive number with at most 12 digits and 6 decimals and without a currency, such as 190000.00.",
        ),
        ({"count": 1001}, "error: count: got 1001. Allowed: an integer from 1 to 1000."),
        ({"zone_id": "usw2-az1"}, "error: zone_id: usw2-az1 is in us-west-2. Allowed: zones of us-east-2."),
        (
            {"max_fee": Decimal("10405.99")},
            "error: max_fee: the reservation can cost 10406.00 until its end; max_fee is 10405.99. Allowed: a cap that covers the cost until the end. Raise max_fee, or set an earlier end.",
        ),
    ],
)
def test_refuses_an_on_demand_order(changes: dict[str, Any], line: str) -> None:
    assert says(on_demand_order(**changes), line)


def test_on_demand_order_costs_at_most_until_one_hour_after_its_end() -> None:
    # 4 instances, 5 days and EC2's hour, $21.50 each hour.
    order = on_demand_order(max_fee=Decimal("10406.00"))
    assert order.max_cost(START) == Decimal(4) * 121 * Decimal("21.50") == Decimal("10406.00")
    assert codes(order) == []


def test_shows_all_problems_at_once() -> None:
    order = block_order(name="X", account="1", max_fee=None, count=0, request_hours=(25,))
    found = {finding.path for finding in check_order(order, now=START)}
    assert {"name", "account", "max_fee", "count", "request_hours"} <= found


def test_time_zones_other_than_utc_are_refused() -> None:
    order = extension_order(expected_end=OWNED_END.astimezone(ZoneInfo("Europe/Berlin")))
    assert says(order, "error: expected_end: got ")


TIME = "got '2026-12-01'. Allowed: a time in UTC, such as 2026-12-01T11:30:00Z."
REGION_NAME = "got 'Ohio'. Allowed: the name of a Region, such as us-east-2."


@pytest.mark.parametrize(
    ("order", "line"),
    [
        (on_demand_order(end="2026-12-01"), f"error: end: {TIME}"),
        (block_order(start_before="2026-12-01"), f"error: start_before: {TIME}"),
        (on_demand_order(region="Ohio"), f"error: region: {REGION_NAME}"),
        (extension_order(expected_end="2026-12-01"), f"error: expected_end: {TIME}"),
        (extension_order(region="Ohio"), f"error: region: {REGION_NAME}"),
        (
            block_order(month_cap=Decimal(0)),
            "error: month_cap: got Decimal('0'). Allowed: a positive number with at most 12 digits and 2 decimals",
        ),
        (
            block_order(instance_type=None, ultraserver_type="trn2"),
            "error: ultraserver_type: got 'trn2'. Allowed: an UltraServer type such as u-trn2x64.",
        ),
    ],
)
def test_reports_the_invalid_term(order: Order, line: str) -> None:
    assert says(order, line)


def test_checks_every_zone_and_accepts_a_block_of_one_hour() -> None:
    assert codes(block_order(zone_ids=("us-east-2a", "usw2-az1"))) == ["", "UC3003"]
    assert codes(block_order(min_hours=1)) == []


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-12-01", datetime(2026, 12, 1, tzinfo=UTC)),
        ("2026-12-01T11:30:00Z", datetime(2026, 12, 1, 11, 30, tzinfo=UTC)),
        ("2026-12-01T12:30:00+01:00", datetime(2026, 12, 1, 11, 30, tzinfo=UTC)),
    ],
)
def test_reads_a_day_or_a_time(text: str, time: datetime) -> None:
    assert parse_time("--end", text) == time


@pytest.mark.parametrize(
    ("read", "line"),
    [
        (lambda: parse_time("--end", "2026-12-01T11:30:00"), "error: --end: got "),
        (lambda: parse_time("--end", "tomorrow"), "error: --end: got "),
        (lambda: parse_counts("--nodes", "14-7"), "error: --nodes: got "),
        (lambda: parse_counts("--nodes", "0"), "error: --nodes: got "),
        (lambda: parse_counts("--nodes", "1-99999999"), "error: --nodes: got "),
        (lambda: parse_counts("--nodes", "\u0661"), "error: --nodes: got "),
        (lambda: parse_counts("--nodes", "-3"), "error: --nodes: got "),
        (lambda: parse_days("--days", "15-20"), "UC7101"),
        (lambda: parse_amount("--max-fee", "50k"), "error: --max-fee: got "),
        (lambda: parse_amount("--max-fee", "190,000"), "error: --max-fee: got "),
        (lambda: parse_amount("--max-fee", "-1"), "error: --max-fee: got "),
        (lambda: parse_amount("--max-fee", "1e5"), "error: --max-fee: got "),
        (lambda: parse_amount("--max-fee", "NaN"), "error: --max-fee: got "),
        (lambda: parse_amount("--max-fee", ""), "error: --max-fee: got "),
        (lambda: parse_amount("--max-fee", "0"), "error: --max-fee: got "),
        (lambda: parse_amount("--max-fee", "1.001"), "error: --max-fee: got "),
        (lambda: parse_counts("--nodes", "65"), "error: --nodes: got "),
        (lambda: parse_days("--days", "0-"), "error: --days: got "),
    ],
)
def test_rejects_unparsable_values(read: Callable[[], Any], line: str) -> None:
    with pytest.raises(FindingsError, match=line):
        read()


def test_reads_ranges_and_keeps_the_durations_that_are_sold() -> None:
    assert parse_counts("--nodes", "16") == (16,)
    assert parse_counts("--nodes", "8,1-3") == (1, 2, 3, 8)
    assert parse_days("--days", "13-21") == (13 * 24, 14 * 24, 21 * 24)


@pytest.mark.parametrize(
    ("changes", "least"),
    [
        ({}, "192250.06"),  # 16 nodes x 336 hours x 35.7608
        ({"min_count": 2}, "24031.25"),
        ({"request_hours": (336, 24), "regions": ("us-east-2", "ap-south-2")}, "13732.14"),
        ({"regions": ("us-east-2", "eu-west-1")}, None),
        ({"instance_type": None, "ultraserver_type": "u-trn2x64"}, None),
    ],
)
def test_a_cap_covers_the_list_price_of_the_least_that_is_accepted(
    changes: dict[str, Any], least: str | None
) -> None:
    assert str(least_list_price(block_order(**changes))) == str(least)
    cap = Decimal(least or "0.01")
    assert check_list_price(block_order(max_fee=cap, **changes)) == []
    found = check_list_price(block_order(max_fee=cap - Decimal("0.01"), **changes))
    assert [finding.code for finding in found] == ["UC7057"] * (least is not None)
