"""Buying, effect by effect: what is sent, what is recorded, and what the user is told."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.purchasing.ec2_fixtures import APPROVED, DENIED, LOST, reservation
from tests.unit.runtime.purchasing.example_orders import block_order, extension_order, offering
from tests.unit.runtime.purchasing.protocol_player import pages, play
from tests.unit.runtime.purchasing.scenarios import simulate, start
from tests.unit.runtime.purchasing.simulated_purchases import reconciled
from tests.unit.runtime.purchasing.simulation import START

from ultracluster_runtime.purchasing.effects import (
    Advance,
    Bought,
    Committed,
    ConditionFailed,
    Confirm,
    DescribeOfferings,
    DescribeReservations,
    DryRun,
    DryRunExecuted,
    DryRunPassed,
    Effect,
    OutcomeUnknown,
    Page,
    ReadRecord,
    Refused,
    Send,
    Sleep,
)
from ultracluster_runtime.purchasing.orders import OrderState, Record
from ultracluster_runtime.purchasing.purchase import buy
from ultracluster_runtime.purchasing.reconcile import Outcome
from ultracluster_spec.findings import FindingsError

GROUND = "AWS confirmed"


def buying(record: Record = APPROVED, **answers: Any) -> tuple[list[Any], Any]:
    """Buy in a world where all goes well; `answers` by the name of the effect, a list for one after the other.

    An ellipsis stands for what the ledger holds.
    """
    held = record
    given: dict[str, Any] = {
        "ReadRecord": ...,
        "GetCallerAccount": record.order.account,
        "Now": START,
        "ReadOrders": [],
        "ReadClock": START,
        "Confirm": True,
        "DryRun": DryRunPassed(START),
        "Advance": Committed(),
        "Send": Bought(reservation_ids=("cr-2", "cr-1", "cr-1"), block_ids=("cb-1",)),
        "Sleep": None,
        **{name: list(given) if isinstance(given, list) else given for name, given in answers.items()},
    }

    def answer(effect: Effect) -> Any:
        nonlocal held
        name = type(effect).__name__
        if name not in given:
            return pages((DescribeOfferings, [offering()]))(effect)
        reply = given[name]
        reply = reply.pop(0) if isinstance(reply, list) and reply else reply
        if isinstance(reply, Exception):
            raise reply
        if isinstance(effect, Advance) and reply == Committed():
            held = effect.after
        return held if reply is ... else reply

    return play(buy("december", nonce="mine"), answer)


def sends(asked: list[Any]) -> list[Send]:
    return [effect for effect in asked if isinstance(effect, Send)]


def writes(asked: list[Any]) -> list[Record]:
    return [effect.after for effect in asked if isinstance(effect, Advance)]


NOTHING: Page[Any] = Page(items=())


def test_sends_once_after_confirmation_dry_run_and_ledger_write() -> None:
    asked, outcome = buying()
    (confirm,) = [effect for effect in asked if isinstance(effect, Confirm)]
    (send,) = sends(asked)
    sending, purchased = [effect for effect in asked if isinstance(effect, Advance)]

    assert (confirm.order, confirm.quote) == (block_order(), outcome.quote)
    assert send == Send(
        request=confirm.quote.request, not_before=START, not_after=START + timedelta(seconds=60)
    )
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
        count=16,
        holds_lock=True,
    )
    assert purchased.after == outcome.record
    assert (outcome.record.state, outcome.record.reason) == (OrderState.PURCHASED, GROUND)
    assert (outcome.record.reservation_ids, outcome.record.block_ids) == (("cr-1", "cr-2"), ("cb-1",))
    assert outcome.findings == ()


def test_request_is_not_sent_after_the_approval_expires() -> None:
    order = block_order(expires_at=START + timedelta(seconds=30))
    asked, _ = buying(replace(APPROVED, order=order, token=order.token))

    (send,) = sends(asked)
    assert send.not_after == START + timedelta(seconds=30)


def test_evidence_found_before_buying_is_recorded_and_prevents_a_purchase() -> None:
    asked, outcome = buying(DescribeReservations=Page(items=(reservation(1),)))

    assert sends(asked) == []
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
                "Allowed: a difference of at most 1 minute. Synchronize the clock; nothing was bought."
            ),
        ),
        (
            {"DryRun": DryRunPassed(START + timedelta(minutes=1, seconds=1))},
            (
                "UC7030: the clock of this machine says 2026-11-20T09:00:00+00:00, AWS says 2026-11-20T09:01:01+00:00. "
                "Allowed: a difference of at most 1 minute. Synchronize the clock; nothing was bought."
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
    assert sends(asked) == []


@pytest.mark.parametrize("difference", [timedelta(minutes=1), -timedelta(minutes=1)])
def test_accepts_a_clock_skew_of_a_minute(difference: timedelta) -> None:
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
            "the ledger did not confirm: no reply; nothing was sent",
        ),
    ],
)
def test_records_possible_outcomes_although_nothing_was_sent(
    answers: dict[str, Any], state: OrderState, reason: str
) -> None:
    asked, _ = buying(**answers)

    last = writes(asked)[-1]
    assert (last.state, last.reason) == (state, reason)


def test_refusal_by_aws_is_recorded_and_reported_after_a_look_at_ec2() -> None:
    asked, outcome = buying(Send=Refused("Unavailable", "gone"))

    looks = [type(effect).__name__ for effect in asked[asked.index(Sleep(5.0)) :]]
    assert looks[1:] == ["DescribeReservations"] * 2 + ["DescribeBlocks"] * 2 + ["Now", "Advance"]
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
    asked, outcome = buying(ReadRecord=[..., ..., DENIED], Send=OutcomeUnknown("time-out"))

    assert asked[-1] == ReadRecord("december")
    assert outcome.record.state is OrderState.SENDING
    assert [finding.code for finding in outcome.findings] == ["UC7036"]
    assert outcome.quote.offering_id == "cb-good"


def test_evidence_after_a_lost_reply_is_reported_with_the_quote() -> None:
    _, outcome = buying(
        Send=OutcomeUnknown("time-out"),
        DescribeReservations=[NOTHING, Page(items=(reservation(1),))],
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
    assert sends(asked) == []


@pytest.mark.parametrize(
    ("held", "line"),
    [
        (
            APPROVED,
            (
                "UC7049: the ledger confirmed order december as SENDING, and holds it as APPROVED. "
                "Nothing was sent. A proxy may have answered for DynamoDB: buy without it."
            ),
        ),
        (
            replace(APPROVED, state=OrderState.SENDING, nonce="theirs"),
            (
                "UC7049: the ledger confirmed order december as SENDING, and holds it as SENDING. "
                "Nothing was sent. A proxy may have answered for DynamoDB: buy without it."
            ),
        ),
        (
            DENIED,
            "UC7035: the ledger could not be read: Denied: no. This command sent nothing; run it again later.",
        ),
    ],
)
def test_sends_nothing_unless_the_ledger_holds_the_attempt(held: Any, line: str) -> None:
    asked, said = buying(ReadRecord=[APPROVED, held, held])

    assert said == line
    assert sends(asked) == []
    assert writes(asked)[-1].state is OrderState.REJECTED


LEDGER_GONE = FindingsError.of("UC7021", "the ledger table 'orders' cannot be used")


@pytest.mark.parametrize(
    "held",
    [None, DENIED, LEDGER_GONE, APPROVED, replace(APPROVED, state=OrderState.SENDING, nonce="theirs")],
    ids=["lost", "denied", "gone", "restored", "of another process"],
)
def test_ids_that_aws_returned_are_reported_even_if_the_ledger_disagrees(held: Any) -> None:
    _, outcome = buying(ReadRecord=[..., ..., held])

    assert outcome.record.reservation_ids == ("cr-1", "cr-2")
    assert outcome.record.block_ids == ("cb-1",)
    (finding,) = outcome.findings
    assert finding.code == "UC7036"
    assert "bought cr-1, cr-2" in finding.problem


def test_block_without_reservations_is_reported_by_its_own_id() -> None:
    _, outcome = buying(ReadRecord=[..., ..., DENIED], Send=Bought(reservation_ids=(), block_ids=("cb-1",)))

    assert "bought cb-1" in outcome.findings[0].problem


LONG_AFTER = START + timedelta(minutes=10, seconds=1)


def test_confirmation_is_valid_for_ten_minutes() -> None:
    asked, line = buying(Now=[START, START, LONG_AFTER])

    assert line == "UC7034: order december was not confirmed within 10 minutes. Nothing was sent."
    assert sends(asked) == []
    assert isinstance(
        buying(Now=[START, START, *[START + timedelta(minutes=10)] * 6], DryRun=DryRunPassed(LONG_AFTER))[1],
        Outcome,
    )


def offered_again(**changes: Any) -> list[Page[Any]]:
    return [Page(items=(offering(),)), Page(items=(offering(**changes),))]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"fee": Decimal("192241.67")}, "the fee 192241.66 is now 192241.67"),
        (
            {"start": START + timedelta(days=11), "end": START + timedelta(days=25)},
            (
                "the end 2026-12-14T09:00:00+00:00 is now 2026-12-15T09:00:00+00:00, "
                "the start 2026-11-30T09:00:00+00:00 is now 2026-12-01T09:00:00+00:00"
            ),
        ),
        (
            {"end": START + timedelta(days=23), "duration": timedelta(days=13)},
            (
                "the end 2026-12-14T09:00:00+00:00 is now 2026-12-13T09:00:00+00:00, "
                "the duration 14 days, 0:00:00 is now 13 days, 0:00:00"
            ),
        ),
    ],
)
def test_offering_that_changed_after_the_confirmation_is_not_bought(
    changes: dict[str, Any], problem: str
) -> None:
    asked, line = buying(DescribeOfferings=offered_again(**changes))

    assert line == (
        f"UC7050: the confirmed quote of order december has changed: {problem}. "
        "Nothing was sent; run the command again to confirm the new quote."
    )
    assert sends(asked) == []


def test_offering_that_was_sold_after_the_confirmation_is_not_replaced_by_another() -> None:
    asked, line = buying(DescribeOfferings=offered_again(offering_id="cb-next"))

    assert line.startswith("UC7027: no offering meets the terms: AWS offered none.")
    assert sends(asked) == []


def test_lower_fee_than_confirmed_is_bought_and_recorded() -> None:
    asked, outcome = buying(DescribeOfferings=offered_again(fee=Decimal("192000.00")))

    assert len(sends(asked)) == 1
    assert outcome.record.fee == Decimal("192000.00")


REFUSED = Refused("UnauthorizedOperation", "no")


def test_refused_request_that_ec2_executed_is_a_purchase() -> None:
    _, outcome = buying(Send=REFUSED, DescribeReservations=[NOTHING, Page(items=(reservation(1),))])

    assert (outcome.record.state, outcome.record.reservation_ids) == (OrderState.PAID, ("cr-1",))
    assert outcome.record.reason == "found in EC2, although AWS refused: UnauthorizedOperation: no"


def test_refused_request_keeps_its_lock_while_ec2_cannot_be_read() -> None:
    asked, outcome = buying(Send=REFUSED, DescribeReservations=[NOTHING, DENIED])

    assert (outcome.record.state, outcome.record.holds_lock) == (OrderState.SENDING, True)
    (finding,) = outcome.findings
    assert finding.code == "UC7036"
    assert (
        "AWS refused: UnauthorizedOperation: no; the Capacity Reservations in us-east-2 could not be read"
        in str(finding)
    )
    assert [record.state for record in writes(asked)] == [OrderState.SENDING]


def test_request_that_never_left_needs_no_look_at_ec2() -> None:
    asked, outcome = buying(Send=replace(REFUSED, sent=False))

    assert outcome.record.state is OrderState.REJECTED
    assert not [
        effect for effect in asked[asked.index(sends(asked)[0]) :] if isinstance(effect, DescribeReservations)
    ]


# In the simulation


@pytest.mark.parametrize("ahead", [timedelta(days=1), timedelta(days=-1), timedelta(minutes=2)])
def test_a_clock_that_is_set_after_the_dry_run_writes_no_order(ahead: timedelta) -> None:
    simulation = simulate([block_order()])
    process = start(simulation, "december", "nonce")
    while not process.dry_run_passed:
        assert process.step()
    process.step()  # the time at which AWS answered
    simulation.clock_ahead = ahead
    assert "UC7030" in str(process.run())
    assert simulation.records["december"].state is OrderState.APPROVED
    assert simulation.sends == {}


def test_a_fee_that_is_not_the_quoted_one_is_said() -> None:
    def raise_fee(effect: Any) -> str:
        if isinstance(effect, Send):
            simulation.extension_fee += 1
        return ""

    simulation = simulate([extension_order()])
    simulation.choose_fault = raise_fee
    outcome = start(simulation, "longer", "nonce").run()
    (finding,) = outcome.findings
    assert finding.code == "UC7054"
    assert "was quoted 9000 USD, and EC2 shows 9001 USD" in finding.problem
    assert outcome.record.state is OrderState.PURCHASED
    again = reconciled(simulation, "longer")
    assert [finding.code for finding in again.findings] == ["UC7054"]
