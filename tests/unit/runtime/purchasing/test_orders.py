"""Terms of an order, their canonical form, their token, and the states of an order."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.purchasing.example_orders import block_order, extension_order, on_demand_order

from ultracluster_runtime.purchasing.orders import (
    HOLDS_FEE,
    HOLDS_LOCK,
    TRANSITIONS,
    Order,
    OrderState,
    parse_terms,
    terms_of,
)

ORDERS = [block_order(end_by=datetime(2026, 12, 31, tzinfo=UTC)), extension_order(), on_demand_order()]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.kind)
def test_reads_the_terms_that_it_wrote(order: Order) -> None:
    assert parse_terms(terms_of(order)) == order


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "january"},
        {"account": "999999999999"},
        {"cluster": "oregon"},
        {"currency": "EUR"},
        {"max_fee": Decimal("200000.01")},
        {"month_cap": Decimal(1000000)},
        {"approver": "another person"},
        {"count": 15},
        {"zone_ids": ()},
        {"platform": "Ubuntu Pro"},
        {"prefer": "start"},
        {"request_hours": (312, 336)},
        {"expires_at": block_order().expires_at + timedelta(seconds=1)},
    ],
)
def test_every_term_is_in_the_token(changes: dict[str, Any]) -> None:
    assert block_order(**changes).token != block_order().token


def test_the_token_is_the_same_in_every_process_and_release() -> None:
    # A change of this value makes every approval on record void.
    assert block_order().token == "b02bfb715d41316e"


def test_equal_orders_whose_terms_are_written_differently_have_their_own_tokens() -> None:
    one, true = block_order(count=1), block_order(count=True)
    assert one == true
    assert one.token != true.token


def test_token_ignores_the_order_of_zones_and_time_zones() -> None:
    east = timezone(timedelta(hours=-5))
    ours = block_order(zone_ids=("use2-az1", "use2-az3"))
    theirs = block_order(zone_ids=("use2-az3", "use2-az1"), expires_at=ours.expires_at.astimezone(east))
    assert ours.token == theirs.token == "a1ca059abe4e058f"


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"kind":"capacity-block"}', '{"kind":"spot"}'])
def test_refuses_invalid_terms(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_terms(text)


def test_no_state_leads_back_to_approved_and_only_approved_leads_to_sending() -> None:
    assert not [state for state, targets in TRANSITIONS.items() if OrderState.APPROVED in targets]
    assert [state for state, targets in TRANSITIONS.items() if OrderState.SENDING in targets] == [
        OrderState.APPROVED
    ]


def test_every_state_has_transitions() -> None:
    assert set(TRANSITIONS) == set(OrderState)


def test_every_order_that_may_cost_money_counts_against_the_cap() -> None:
    may_cost = {
        OrderState.SENDING,
        OrderState.UNKNOWN,
        OrderState.PURCHASED,
        OrderState.PAID,
        OrderState.CANCELLED,
    }
    assert may_cost == HOLDS_FEE
    assert HOLDS_LOCK < HOLDS_FEE
