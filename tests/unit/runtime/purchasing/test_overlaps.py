"""A second order for one need is bought only if a person says that both are wanted."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.purchasing.example_orders import block_order, extension_order, on_demand_order
from tests.unit.runtime.purchasing.scenarios import simulate
from tests.unit.runtime.purchasing.simulated_purchases import bought, refused
from tests.unit.runtime.purchasing.simulation import OWNED_END, START

from ultracluster_runtime.purchasing.orders import Order, OrderState, Record
from ultracluster_runtime.purchasing.overlaps import overlapping, size

_TWICE: dict[str, dict[str, Any]] = {
    "the same need": {},
    "the same cluster, another size": {"count": 8},
    "the same size, another cluster": {"cluster": "oregon"},
    "dates that meet": {
        "start_after": START + timedelta(days=44),
        "start_before": START + timedelta(days=50),
    },
}
_ONCE: dict[str, dict[str, Any]] = {
    "another cluster and size": {"cluster": "oregon", "count": 8},
    "dates that do not meet": {
        "start_after": START + timedelta(days=45),
        "start_before": START + timedelta(days=50),
    },
    "an approval that has expired": {"expires_at": START},
    "another account": {"account": "999999999999"},
}


@pytest.mark.parametrize("terms", _TWICE.values(), ids=_TWICE)
def test_an_order_that_overlaps_is_bought_only_if_a_person_says_so(terms: dict[str, Any]) -> None:
    orders = [block_order(), block_order(**{"name": "january", "month_cap": Decimal(500000)} | terms)]
    simulation = simulate(orders, accepts=lambda _: False)
    assert refused(simulation) == "UC7053"
    assert simulation.sends == {}
    simulation.accepts = lambda effect: [other.order.name for other in effect.others] == ["january"]
    assert bought(simulation).record.reservation_ids


@pytest.mark.parametrize("terms", _ONCE.values(), ids=_ONCE)
def test_an_order_that_does_not_overlap_is_not_asked_about(terms: dict[str, Any]) -> None:
    simulation = simulate([block_order(), block_order(**{"name": "january"} | terms)])
    assert bought(simulation).record.reservation_ids
    assert simulation.asked == set()


def _record(order: Order, state: OrderState = OrderState.PAID, **changes: Any) -> Record:
    return Record(order=order, token=order.token, state=state, changed_at=START, **changes)


def test_an_order_counts_while_it_can_buy_or_has_bought() -> None:
    other = block_order(name="january")
    live = {
        state
        for state in OrderState
        if overlapping(block_order(), [_record(other, state)], now=START + timedelta(days=1))
    }
    assert live == {
        OrderState.APPROVED,
        OrderState.SENDING,
        OrderState.UNKNOWN,
        OrderState.PURCHASED,
        OrderState.PAID,
    }


def test_an_approval_counts_until_it_expires() -> None:
    approval = _record(block_order(name="january", expires_at=START), OrderState.APPROVED)
    second = timedelta(seconds=1)
    assert overlapping(block_order(), [approval], now=START - second) == [approval]
    assert overlapping(block_order(), [approval], now=START) == []


def test_what_was_bought_counts_with_its_own_dates() -> None:
    january = block_order(name="january", start_after=START + timedelta(days=20))
    for days, count in ((19, 0), (20, 0), (21, 1)):
        block = _record(block_order(), start=START, end=START + timedelta(days=days))
        assert len(overlapping(january, [block], now=START)) == count


def test_two_extensions_of_one_block_and_reservations_of_one_cluster_overlap() -> None:
    again = extension_order(name="longer-too", cluster="oregon")
    assert overlapping(extension_order(), [_record(again)], now=START)
    later = extension_order(name="longer-too", expected_end=OWNED_END + timedelta(days=1))
    assert not overlapping(extension_order(), [_record(later)], now=START)
    assert overlapping(on_demand_order(), [_record(block_order())], now=START)
    assert not overlapping(on_demand_order(end=START), [_record(block_order())], now=START)


def test_describes_what_an_order_buys() -> None:
    servers = block_order(instance_type=None, ultraserver_type="u-trn2x64", count=2)
    assert [size(order) for order in (block_order(), servers, on_demand_order(), extension_order())] == [
        "16 x trn2.48xlarge",
        "2 x u-trn2x64",
        "4 x trn1.32xlarge",
        "an extension of cr-0000000000000000f",
    ]
