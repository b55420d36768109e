"""Which terms are refused: each with its code, all at once, both sides of each boundary."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.unit.runtime.examples import block_order, extension_order, on_demand_order
from tests.unit.runtime.simulator import OWNED_END, START

from ultracluster_runtime.order_checks import check_order
from ultracluster_runtime.orders import Order


def codes(order: Order, now: datetime = START) -> list[str]:
    return sorted(finding.code for finding in check_order(order, now=now))


@pytest.mark.parametrize(
    "order", [block_order(), extension_order(), on_demand_order()], ids=lambda order: order.kind
)
def test_accepts_a_sound_order(order: Order) -> None:
    assert codes(order) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": "a"}, "UC7001"),
        ({"name": "Dec"}, "UC7001"),
        ({"name": "d" * 49}, "UC7001"),
        ({"name": "d\u0435c"}, "UC7001"),
        ({"cluster": "a/b"}, "UC7001"),
        ({"cluster": "c" * 33}, "UC7001"),
        ({"account": "12345678901"}, "UC7002"),
        ({"account": 123456789012}, "UC7002"),
        ({"zone_ids": (), "regions": ()}, "UC7003"),
        ({"zone_ids": (), "regions": ("us-east-2; rm -rf",)}, "UC7003"),
        ({"zone_ids": ("usw2-az1",)}, "UC7004"),
        ({"zone_ids": ("us-east-2a",)}, "UC3003"),
        ({"currency": "usd"}, "UC7005"),
        ({"max_fee": None}, "UC7006"),
        ({"max_fee": Decimal(0)}, "UC7006"),
        ({"max_fee": Decimal(-1)}, "UC7006"),
        ({"max_fee": Decimal("NaN")}, "UC7006"),
        ({"max_fee": Decimal("Infinity")}, "UC7006"),
        ({"max_fee": Decimal("1.001")}, "UC7006"),
        ({"max_fee": 1000.0}, "UC7006"),
        ({"max_fee": "50k"}, "UC7006"),
        ({"max_fee": Decimal("250000.01")}, "UC7006"),
        ({"approver": "  "}, "UC7007"),
        ({"approver": "a\nb"}, "UC7007"),
        ({"expires_at": datetime(2026, 12, 1)}, "UC7008"),  # noqa: DTZ001 - that is the mistake
        ({"start_after": "2026-12-01"}, "UC7008"),
        ({"expires_at": START}, "UC7009"),
        ({"instance_type": None}, "UC7010"),
        ({"ultraserver_type": "u-trn2x64"}, "UC7010"),
        ({"instance_type": "trn1n.32xlarge", "regions": ("us-east-2",)}, "UC7010"),
        ({"instance_type": "trn2.96xlarge"}, "UC4001"),
        ({"count": 0}, "UC7011"),
        ({"count": 65}, "UC7011"),
        ({"count": True}, "UC7011"),
        ({"count": 3.5}, "UC7011"),
        ({"platform": "Windows"}, "UC7012"),
        ({"request_hours": ()}, "UC7013"),
        ({"request_hours": (25,)}, "UC7101"),
        ({"request_hours": ("24",)}, "UC7013"),
        ({"min_hours": 0}, "UC7013"),
        ({"min_hours": 361}, "UC7013"),
        ({"start_before": START - timedelta(seconds=1)}, "UC7014"),
        (
            {
                "start_after": START + timedelta(weeks=8, seconds=1),
                "start_before": START + timedelta(weeks=9),
            },
            "UC7014",
        ),
        ({"end_by": START}, "UC7014"),
        ({"prefer": "cheapest"}, "UC7016"),
        ({"regions": ("eu-west-1",), "zone_ids": ()}, "UC7017"),
    ],
)
def test_refuses_a_block_order(changes: dict[str, Any], code: str) -> None:
    assert code in codes(block_order(**changes))


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
        {"end_by": START + timedelta(seconds=1)},
        {"zone_ids": ()},
        {"min_hours": 360},
        {"instance_type": None, "ultraserver_type": "u-trn2x64"},
    ],
)
def test_accepts_the_last_value_that_is_right(changes: dict[str, Any]) -> None:
    assert codes(block_order(**changes)) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"reservation_id": "cr-XYZ"}, "UC7015"),
        ({"reservation_id": "cb-0123456789abcdef0"}, "UC7015"),
        ({"extension_hours": 15 * 24}, "UC7101"),
        ({"extension_hours": True}, "UC7013"),
        ({"expected_end": START + timedelta(minutes=59)}, "UC7014"),
        ({"expected_end": START + timedelta(days=57, seconds=1)}, "UC7014"),
    ],
)
def test_refuses_an_extension_order(changes: dict[str, Any], code: str) -> None:
    assert code in codes(extension_order(**changes))


@pytest.mark.parametrize("end", [START + timedelta(hours=1), START + timedelta(days=57)])
def test_accepts_an_extension_on_the_first_and_the_last_moment(end: datetime) -> None:
    assert codes(extension_order(expected_end=end)) == []


def test_says_that_an_offering_is_no_reservation() -> None:
    (finding,) = check_order(extension_order(reservation_id="cb-0123456789abcdef0"), now=START)
    assert "offering" in str(finding)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"end": START}, "UC7014"),
        ({"hourly_price": Decimal(0)}, "UC7006"),
        ({"count": 1001}, "UC7011"),
        ({"zone_id": "usw2-az1"}, "UC7004"),
        ({"max_fee": Decimal("10405.99")}, "UC7006"),
    ],
)
def test_refuses_an_on_demand_order(changes: dict[str, Any], code: str) -> None:
    assert code in codes(on_demand_order(**changes))


def test_an_on_demand_order_costs_until_an_hour_after_its_end_at_most() -> None:
    # 4 instances, 5 days and EC2's hour, $21.50 each hour.
    order = on_demand_order(max_fee=Decimal("10406.00"))
    assert order.bound(START) == Decimal(4) * 121 * Decimal("21.50") == Decimal("10406.00")
    assert codes(order) == []


def test_shows_all_problems_at_once() -> None:
    order = block_order(name="X", account="1", max_fee=None, count=0, request_hours=(25,))
    assert {"UC7001", "UC7002", "UC7006", "UC7011", "UC7101"} <= set(codes(order))


def test_another_zone_of_utc_is_no_utc() -> None:
    assert "UC7008" in codes(extension_order(expected_end=OWNED_END.astimezone(ZoneInfo("Europe/Berlin"))))
