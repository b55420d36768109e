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


def findings_text(order: Order) -> str:
    return "\n".join(str(finding) for finding in check_order(order, now=START))


@pytest.mark.parametrize(
    "order", [block_order(), extension_order(), on_demand_order()], ids=lambda order: order.kind
)
def test_accepts_a_valid_order(order: Order) -> None:
    assert codes(order) == []


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"name": "a"},
            "UC7001: name: got 'a'. Allowed: 2 to 48 characters of a-z, 0-9 and -, starting with a letter.",
        ),
        (
            {"name": "Dec"},
            "UC7001: name: got 'Dec'. Allowed: 2 to 48 characters of a-z, 0-9 and -, starting with a letter.",
        ),
        (
            {"name": "d" * 49},
            "UC7001: name: got 'ddddddddddddddddddddddddddddddddddddddddddddddddd'. Allowed: 2 to 48 characters of a-z, 0-9 and -, starting with a letter.",
        ),
        (
            {"name": "d\u0435c"},
            "UC7001: name: got 'd\\u0435c'. Allowed: 2 to 48 characters of a-z, 0-9 and -, starting with a letter.",
        ),
        (
            {"cluster": "a/b"},
            "UC7001: cluster: got 'a/b'. Allowed: 2 to 32 characters of a-z, 0-9 and -, starting with a letter.",
        ),
        (
            {"cluster": "c" * 33},
            "UC7001: cluster: got 'ccccccccccccccccccccccccccccccccc'. Allowed: 2 to 32 characters of a-z, 0-9 and -, starting with a letter.",
        ),
        ({"account": "12345678901"}, "UC7002: account: got '12345678901'. Allowed: 12 digits."),
        ({"account": 123456789012}, "UC7002: account: got 123456789012. Allowed: 12 digits."),
        (
            {"zone_ids": (), "regions": ()},
            "UC7003: regions: no Region is specified. Allowed: one or more Regions.",
        ),
        (
            {"zone_ids": (), "regions": ("us-east-2; rm -rf",)},
            "UC7003: regions: got 'us-east-2; rm -rf'. Allowed: the name of a Region, such as us-east-2.",
        ),
        (
            {"zone_ids": ("usw2-az1",)},
            "UC7004: zone_ids: usw2-az1 is in us-west-2. Allowed: zones of us-east-2.",
        ),
        (
            {"zone_ids": ("us-east-2a",)},
            "UC3003: zone_ids: 'us-east-2a' is not a zone ID of a known Region. Allowed: a zone ID such as use2-az3. `aws ec2 describe-availability-zones` shows the zone ID of each zone name.",
        ),
        ({"currency": "usd"}, "UC7005: currency: got 'usd'. Allowed: three letters such as USD."),
        (
            {"max_fee": None},
            "UC7006: max_fee: got None. Allowed: a positive number with at most 12 digits and 2 decimals and without a currency, such as 190000.00.",
        ),
        (
            {"max_fee": Decimal(0)},
            "UC7006: max_fee: got Decimal('0'). Allowed: a positive number with at most 12 digits and 2 decimals and without a currency, such as 190000.00.",
        ),
        (
            {"max_fee": Decimal(-1)},
            "UC7006: max_fee: got Decimal('-1'). Allowed: a positive number with at most 12 digits and 2 decimals and without a currency, such as 190000.00.",
        ),
        (
            {"max_fee": Decimal("NaN")},
            "UC7006: max_fee: got Decimal('NaN'). Allowed: a positive number with at most 12 digits and 2 decimals and without a currency, such as 190000.00.",
        ),
        (
            {"max_fee": Decimal("Infinity")},
            "UC7006: max_fee: got Decimal('Infinity'). Allowed: a positive number with at most 12 digits and 2 decimals and without a currency, such as 190000.00.",
        ),
        (
            {"max_fee": Decimal("1.001")},
            "UC7006: max_fee: got Decimal('1.001'). Allowed: a positive number with at most 12 digits and 2 decimals and without a currency, such as 190000.00.",
        ),
        (
            {"max_fee": Decimal("9" * 29)},
            "UC7006: max_fee: got Decimal('99999999999999999999999999999'). Allowed: a positive number with at most 12 digits and 2 decimals and without a currency, such as 190000.00.",
        ),
        (
            {"max_fee": Decimal("1.000")},
            "UC7006: max_fee: got Decimal('1.000'). Allowed: a positive number with at most 12 digits and 2 decimals and without a currency, such as 190000.00.",
        ),
        (
            {"max_fee": 1000.0},
            "UC7006: max_fee: got 1000.0. Allowed: a positive number with at most 12 digits and 2 decimals and without a currency, such as 190000.00.",
        ),
        (
            {"max_fee": "50k"},
            "UC7006: max_fee: got '50k'. Allowed: a positive number with at most 12 digits and 2 decimals and without a currency, such as 190000.00.",
        ),
        (
            {"max_fee": Decimal("250000.01")},
            "UC7006: max_fee: 250000.01 is above month_cap 250000. Allowed: at most month_cap.",
        ),
        ({"approver": "  "}, "UC7007: approver: got '  '. Allowed: name of the person who approves."),
        (
            {"approver": "a\nb"},
            "UC7007: approver: got 'a\\nb'. Allowed: name of the person who approves.",
        ),
        (
            {"expires_at": datetime(2026, 12, 1)},  # noqa: DTZ001 - that is the mistake
            "UC7008: expires_at: got datetime.datetime(2026, 12, 1, 0, 0). Allowed: a time in UTC, such as 2026-12-01T11:30:00Z.",
        ),
        (
            {"start_after": "2026-12-01"},
            "UC7008: start_after: got '2026-12-01'. Allowed: a time in UTC, such as 2026-12-01T11:30:00Z.",
        ),
        (
            {"expires_at": START},
            "UC7009: expires_at: 2026-11-20T09:00:00+00:00 is in the past; now is 2026-11-20T09:00:00+00:00. Allowed: a time in the future.",
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
        ({"count": 0}, "UC7011: count: got 0. Allowed: an integer from 1 to 64."),
        ({"count": 65}, "UC7011: count: got 65. Allowed: an integer from 1 to 64."),
        ({"count": True}, "UC7011: count: got True. Allowed: an integer from 1 to 64."),
        ({"count": 3.5}, "UC7011: count: got 3.5. Allowed: an integer from 1 to 64."),
        (
            {"platform": "Windows"},
            "UC7012: platform: got 'Windows'. Allowed: Linux/UNIX, Red Hat Enterprise Linux, RHEL with HA, SUSE Linux, Ubuntu Pro. Use the platform of the AMI.",
        ),
        ({"request_hours": ()}, "UC7013: request_hours: no duration is specified."),
        (
            {"request_hours": (25,)},
            "UC7101: request_hours: got 25 hours. Allowed: 1 to 14 days in whole days (24 to 336 hours), or 21 to 182 days in whole weeks. Nearest valid durations: 24 hours and 48 hours.",
        ),
        ({"request_hours": ("24",)}, "UC7013: request_hours: got '24'. Allowed: an integer number of hours."),
        (
            {"min_hours": 0},
            "UC7013: min_hours: got 0 to 360 hours. Allowed: positive integers, min_hours not above max_hours.",
        ),
        (
            {"min_hours": 361},
            "UC7013: min_hours: got 361 to 360 hours. Allowed: positive integers, min_hours not above max_hours.",
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
        ({"min_count": 0}, "UC7011: min_count: got 0. Allowed: an integer from 1 to 16."),
        ({"min_count": 17}, "UC7011: min_count: got 17. Allowed: an integer from 1 to 16."),
        (
            {"end_by": START},
            "UC7014: end_by: the latest end is not after the earliest start. Allowed: a later time.",
        ),
        (
            {"prefer": "cheapest"},
            "UC7016: prefer: got 'cheapest'. Allowed: chip-hour, core-hour, node-hours, start, total.",
        ),
        (
            {"regions": ("eu-west-1",), "zone_ids": ()},
            "UC7017: regions: trn2.48xlarge is not listed for eu-west-1. Allowed: us-east-2, ap-south-2 (as of 2026-09-01; AWS may have added more).",
        ),
    ],
)
def test_refuses_a_block_order(changes: dict[str, Any], line: str) -> None:
    assert line in findings_text(block_order(**changes))


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
            "UC7015: reservation_id: got 'cr-XYZ'. Allowed: cr- and 17 hexadecimal digits.",
        ),
        (
            {"reservation_id": "cb-0123456789abcdef0"},
            "UC7015: reservation_id: got 'cb-0123456789abcdef0'. Allowed: cr- and 17 hexadecimal digits. This is an offering or a block; specify the ID of its Capacity Reservation.",
        ),
        (
            {"extension_hours": 15 * 24},
            "UC7101: extension_hours: got 360 hours. Allowed: 1 to 14 days in whole days (24 to 336 hours), or 21 to 182 days in whole weeks. Nearest valid durations: 336 hours and 504 hours.",
        ),
        (
            {"extension_hours": True},
            "UC7013: extension_hours: got True. Allowed: an integer number of hours.",
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
    assert line in findings_text(extension_order(**changes))


@pytest.mark.parametrize("end", [START + timedelta(hours=1), START + timedelta(days=57)])
def test_accepts_an_extension_at_the_first_and_last_possible_time(end: datetime) -> None:
    assert codes(extension_order(expected_end=end)) == []


def test_explains_that_an_offering_is_not_a_reservation() -> None:
    (finding,) = check_order(extension_order(reservation_id="cb-0123456789abcdef0"), now=START)
    assert "offering" in str(finding)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"end": START}, "UC7014: end: 2026-11-20T09:00:00+00:00 is in the past. Allowed: a later time."),
        (
            {"hourly_price": Decimal(0)},
            "UC7006: hourly_price: got Decimal('0'). Allowed: a positive number with at most 12 digits and 6 decimals and without a currency, such as 190000.00.",
        ),
        ({"count": 1001}, "UC7011: count: got 1001. Allowed: an integer from 1 to 1000."),
        ({"zone_id": "usw2-az1"}, "UC7004: zone_id: usw2-az1 is in us-west-2. Allowed: zones of us-east-2."),
        (
            {"max_fee": Decimal("10405.99")},
            "UC7006: max_fee: the reservation can cost 10406.00 until its end; max_fee is 10405.99. Allowed: a cap that covers the cost until the end. Raise max_fee, or set an earlier end.",
        ),
    ],
)
def test_refuses_an_on_demand_order(changes: dict[str, Any], line: str) -> None:
    assert line in findings_text(on_demand_order(**changes))


