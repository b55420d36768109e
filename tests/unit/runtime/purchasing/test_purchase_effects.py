"""Buying, effect by effect: what is sent, what is recorded, and what the user is told."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.purchasing.ec2_fixtures import reservation
from tests.unit.runtime.purchasing.example_orders import block_order, offering
from tests.unit.runtime.purchasing.protocol_player import pages, play
from tests.unit.runtime.purchasing.simulation import START

from ultracluster_runtime.purchasing.effects import (
    Advance,
    Bought,
    Committed,
    ConditionFailed,
    Confirm,
    DescribeOfferings,
    DryRun,
    DryRunExecuted,
    DryRunPassed,
    Effect,
    OutcomeUnknown,
    Page,
    ReadFailed,
    ReadRecord,
    Refused,
    Send,
)
from ultracluster_runtime.purchasing.orders import OrderState, Record, order_token
from ultracluster_runtime.purchasing.purchase import buy
from ultracluster_runtime.purchasing.reconcile import Outcome

GROUND = "AWS confirmed"
APPROVED = Record(
    order=block_order(),
    token=order_token(block_order()),
    state=OrderState.APPROVED,
    changed_at=START,
)
LOST = OutcomeUnknown("no reply")
DENIED = ReadFailed(code="Denied", message="no", transient=False)


def buying(record: Record = APPROVED, **answers: Any) -> tuple[list[Any], Any]:
    """Buy in a world where all goes well; `answers` by the name of the effect, a list for one after the other."""
    given: dict[str, Any] = {
        "ReadRecord": record,
        "GetCallerAccount": record.order.account,
        "Now": START,
        "Confirm": True,
        "DryRun": DryRunPassed(START),
        "Advance": Committed(),
        "Send": Bought(reservation_ids=("cr-2", "cr-1", "cr-1"), block_ids=("cb-1",)),
        "Sleep": None,
        **{name: list(given) if isinstance(given, list) else given for name, given in answers.items()},
    }

    def answer(effect: Effect) -> Any:
        name = type(effect).__name__
        if name not in given:
            return pages((DescribeOfferings, [offering()]))(effect)
        reply = given[name]
        return reply.pop(0) if isinstance(reply, list) else reply

    return play(buy("december", nonce="mine"), answer)


def test_sends_once_after_confirmation_dry_run_and_ledger_write() -> None:
    asked, outcome = buying()
    (confirm,) = [effect for effect in asked if isinstance(effect, Confirm)]
    (send,) = [effect for effect in asked if isinstance(effect, Send)]
    sending, purchased = [effect for effect in asked if isinstance(effect, Advance)]

    assert (confirm.order, confirm.quote) == (block_order(), outcome.quote)
    assert send == Send(request=confirm.quote.request, not_after=START + timedelta(seconds=60))
    assert DryRun(confirm.quote.request) in asked
    assert sending.before == APPROVED
    assert sending.after == Record(
        order=block_order(),
        token=APPROVED.token,
        state=OrderState.SENDING,
        changed_at=START,
        version=2,
        reason="the request may have been sent",
        nonce="mine",
        sent_at=START,
        region="us-east-2",
        offering_id="cb-good",
        fee=Decimal("192241.66"),
        month="123456789012#USD#2026-11",
        start=START + timedelta(days=10),
        end=START + timedelta(days=24),
        zone_ids=("use2-az3",),
        holds_lock=True,
    )
    assert purchased.after == outcome.record
    assert (outcome.record.state, outcome.record.reason) == (OrderState.PURCHASED, GROUND)
    assert (outcome.record.reservation_ids, outcome.record.block_ids) == (("cr-1", "cr-2"), ("cb-1",))
    assert outcome.findings == ()


def test_request_is_not_sent_after_the_approval_expires() -> None:
    order = block_order(expires_at=START + timedelta(seconds=30))
    asked, _ = buying(replace(APPROVED, order=order, token=order_token(order)))

    (send,) = [effect for effect in asked if isinstance(effect, Send)]
    assert send.not_after == START + timedelta(seconds=30)


def test_evidence_found_before_buying_is_recorded_and_prevents_a_purchase() -> None:
    asked, outcome = buying(DescribeReservations=Page(items=(reservation(1),)))

    assert not [effect for effect in asked if isinstance(effect, Send)]
    assert (outcome.record.state, outcome.record.reason) == (OrderState.PAID, "found in EC2 before buying")
    assert outcome.record.reservation_ids == ("cr-1",)
    assert outcome.quote is None


FAILED_WRITE = ConditionFailed(frozenset({"lock", "month"}))


@pytest.mark.parametrize(
    ("answers", "line"),
    [
        ({"GetCallerAccount": DENIED}, "UC7035: the credentials could not be identified: Denied: no."),
        (
            {"GetCallerAccount": "999999999999"},
            (
                "UC7026: the credentials belong to account '999999999999', the order to 123456789012. "
                "Use credentials of the order's account."
            ),
        ),
        ({"Confirm": False}, "UC7034: order december was not confirmed. Nothing was sent."),
        (
            {"DryRun": Refused("Denied", "no")},
            "UC7031: the dry run was refused: Denied: no. Nothing was bought.",
        ),
        (
            {"DryRun": DryRunExecuted()},
            (
                "UC7047: the dry run of order december succeeded like a real request, and may have bought. "
                "Nothing else was sent; reconcile the order and check CloudTrail."
            ),
        ),
        (
            {"DryRun": DryRunPassed(None)},
            (
                "UC7030: the clock of this machine says 2026-11-20T09:00:00+00:00, AWS says nothing. "
                "Allowed: a difference of at most 5 minutes. Synchronize the clock; nothing was bought."
            ),
        ),
        (
            {"DryRun": DryRunPassed(START + timedelta(minutes=5, seconds=1))},
            (
                "UC7030: the clock of this machine says 2026-11-20T09:00:00+00:00, AWS says 2026-11-20T09:05:01+00:00. "
                "Allowed: a difference of at most 5 minutes. Synchronize the clock; nothing was bought."
            ),
        ),
        (
            {"Now": block_order().expires_at},
            "UC7024: the approval of order december expired at 2026-11-22T09:00:00+00:00. Approve a new order.",
        ),
        (
            {"Advance": FAILED_WRITE},
            (
                "UC7032: another order holds cluster/ohio. It is being sent, paid or examined; see "
                "`ultracluster capacity status`. Nothing was sent."
            ),
        ),
        (
            {"Advance": ConditionFailed(frozenset({"month"}))},
            (
                "UC7033: 192241.66 USD more would exceed the monthly cap of 250000. "
                "Nothing was sent; approve a new order with a higher cap."
            ),
        ),
        ({"Advance": [LOST, Committed()]}, "UC7035: the ledger did not confirm: no reply. Nothing was sent."),
    ],
)
def test_explains_why_it_does_not_buy(answers: dict[str, Any], line: str) -> None:
    asked, said = buying(**answers)

    assert said == line
    assert not [effect for effect in asked if isinstance(effect, Send)]


@pytest.mark.parametrize("difference", [timedelta(minutes=5), -timedelta(minutes=5)])
def test_accepts_a_clock_skew_of_five_minutes(difference: timedelta) -> None:
    assert isinstance(buying(DryRun=DryRunPassed(START + difference))[1], Outcome)


@pytest.mark.parametrize(
    ("answers", "state", "reason"),
    [
        (
            {"DryRun": DryRunExecuted()},
            OrderState.UNKNOWN,
            "the dry run succeeded like a real request",
        ),
        (
            {"Advance": [LOST, Committed()]},
            OrderState.REJECTED,
            "the ledger did not confirm; nothing was sent",
        ),
    ],
)
def test_records_possible_outcomes_although_nothing_was_sent(
    answers: dict[str, Any], state: OrderState, reason: str
) -> None:
    asked, _ = buying(**answers)

    last = [effect for effect in asked if isinstance(effect, Advance)][-1]
    assert (last.after.state, last.after.reason) == (state, reason)


def test_refusal_by_aws_is_recorded_and_reported() -> None:
    _, outcome = buying(Send=Refused("Unavailable", "gone"))

    assert (outcome.record.state, outcome.record.reason) == (
        OrderState.REJECTED,
        "AWS refused: Unavailable: gone",
    )
    assert [finding.code for finding in outcome.findings] == ["UC7039"]
    assert outcome.quote.offering_id == "cb-good"


def test_unconfirmed_purchase_is_reported_with_its_ids() -> None:
    _, outcome = buying(Advance=[Committed(), LOST, LOST, LOST])

    assert outcome.record.state is OrderState.SENDING
    assert [str(finding) for finding in outcome.findings] == [
        (
            "UC7036: order december bought cr-1, cr-2, and the ledger did not confirm it. "
            "Do not buy again; run `ultracluster capacity reconcile december`."
        )
    ]
    assert outcome.quote is not None


def test_order_stays_sending_if_nothing_can_be_read() -> None:
    asked, outcome = buying(ReadRecord=[APPROVED, DENIED], Send=OutcomeUnknown("time-out"))

    assert asked[-1] == ReadRecord("december")
    assert outcome.record.state is OrderState.SENDING
    assert [finding.code for finding in outcome.findings] == ["UC7036"]
    assert outcome.quote.offering_id == "cb-good"


def test_evidence_after_a_lost_reply_is_reported_with_the_quote() -> None:
    nothing: Page[Any] = Page(items=())
    under_way = replace(APPROVED, state=OrderState.SENDING, sent_at=START, region="us-east-2", nonce="mine")

    _, outcome = buying(
        ReadRecord=[APPROVED, under_way],
        Send=OutcomeUnknown("time-out"),
        DescribeReservations=[nothing, Page(items=(reservation(1),))],
    )

    assert (outcome.record.state, outcome.record.reason) == (OrderState.PAID, "found in EC2")
    assert outcome.quote.offering_id == "cb-good"


@pytest.mark.parametrize("state", [OrderState.REVOKED, OrderState.CLOSED, OrderState.CANCELLED])
def test_final_order_is_not_bought(state: OrderState) -> None:
    asked, line = buying(replace(APPROVED, state=state, reason="a person said so"))

    assert line == (
        f"UC7023: order december is {state}: a person said so. Allowed: APPROVED. "
        "Nothing was sent; create a new order for a new purchase."
    )
    assert not [effect for effect in asked if isinstance(effect, Send)]
