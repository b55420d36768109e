"""Transactions of the ledger on moto's DynamoDB, and the simulated ledger compared with them."""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from moto import mock_aws
from tests.unit.runtime.purchasing.example_orders import block_order, extension_order, on_demand_order
from tests.unit.runtime.purchasing.ledger_table import TABLE, create_table
from tests.unit.runtime.purchasing.simulation import START, Simulation

from ultracluster_runtime.purchasing.effects import Committed, ConditionFailed, OutcomeUnknown, ReadFailed
from ultracluster_runtime.purchasing.ledger import Ledger
from ultracluster_runtime.purchasing.orders import HOLDS_LOCK, TRANSITIONS, Order, OrderState, Record
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


@pytest.fixture
def client() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-2")
        create_table(client)
        yield client


@pytest.fixture
def ledger(client: Any) -> Ledger:
    return Ledger(client, TABLE)


def sending(record: Record, nonce: str = "mine", fee: str = "192241.66") -> Record:
    return replace(
        record,
        state=OrderState.SENDING,
        version=record.version + 1,
        nonce=nonce,
        sent_at=START,
        region="us-east-2",
        offering_id="cb-good",
        fee=Decimal(fee),
        month="123456789012#USD#2026-11",
        holds_lock=True,
    )


def changed(record: Record, state: OrderState) -> Record:
    return replace(
        record,
        state=state,
        version=record.version + 1,
        holds_lock=record.holds_lock and state in HOLDS_LOCK,
        changed_at=START + timedelta(minutes=record.version),
    )


def held(client: Any) -> dict[str, Decimal]:
    items = client.scan(TableName=TABLE)["Items"]
    return {item["pk"]["S"]: Decimal(item["held"]["N"]) for item in items if item["sk"]["S"] == "MONTH"}


def locks(client: Any) -> dict[str, str]:
    items = client.scan(TableName=TABLE)["Items"]
    return {
        item["pk"]["S"].removeprefix("LOCK#"): item["order"]["S"]
        for item in items
        if item["sk"]["S"] == "LOCK"
    }


@pytest.mark.parametrize(
    "order", [block_order(), extension_order(), on_demand_order()], ids=lambda order: order.kind
)
def test_reads_what_it_approved(ledger: Ledger, order: Order) -> None:
    record = ledger.approve(order, now=START)
    assert ledger.read(order.name) == record
    assert record.order == order
    assert record.state is OrderState.APPROVED


def test_reads_every_attribute_of_a_purchase(ledger: Ledger) -> None:
    approved = ledger.approve(block_order(), now=START)
    sent = replace(
        sending(approved),
        start=START,
        end=START + timedelta(days=14),
        zone_ids=("use2-az3",),
        reservation_ids=("cr-1", "cr-2"),
        block_ids=("cb-1",),
        ec2_states=("cr-1=scheduled",),
        count=16,
        reason="said so",
    )
    assert ledger.advance(approved, sent) == Committed()
    assert ledger.read("december") == sent


def test_unapproved_order_is_not_found(ledger: Ledger) -> None:
    assert ledger.read("december") is None


def test_refuses_a_name_that_is_taken_even_for_the_same_terms(ledger: Ledger) -> None:
    ledger.approve(block_order(), now=START)
    with pytest.raises(FindingsError, match="UC7022"):
        ledger.approve(block_order(), now=START)


def test_refuses_to_work_without_its_table() -> None:
    with mock_aws():
        ledger = Ledger(boto3.client("dynamodb", region_name="us-east-2"), TABLE)
        for use in (
            lambda: ledger.approve(block_order(), now=START),
            lambda: ledger.read("december"),
            ledger.orders,
            lambda: ledger.history("december"),
        ):
            with pytest.raises(FindingsError, match="UC7021"):
                use()


def test_refuses_an_edited_item(client: Any, ledger: Ledger) -> None:
    ledger.approve(block_order(), now=START)
    client.update_item(
        TableName=TABLE,
        Key={"pk": {"S": "ORDER#december"}, "sk": {"S": "ORDER"}},
        UpdateExpression="SET terms = :terms",
        ExpressionAttributeValues={":terms": {"S": "{}"}},
    )
    with pytest.raises(FindingsError, match=r"UC7025.*item ORDER#december of the ledger"):
        ledger.read("december")


def test_lists_orders_the_newest_change_first(ledger: Ledger) -> None:
    ledger.approve(block_order(), now=START)
    ledger.approve(block_order(name="january"), now=START + timedelta(hours=1))
    assert [record.order.name for record in ledger.orders()] == ["january", "december"]


def test_keeps_every_change_of_an_order(ledger: Ledger) -> None:
    approved = ledger.approve(block_order(), now=START)
    sent = sending(approved)
    ledger.advance(approved, sent)
    ledger.advance(sent, changed(sent, OrderState.PURCHASED))
    events = ledger.history("december")
    assert [event.state.value for event in events] == ["APPROVED", "SENDING", "PURCHASED"]
    assert [event.version for event in events] == [1, 2, 3]


def test_only_one_process_wins_the_right_to_send(client: Any, ledger: Ledger) -> None:
    approved = ledger.approve(block_order(), now=START)
    assert ledger.advance(approved, sending(approved, "first")) == Committed()
    lost = ledger.advance(approved, sending(approved, "second"))
    assert isinstance(lost, ConditionFailed)
    assert "state" in lost.reasons
    assert held(client) == {"MONTH#123456789012#USD#2026-11": Decimal("192241.66")}


