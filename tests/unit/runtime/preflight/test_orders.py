"""Evaluation of purchase orders against the ledger."""

from dataclasses import replace

import pytest
from tests.unit.runtime.preflight.preflight_cases import CLUSTER, Client, error, reads_of
from tests.unit.runtime.purchasing.example_orders import block_order
from tests.unit.runtime.purchasing.simulation import START

from ultracluster_runtime.preflight import orders
from ultracluster_runtime.preflight.check import Outcome, Status, checks_of
from ultracluster_runtime.preflight.orders import Order
from ultracluster_runtime.purchasing.ledger import record_item
from ultracluster_runtime.purchasing.orders import OrderState, Record
from ultracluster_spec.capacity import CapacityRecord

(ORDER,) = checks_of(orders)
LEDGER = ("orders", "us-east-2")


def december(reservation_id: str | None = "cr-1", ledger: tuple[str, str] | None = LEDGER) -> Order:
    capacity = CapacityRecord(order="december", reservation_id=reservation_id)
    return Order(cluster=CLUSTER, name="december", capacity=capacity, ledger=ledger)


DECEMBER = december()
RECORD = Record(
    order=block_order(),
    token=block_order().token,
    state=OrderState.PAID,
    changed_at=START,
    reservation_ids=("cr-1", "cr-2"),
)


def outcome(record: Record, order: Order = DECEMBER) -> Outcome:
    return ORDER.evaluate(order, {"Item": record_item(record)})


@pytest.mark.parametrize(
    ("state", "status"),
    [
        (OrderState.PURCHASED, Status.PASS),
        (OrderState.UNKNOWN, Status.FAIL),
    ],
)
def test_order_must_have_bought(state: OrderState, status: Status) -> None:
    assert outcome(replace(RECORD, state=state)).status is status


@pytest.mark.parametrize(
    ("reservation_id", "status"), [("cr-2", Status.PASS), ("cr-3", Status.FAIL), (None, Status.FAIL)]
)
def test_rollout_must_use_what_was_bought(reservation_id: str | None, status: Status) -> None:
    assert outcome(RECORD, december(reservation_id)).status is status


def test_edited_terms_fail() -> None:
    edited = outcome(replace(RECORD, order=block_order(count=32)))

    assert edited.status is Status.FAIL
    assert "differ from the approved ones" in edited.evidence


@pytest.mark.parametrize(
    ("reply", "words"), [({}, "has no order december"), (error("ResourceNotFoundException"), "has no order")]
)
def test_order_must_be_in_the_ledger(reply: object, words: str) -> None:
    found = ORDER.gather(reads_of(Client({"get_item": reply})), DECEMBER)
    result = ORDER.evaluate(DECEMBER, found)

    assert result.status is Status.FAIL
    assert words in result.evidence


def test_without_a_ledger_nothing_is_read() -> None:
    client, order = Client({}), december(ledger=None)

    assert ORDER.evaluate(order, ORDER.gather(reads_of(client), order)).status is Status.WARN
    assert client.asked == []