def test_on_demand_order_costs_at_most_until_one_hour_after_its_end() -> None:
    # 4 instances, 5 days and EC2's hour, $21.50 each hour.
    order = on_demand_order(max_fee=Decimal("10406.00"))
    assert order.max_cost(START) == Decimal(4) * 121 * Decimal("21.50") == Decimal("10406.00")
    assert codes(order) == []


def test_shows_all_problems_at_once() -> None:
    order = block_order(name="X", account="1", max_fee=None, count=0, request_hours=(25,))
    assert {"UC7001", "UC7002", "UC7006", "UC7011", "UC7101"} <= set(codes(order))


def test_time_zones_other_than_utc_are_refused() -> None:
    assert "UC7008" in codes(extension_order(expected_end=OWNED_END.astimezone(ZoneInfo("Europe/Berlin"))))


TIME = "got '2026-12-01'. Allowed: a time in UTC, such as 2026-12-01T11:30:00Z."
REGION_NAME = "got 'Ohio'. Allowed: the name of a Region, such as us-east-2."


@pytest.mark.parametrize(
    ("order", "line"),
    [
        (on_demand_order(end="2026-12-01"), f"UC7008: end: {TIME}"),
        (on_demand_order(region="Ohio"), f"UC7003: region: {REGION_NAME}"),
        (extension_order(expected_end="2026-12-01"), f"UC7008: expected_end: {TIME}"),
        (extension_order(region="Ohio"), f"UC7003: region: {REGION_NAME}"),
        (
            block_order(month_cap=Decimal(0)),
            "UC7006: month_cap: got Decimal('0'). Allowed: a positive number with at most 12 digits and 2 decimals",
        ),
        (
            block_order(instance_type=None, ultraserver_type="trn2"),
            "UC7010: ultraserver_type: got 'trn2'. Allowed: an UltraServer type such as u-trn2x64.",
        ),
    ],
)
def test_reports_the_invalid_term(order: Order, line: str) -> None:
    assert line in findings_text(order)