def test_another_order_of_the_cluster_waits_until_the_lock_is_free(client: Any, ledger: Ledger) -> None:
    december = ledger.approve(block_order(), now=START)
    january = ledger.approve(block_order(name="january"), now=START)
    sent = sending(december, fee="1000")
    assert ledger.advance(december, sent) == Committed()
    assert ledger.advance(january, sending(january, fee="1000")) == ConditionFailed(frozenset({"lock"}))
    assert locks(client) == {"cluster/ohio": "december"}
    assert ledger.advance(sent, changed(sent, OrderState.PAID)) == Committed()
    assert locks(client) == {}
    assert ledger.advance(january, sending(january, fee="1000")) == Committed()


@pytest.mark.parametrize(("fee", "fits"), [("57758.34", True), ("57758.35", False)])
def test_monthly_cap_is_exact_to_the_cent(ledger: Ledger, fee: str, *, fits: bool) -> None:
    december = ledger.approve(block_order(), now=START)
    ledger.advance(december, sending(december))  # 192,241.66 of 250,000.00
    other = ledger.approve(block_order(name="january", cluster="oregon"), now=START)
    expected = Committed() if fits else ConditionFailed(frozenset({"month"}))
    assert ledger.advance(other, sending(other, fee=fee)) == expected


@pytest.mark.parametrize(("fee", "fits"), [("250000.00", True), ("250000.01", False)])
def test_monthly_cap_applies_to_the_first_order(ledger: Ledger, fee: str, *, fits: bool) -> None:
    december = ledger.approve(block_order(), now=START)
    assert (ledger.advance(december, sending(december, fee=fee)) == Committed()) is fits


def test_lost_connection_leaves_the_outcome_unknown(ledger: Ledger) -> None:
    approved = ledger.approve(block_order(), now=START)
    nowhere = boto3.client("dynamodb", region_name="us-east-2", endpoint_url="http://127.0.0.1:9")
    assert isinstance(Ledger(nowhere, TABLE).advance(approved, sending(approved)), OutcomeUnknown)


def _random_change(dice: random.Random, known: list[Record]) -> tuple[Record, Record]:
    before = dice.choice(known[-3:])
    state = dice.choice(sorted(TRANSITIONS[before.state] or {before.state}))
    if state is OrderState.SENDING:
        return before, sending(before, dice.choice("abc"), dice.choice(("90000", "120000.50", "200000")))
    return before, changed(before, state)


@pytest.mark.parametrize("seed", range(12))
def test_simulated_ledger_matches_the_real_one(client: Any, ledger: Ledger, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - a repeatable test, not a secret
    simulation = Simulation()
    known: dict[str, list[Record]] = {}
    for name, cluster in (("one", "ohio"), ("two", "ohio"), ("three", "oregon")):
        simulation.now = START
        order = block_order(name=name, cluster=cluster)
        known[name] = [ledger.approve(order, now=START)]
        simulation.records[name] = known[name][0]
    committed = 0
    for _ in range(40):
        name = dice.choice(sorted(known))
        before, after = _random_change(dice, known[name])
        reply = ledger.advance(before, after)
        assert reply == simulation.advance(before, after)
        if isinstance(reply, Committed):
            committed += 1
            known[name].append(after)
    assert committed > 3
    assert {name: ledger.read(name) for name in known} == simulation.records
    assert locks(client) == simulation.locks
    assert {key.removeprefix("MONTH#"): fee for key, fee in held(client).items()} == simulation.months


ANSWERED: dict[str, Any] = {"ResponseMetadata": {"RequestId": "r"}}


class Table:
    """A table without items, and what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def get_item(self, **arguments: Any) -> dict[str, Any]:
        self.asked.append(arguments)
        return ANSWERED | {"ConsumedCapacity": {"TableName": "orders"}}

    def get_paginator(self, operation: str) -> "Table":
        assert operation in {"query", "scan"}
        return self

    def paginate(self, **arguments: Any) -> list[dict[str, Any]]:
        self.asked.append(arguments)
        return [ANSWERED | {"Items": []}]


def test_every_read_is_strongly_consistent() -> None:
    table = Table()
    ledger = Ledger(table, "orders")

    assert (ledger.read("december"), ledger.orders(), ledger.history("december")) == (None, [], [])
    assert [(each["TableName"], each["ConsistentRead"]) for each in table.asked] == [("orders", True)] * 3
    assert table.asked[0]["Key"] == {"pk": {"S": "ORDER#december"}, "sk": {"S": "ORDER"}}


@pytest.mark.parametrize("answer", [{}, ANSWERED, {"ConsumedCapacity": {}}, ANSWERED | {"message": "<html>"}])
def test_an_answer_from_elsewhere_than_dynamodb_does_not_mean_an_absent_order(answer: dict[str, Any]) -> None:
    client: Any = SimpleNamespace(get_item=lambda **_: answer, transact_write_items=lambda **_: {})
    before = Record(order=block_order(), token="", state=OrderState.APPROVED, changed_at=START)

    read = Ledger(client, "orders").read("december")
    assert isinstance(read, ReadFailed)
    assert (read.code, read.transient) == ("UnreadableAnswer", True)
    assert isinstance(Ledger(client, "orders").advance(before, sending(before)), OutcomeUnknown)
