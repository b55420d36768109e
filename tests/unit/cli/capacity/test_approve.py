"""Each command that approves an order writes exactly that order into the ledger, unless it is invalid."""

import io
import json
import re
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.fake_clients import FakeClients
from tests.unit.cli.conftest import Run
from tests.unit.runtime.purchasing.example_orders import block_order
from tests.unit.runtime.purchasing.simulation import START

from ultracluster_cli.capacity import approve
from ultracluster_runtime.purchasing.effects import ReadClock, perform_all
from ultracluster_runtime.purchasing.orders import (
    BlockOrder,
    ExtensionOrder,
    OnDemandOrder,
    Order,
    OrderState,
    Record,
)

TERMS = ["--cluster", "ohio", "--max-fee", "200000", "--month-cap", "250000", "--approver", "a person"]
BLOCK = ["approve", "december", *TERMS, "--days", "14", "--between", "2026-12-01", "2026-12-15"]
BLOCK += ["--regions", "us-east-2"]
EXTENSION = ["extend", "longer", *TERMS, "--reservation-id", "cr-0123456789abcdef0", "--region", "us-east-2"]
EXTENSION += ["--expected-end", "2026-12-14T11:30:00Z", "--days", "1"]
ON_DEMAND = ["reserve", "spare", *TERMS, "--instance-type", "trn1.32xlarge", "--nodes", "4"]
ON_DEMAND += ["--region", "us-east-2", "--zone-id", "use2-az3", "--end", "2026-12-01"]
ON_DEMAND += ["--hourly-price", "21.50"]


class NeverRehearsed:
    """SSM without the record of a rehearsal, and EC2 with one extension on offer."""

    def describe_capacity_block_extension_offerings(self, **given: Any) -> dict[str, Any]:
        hours = given["CapacityBlockExtensionDurationHours"]
        end = datetime(2026, 12, 14, 11, 30, tzinfo=UTC)
        offering = {
            "CapacityBlockExtensionOfferingId": "cbe-1",
            "StartDate": end - timedelta(days=14),
            "CapacityBlockExtensionStartDate": end,
            "CapacityBlockExtensionEndDate": end + timedelta(hours=hours),
            "CapacityBlockExtensionDurationHours": hours,
            "UpfrontFee": "12345.60",
            "CurrencyCode": "USD",
        }
        return {"CapacityBlockExtensionOfferings": [offering] if hours == 24 else []}

    def get_parameter(self, **_: Any) -> dict[str, Any]:
        raise ClientError({"Error": {"Code": "ParameterNotFound", "Message": "no"}}, "GetParameter")


@pytest.fixture
def others() -> list[Record]:
    """Other orders of the ledger."""
    return []


@pytest.fixture
def clock() -> datetime:
    """What AWS says the time is."""
    return START


@pytest.fixture
def approved(monkeypatch: pytest.MonkeyPatch, others: list[Record], clock: datetime) -> list[Order]:
    orders: list[Order] = []

    def add(order: Order, *, now: datetime) -> Record:
        orders.append(order)
        return Record(order=order, token=order.token, changed_at=now, state=OrderState.APPROVED)

    session = SimpleNamespace(
        account=lambda: "123456789012",
        ledger=SimpleNamespace(approve=add, orders=lambda: others),
        run=lambda steps: perform_all(
            steps, lambda effect: clock if isinstance(effect, ReadClock) else START
        ),
        clients=FakeClients(lambda *_: NeverRehearsed()),
    )
    monkeypatch.setattr(approve, "open_session", lambda _: session)
    monkeypatch.setattr(approve, "_now", lambda: START)
    return orders


def test_a_block_may_be_a_day_shorter_or_longer_and_start_within_the_days(
    run: Run, approved: list[Order]
) -> None:
    assert run("capacity", *BLOCK, "--instance-type", "trn2.48xlarge", "--nodes", "16").code == 0

    (order,) = approved
    assert isinstance(order, BlockOrder)
    assert (order.instance_type, order.ultraserver_type, order.count) == ("trn2.48xlarge", None, 16)
    assert (order.min_hours, order.request_hours, order.max_hours) == (312, (336,), 360)
    assert (order.start_after, order.start_before) == (
        datetime(2026, 12, 1, tzinfo=UTC),
        datetime(2026, 12, 15, tzinfo=UTC),
    )
    assert (order.account, order.regions, order.max_fee) == ("123456789012", ("us-east-2",), Decimal(200000))


