"""Recording what happened: writes, retries, and findings for the user."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.runtime.purchasing.ec2_fixtures import APPROVED, DENIED, LOST, reservation, sent
from tests.unit.runtime.purchasing.protocol_player import pages, play
from tests.unit.runtime.purchasing.simulation import START

from ultracluster_runtime.purchasing.effects import (
    Advance,
    Committed,
    ConditionFailed,
    DescribeReservations,
    Effect,
    Now,
    ReadClock,
    ReadRecord,
    Sleep,
)
from ultracluster_runtime.purchasing.evidence import Evidence
from ultracluster_runtime.purchasing.orders import OrderState, Record
from ultracluster_runtime.purchasing.reconcile import Outcome, findings_for, reconcile, settle

LATER = START + timedelta(hours=1)
GROUND = "AWS confirmed"
SEEN = Evidence(
    reservation_ids=("cr-2",), block_ids=("cb-2",), states=("cr-2=scheduled",), zone_ids=("use2-az1",)
)
BOUGHT = sent(nonce="mine", holds_lock=True, version=2)


def settling(
    replies: list[Any], record: Record = BOUGHT, read: Any = None, evidence: Evidence | None = SEEN
) -> tuple[list[Any], Record]:
    """Settle as bought; each write gets the next reply."""
    left = list(replies)

    def answer(effect: Effect) -> Any:
        if isinstance(effect, Advance):
            return left.pop(0)
        return LATER if isinstance(effect, Now) else read if isinstance(effect, ReadRecord) else None

    asked, result = play(settle(record, OrderState.PURCHASED, reason=GROUND, evidence=evidence), answer)
    assert not left
    return asked, result


def test_writes_the_new_state_with_all_that_was_seen() -> None:
    held = replace(BOUGHT, reservation_ids=("cr-1",), block_ids=("cb-1",), zone_ids=("use2-az3",))

    asked, result = settling([Committed()], held)

    assert result == replace(
        held,
        state=OrderState.PURCHASED,
        version=3,
        changed_at=LATER,
        reason=GROUND,
        reservation_ids=("cr-1", "cr-2"),
        block_ids=("cb-1", "cb-2"),
        ec2_states=("cr-2=scheduled",),
        zone_ids=("use2-az1",),
        holds_lock=True,
    )
    assert asked == [Now(), Advance(before=held, after=result)]


def test_known_evidence_is_kept() -> None:
    held = replace(
        BOUGHT, ec2_states=("cr-1=active",), zone_ids=("use2-az3",), state=OrderState.PURCHASED, version=7
    )

    def answer(effect: Effect) -> Any:
        return LATER if isinstance(effect, Now) else Committed()

    _, paid = play(settle(held, OrderState.PAID, reason="seen"), answer)
    asked, same = play(settle(held, OrderState.PURCHASED, reason="seen"), answer)

    assert (paid.ec2_states, paid.zone_ids, paid.holds_lock) == (("cr-1=active",), ("use2-az3",), False)
    assert (asked, same) == ([Now()], held)


def test_gives_up_after_three_attempts() -> None:
    asked, result = settling([LOST, LOST, LOST])

    assert result == BOUGHT
    assert [effect for effect in asked if isinstance(effect, Sleep)] == [Sleep(1.0), Sleep(2.0), Sleep(3.0)]


def test_concurrent_write_of_the_same_attempt_is_merged() -> None:
    theirs = sent(nonce="mine", holds_lock=True, version=5, reservation_ids=("cr-1",))
    theirs = replace(theirs, token=theirs.order.token)

    asked, result = settling([ConditionFailed(frozenset({"state"})), Committed()], read=theirs)

    assert ReadRecord("december") in asked
    assert (result.version, result.reservation_ids) == (6, ("cr-1", "cr-2"))


def test_attempt_of_another_process_is_left_alone() -> None:
    theirs = sent(nonce="theirs")
    theirs = replace(theirs, token=theirs.order.token)

    assert settling([ConditionFailed(frozenset({"state"}))], read=theirs, evidence=None)[1] == theirs


def test_purchase_is_recorded_in_the_attempt_of_another_process_whose_state_stays() -> None:
    theirs = sent(nonce="theirs")
    theirs = replace(theirs, token=theirs.order.token)

    _, recorded = settling([ConditionFailed(frozenset({"state"})), Committed()], read=theirs)
    assert (recorded.state, recorded.nonce) == (OrderState.SENDING, "theirs")
    assert (recorded.reservation_ids, recorded.block_ids) == (("cr-2",), ("cb-2",))


def test_purchase_is_recorded_in_an_order_that_the_ledger_holds_as_approved() -> None:
    _, recorded = settling([ConditionFailed(frozenset({"state"})), Committed()], read=APPROVED)
    assert (recorded.state, recorded.reservation_ids) == (OrderState.PURCHASED, ("cr-2",))


def test_unreadable_ledger_changes_nothing() -> None:
    assert settling([ConditionFailed(frozenset({"state"}))], read=DENIED)[1] == BOUGHT


def reconciling(record: Record, *, now: Any, listed: Any = (), clock: Any = None) -> Outcome:
    whole = replace(record, token=record.order.token)

    def answer(effect: Effect) -> Any:
        match effect:
            case ReadRecord():
                return whole
            case Now():
                return now
            case ReadClock():
                return now if clock is None else clock
            case Advance():
                return Committed()
            case _:
                return pages((DescribeReservations, list(listed)))(effect)

    outcome = play(reconcile("december"), answer)[1]
    assert isinstance(outcome, Outcome), outcome
    return outcome


@pytest.mark.parametrize(
    ("minutes", "state", "reason"),
    [
        (29, OrderState.SENDING, ""),
        (30, OrderState.UNKNOWN, "not found in EC2 30 minutes after sending"),
    ],
)
def test_an_order_without_a_trace_is_unknown_after_thirty_minutes(
    minutes: int, state: OrderState, reason: str
) -> None:
    record = reconciling(BOUGHT, now=START + timedelta(minutes=minutes)).record

    assert (record.state, record.reason) == (state, reason)


def test_the_thirty_minutes_are_those_of_aws() -> None:
    early = reconciling(BOUGHT, now=START + timedelta(days=1), clock=START + timedelta(minutes=29)).record
    late = reconciling(BOUGHT, now=START - timedelta(days=1), clock=START + timedelta(minutes=30)).record
    unread = reconciling(BOUGHT, now=START + timedelta(days=1), clock=DENIED).record
    assert [early.state, late.state, unread.state] == [
        OrderState.SENDING,
        OrderState.UNKNOWN,
        OrderState.SENDING,
    ]


def test_an_order_that_a_clock_ahead_has_sent_is_released_thirty_minutes_after_it_is_looked_for() -> None:
    day = START + timedelta(days=1)
    ahead = replace(BOUGHT, sent_at=day, changed_at=day)
    seen = reconciling(ahead, now=day, clock=START).record
    assert (seen.state, seen.changed_at) == (OrderState.SENDING, START)
    assert seen.reason == "sent by a clock that was ahead; looked for since 2026-11-20 09:00 UTC"
    before, after = (
        reconciling(seen, now=day, clock=START + timedelta(minutes=minutes)).record.state
        for minutes in (29, 30)
    )
    assert (before, after) == (OrderState.SENDING, OrderState.UNKNOWN)


def test_evidence_in_ec2_is_recorded_with_its_reason() -> None:
    record = reconciling(BOUGHT, now=LATER, listed=[reservation(1)]).record

    assert (record.state, record.reason) == (OrderState.PAID, "found in EC2")


def test_an_order_that_ended_without_evidence_stays_as_it_is() -> None:
    closed = replace(BOUGHT, state=OrderState.CLOSED)

    assert reconciling(closed, now=LATER).record.state is OrderState.CLOSED


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"reason": "the request may have been sent"},
            (
                "UC7036: order december was sent and its outcome is not known yet: the request may have been sent. "
                "Do not buy again; run `ultracluster capacity reconcile december` in a few minutes."
            ),
        ),
        (
            {"state": OrderState.UNKNOWN},
            (
                "UC7037: it is unknown whether order december was bought; these untagged reservations resemble it: "
                "cr-1, cr-2. Search CloudTrail"
            ),
        ),
        (
            {"state": OrderState.FAILED, "ec2_states": ("cr-1=failed", "cr-2=failed")},
            "UC7038: AWS released the purchase of order december: cr-1=failed, cr-2=failed. It is not billed",
        ),
        (
            {"state": OrderState.REJECTED, "reason": "AWS refused: Code: text"},
            "UC7039: order december bought nothing: AWS refused: Code: text.",
        ),
    ],
)
def test_findings_explain_what_to_do(changes: dict[str, Any], line: str) -> None:
    (finding,) = findings_for(replace(BOUGHT, **changes), lookalikes=("cr-1", "cr-2"))

    assert str(finding).startswith(line)


def test_shows_untagged_reservations_that_resemble_an_unknown_order() -> None:
    (finding,) = reconciling(BOUGHT, now=LATER, listed=[reservation(1, order_name=None)]).findings
    assert finding.code == "UC7037"
    assert "cr-1" in finding.problem