def test_checks_every_zone_and_accepts_a_block_of_one_hour() -> None:
    assert codes(block_order(zone_ids=("us-east-2a", "usw2-az1"))) == ["UC3003", "UC7004"]
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
    ("read", "code"),
    [
        (lambda: parse_time("--end", "2026-12-01T11:30:00"), "UC7008"),
        (lambda: parse_time("--end", "tomorrow"), "UC7008"),
        (lambda: parse_counts("--nodes", "14-7"), "UC7011"),
        (lambda: parse_counts("--nodes", "0"), "UC7011"),
        (lambda: parse_counts("--nodes", "1-99999999"), "UC7011"),
        (lambda: parse_counts("--nodes", "\u0661"), "UC7011"),
        (lambda: parse_counts("--nodes", "-3"), "UC7011"),
        (lambda: parse_days("--days", "15-20"), "UC7101"),
        (lambda: parse_amount("--max-fee", "50k"), "UC7006"),
        (lambda: parse_amount("--max-fee", "190,000"), "UC7006"),
        (lambda: parse_amount("--max-fee", "-1"), "UC7006"),
        (lambda: parse_amount("--max-fee", "1e5"), "UC7006"),
        (lambda: parse_amount("--max-fee", "NaN"), "UC7006"),
        (lambda: parse_amount("--max-fee", ""), "UC7006"),
        (lambda: parse_amount("--max-fee", "0"), "UC7006"),
        (lambda: parse_amount("--max-fee", "1.001"), "UC7006"),
        (lambda: parse_counts("--nodes", "65"), "UC7011"),
        (lambda: parse_days("--days", "0-"), "UC7013"),
    ],
)
def test_rejects_unparsable_values(read: Callable[[], Any], code: str) -> None:
    with pytest.raises(FindingsError, match=code):
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