def test_an_order_that_overlaps_is_approved_only_if_the_other_is_named(
    run: Run, approved: list[Order], others: list[Record]
) -> None:
    other = block_order(name="november", start_after=START, start_before=START + timedelta(days=20))
    others.append(
        Record(order=other, token=other.token, changed_at=START, state=OrderState.PURCHASED, reason="")
    )
    words = ["capacity", *BLOCK, "--instance-type", "trn2.48xlarge", "--nodes", "16"]
    refused = run(*words)
    assert refused.code == 2
    assert "order november (PURCHASED) for cluster ohio: 16 x trn2.48xlarge" in refused.stderr
    assert "UC7053: december overlaps" in refused.stderr
    assert "--besides november" in refused.stderr
    assert run(*words, "--besides", "december").code == 2
    assert approved == []
    assert run(*words, "--besides", "november").code == 0
    assert len(approved) == 1


@pytest.mark.parametrize("clock", [START + timedelta(seconds=61), START - timedelta(days=1)])
def test_nothing_is_approved_by_a_wrong_clock(run: Run, approved: list[Order]) -> None:
    refused = run("capacity", *BLOCK, "--instance-type", "trn2.48xlarge", "--nodes", "16")
    assert refused.code == 2
    assert "UC7030: the clock of this machine says" in refused.stderr
    assert approved == []


def test_an_order_of_ultraservers_names_no_instance_type(run: Run, approved: list[Order]) -> None:
    assert run("capacity", *BLOCK, "--ultraservers", "2").code == 0

    (order,) = approved
    assert isinstance(order, BlockOrder)
    assert (order.instance_type, order.ultraserver_type, order.count) == (None, "u-trn2x64", 2)


def test_an_extension_is_of_one_reservation_with_a_known_end(run: Run, approved: list[Order]) -> None:
    assert run("capacity", *EXTENSION).code == 0

    (order,) = approved
    assert isinstance(order, ExtensionOrder)
    assert (order.reservation_id, order.extension_hours) == ("cr-0123456789abcdef0", 24)
    assert order.expected_end == datetime(2026, 12, 14, 11, 30, tzinfo=UTC)


def test_an_on_demand_reservation_has_an_hourly_price(run: Run, approved: list[Order]) -> None:
    assert run("capacity", *ON_DEMAND).code == 0

    (order,) = approved
    assert isinstance(order, OnDemandOrder)
    assert (order.instance_type, order.count, order.hourly_price) == ("trn1.32xlarge", 4, Decimal("21.50"))


def test_the_answer_contains_the_token_and_states_that_nothing_is_bought(
    run: Run, approved: list[Order]
) -> None:
    block = [*BLOCK, "--ultraservers", "2"]
    told, said = run("capacity", *block, "--json"), run("capacity", *block)

    assert json.loads(told.stdout)["order"]["token"] == approved[0].token
    assert approved[0].token in said.stderr
    assert "Nothing is bought yet" in said.stderr


def test_the_largest_block_from_some_nodes_on_is_approved(run: Run, approved: list[Order]) -> None:
    what = ["--instance-type", "trn2.48xlarge", "--nodes", "16", "--at-least", "4"]
    assert run("capacity", *BLOCK, *what).code == 0

    (order,) = approved
    assert isinstance(order, BlockOrder)
    assert (order.count, order.min_count, order.counts) == (16, 4, (16, 8, 4))


@pytest.mark.parametrize(("options", "codes"), [([], ["UC7057"]), (["--below-list"], [])])
def test_a_cap_below_the_list_price_is_meant(
    run: Run, approved: list[Order], options: list[str], codes: list[str]
) -> None:
    what = ["--instance-type", "trn2.48xlarge", "--nodes", "16", "--max-fee", "192250.05"]
    outcome = run("capacity", *BLOCK, *what, *options)

    assert outcome.code == (2 if codes else 0)
    assert [code for code in codes if code not in outcome.stderr] == []
    assert len(approved) == (not codes)


def test_an_invalid_order_is_not_written(run: Run, approved: list[Order]) -> None:
    outcome = run("capacity", *BLOCK, "--instance-type", "trn2.48xlarge", "--nodes", "0")

    assert outcome.code == 2
    assert outcome.stderr.startswith("error: --nodes: got '0'")
    assert approved == []


SIZE = ["--instance-type", "trn2.48xlarge"]
COUNTS = ["\u0663", "1_6", "9_000", "16.0", "+16", " 16", "1e1", "NaN", "8,16", "1-4", "", "9" * 29]
AMOUNTS = [
    "\u0669\u0660",
    "\uff19\uff10",
    "9_000",
    "1.0000001",
    "+5",
    "-5",
    "1e5",
    "NaN",
    "Infinity",
    "",
    "9" * 29,
]


@pytest.mark.parametrize(
    ("command", "option", "texts"),
    [
        ([*BLOCK, *SIZE], "--nodes", COUNTS),
        (BLOCK, "--ultraservers", COUNTS),
        (EXTENSION, "--days", COUNTS),
        (ON_DEMAND, "--nodes", COUNTS),
        ([*BLOCK, *SIZE, "--nodes", "16"], "--max-fee", AMOUNTS),
        ([*BLOCK, *SIZE, "--nodes", "16"], "--month-cap", AMOUNTS),
        (ON_DEMAND, "--hourly-price", AMOUNTS),
    ],
    ids=["approve", "ultraservers", "extend", "reserve", "max-fee", "month-cap", "hourly-price"],
)
def test_a_number_that_is_not_plain_digits_or_plain_money_is_one_finding(
    run: Run, approved: list[Order], command: list[str], option: str, texts: list[str]
) -> None:
    for text in texts:
        ended = run("capacity", *command, option, text)

        assert (ended.code, approved) == (2, []), text
        assert ended.stderr.startswith(f"error: {option}: got ")
        assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*BLOCK, "--instance-type", "trn2.48xlarge", "--nodes", "16"], True),
        (ON_DEMAND, True),
        (EXTENSION, False),
    ],
)
def test_says_when_a_cluster_was_never_rehearsed(
    run: Run, approved: list[Order], arguments: list[str], *, said: bool
) -> None:
    outcome = run("capacity", *arguments)

    assert len(approved) == 1
    assert (
        "ohio was never rehearsed in us-east-2: run `ultracluster deploy ROLLOUT --without-capacity`"
        in outcome.stderr
    ) is said


SHORT = ["capacity", "extend", "longer", "--reservation-id", "cr-0123456789abcdef0", "--region", "us-east-2"]


def test_an_extension_is_quoted_and_its_end_read_from_ec2(run: Run, approved: list[Order]) -> None:
    outcome = run(*SHORT, "--days", "1", *TERMS)

    assert outcome.code == 0, outcome.stderr
    assert "Extending cr-0123456789abcdef0 by 1 days costs 12,345.60 USD now" in outcome.stderr
    (order,) = approved
    assert isinstance(order, ExtensionOrder)
    assert order.expected_end == datetime(2026, 12, 14, 11, 30, tzinfo=UTC)


def test_without_a_terminal_everything_that_is_missing_is_named_at_once(
    run: Run, approved: list[Order], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    outcome = run(*SHORT, "--days", "1")

    assert outcome.code == 2
    said = " ".join(re.sub("[^ -~]", " ", outcome.stderr).split())
    for option in ("--cluster", "--max-fee", "--month-cap", "--approver"):
        assert option in said
    assert approved == []


def test_what_is_missing_is_asked_for_with_the_quote_as_the_limit(
    run: Run, approved: list[Order], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"Cluster to buy for": "ohio", "Name or email address of the approver": "a person"}
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(
        approve.typer, "prompt", lambda question, default, **_: answers.get(question, default)
    )

    assert run(*SHORT, "--days", "1").code == 0
    (order,) = approved
    assert (order.cluster, order.max_fee, order.month_cap) == (
        "ohio",
        Decimal("12345.60"),
        Decimal("12345.60"),
    )


def test_an_extension_that_is_not_on_offer_is_refused(run: Run, approved: list[Order]) -> None:
    outcome = run(*SHORT, "--days", "7", *TERMS)

    assert outcome.stderr.startswith("error: EC2 offers no extension of cr-0123456789abcdef0 by 7 days")
    assert approved == []
