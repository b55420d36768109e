"""Both sides of each boundary of the life cycle; whole scenarios are in test_lifecycle_scenarios.py."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.runtime.lifecycle.block_observations import (
    END,
    FRESH,
    ID,
    NODE,
    SECOND,
    START,
    facts,
    of_kind,
    reservation,
)

from ultracluster_runtime.lifecycle.actions import (
    Notify,
    RequestCheckpoint,
    SetEnvironment,
    SetQueue,
    TerminateJob,
)
from ultracluster_runtime.lifecycle.machine import Phase, phase_of, plan_actions
from ultracluster_runtime.lifecycle.observations import Job, Queue


@pytest.mark.parametrize(("ultraserver", "minutes"), [(False, 40), (True, 70)])
def test_drains_forty_minutes_before_the_end_and_ultraservers_seventy(
    ultraserver: bool, minutes: int
) -> None:
    block = reservation(ultraserver=ultraserver)
    drain = END - timedelta(minutes=minutes)
    assert of_kind(SetEnvironment, facts(drain - SECOND, reservation=block)) == []
    assert of_kind(SetEnvironment, facts(drain, reservation=block)) == [SetEnvironment(enabled=False)]


def test_requests_checkpoints_twenty_minutes_before_the_drain() -> None:
    drain = END - timedelta(minutes=40)
    first = drain - timedelta(minutes=20)
    assert of_kind(RequestCheckpoint, facts(first - SECOND)) == []
    told = [RequestCheckpoint(nodes=frozenset({NODE}), before=END - timedelta(minutes=30))]
    assert of_kind(RequestCheckpoint, facts(first)) == told
    assert of_kind(RequestCheckpoint, facts(first, checkpoint_lead=timedelta(minutes=19))) == []


def test_job_with_a_checkpoint_request_is_terminated_at_the_drain() -> None:
    drain = END - timedelta(minutes=40)
    told = replace(FRESH, checkpoint_requests={NODE: drain - timedelta(minutes=20)})
    assert of_kind(TerminateJob, facts(drain - SECOND), told) == []
    (end,) = of_kind(TerminateJob, facts(drain), told)
    assert isinstance(end, TerminateJob)
    assert (end.job_id, ID in end.reason, "2026-12-15 10:50 UTC" in end.reason) == ("job", True, True)


def test_late_checkpoint_request_leaves_eight_minutes_but_never_until_ec2_terminates() -> None:
    drain = END - timedelta(minutes=40)
    late = replace(FRESH, checkpoint_requests={NODE: drain - timedelta(minutes=1)})
    assert of_kind(TerminateJob, facts(drain + timedelta(minutes=7) - SECOND), late) == []
    assert of_kind(TerminateJob, facts(drain + timedelta(minutes=7)), late)
    last = END - timedelta(minutes=32)
    for memory in (FRESH, None):
        assert of_kind(TerminateJob, facts(last - SECOND), memory) == []
        assert of_kind(TerminateJob, facts(last), memory)


def test_multi_node_job_is_terminated_once_all_nodes_got_the_request() -> None:
    drain = END - timedelta(minutes=40)
    other = "i-0123456789abcdef1"
    seen = facts(
        drain,
        nodes=frozenset({NODE, other}),
        jobs=(Job(job_id="job", nodes=frozenset({NODE, other})),),
    )
    told = {NODE: drain - timedelta(minutes=20)}
    assert of_kind(TerminateJob, seen, replace(FRESH, checkpoint_requests=told)) == []
    assert of_kind(TerminateJob, seen, replace(FRESH, checkpoint_requests=told | {other: told[NODE]}))


def test_termination_waits_for_a_pending_extension_payment() -> None:
    told = replace(FRESH, checkpoint_requests={NODE: END - timedelta(hours=1)})
    last = END - timedelta(minutes=32)
    assert of_kind(TerminateJob, facts(last - SECOND, extension_pending=True), told) == []
    assert of_kind(TerminateJob, facts(last, extension_pending=True), told)
    assert of_kind(SetEnvironment, facts(last - SECOND, extension_pending=True)) == [
        SetEnvironment(enabled=False)
    ]


@pytest.mark.parametrize(
    ("state", "phase"),
    [
        *(
            (state, Phase.WAITING)
            for state in ("assessing", "delayed", "payment-pending", "pending", "scheduled")
        ),
        ("active", Phase.OPEN),
        *(
            (state, Phase.ENDED)
            for state in ("cancelled", "cancelling", "expired", "failed", "payment-failed", "unsupported")
        ),
        ("unavailable", Phase.UNKNOWN),
    ],
)
def test_every_reservation_state_has_a_phase(state: str, phase: Phase) -> None:
    assert phase_of(facts(START + SECOND, reservation=reservation(state=state)), FRESH) is phase


@pytest.mark.parametrize(
    "odd",
    [
        {"state": "new"},
        {"is_block": False},
        {"start": None},
        {"end": None},
        {"end": START},
    ],
)
def test_unexpected_states_are_left_alone_and_reported(odd: dict[str, object]) -> None:
    actions = plan_actions(
        facts(START + SECOND, reservation=reservation(**odd), environment_enabled=False), FRESH
    )
    assert [type(action) for action in actions] == [Notify]


def test_unknown_reservation_is_not_treated_as_ended() -> None:
    actions = plan_actions(facts(START, reservation=None), FRESH)
    assert [type(action) for action in actions] == [Notify]
    past = replace(FRESH, end=START, start=START - timedelta(days=1), instances=4)
    assert of_kind(SetEnvironment, facts(START, reservation=None), past) == [SetEnvironment(enabled=False)]


def test_queue_is_open_and_environment_closed_before_the_start() -> None:
    waiting = reservation(state="scheduled", instances=0)
    closed = facts(START, reservation=waiting, queue=Queue(enabled=False, others_serve=False))
    assert plan_actions(closed, FRESH) == (SetEnvironment(enabled=False), SetQueue(enabled=True))


@pytest.mark.parametrize("state", ["scheduled", "active"])
def test_queue_closed_by_a_budget_stays_closed(state: str) -> None:
    for by_budget in (True, False):
        queue = Queue(enabled=False, others_serve=False, closed_by_budget=by_budget)
        seen = facts(START + timedelta(hours=1), reservation=reservation(state=state), queue=queue)
        assert of_kind(SetQueue, seen) == ([] if by_budget else [SetQueue(enabled=True)])


@pytest.mark.parametrize(("others", "closes"), [(False, True), (True, False), (None, False)])
def test_closes_the_queue_only_if_certainly_nothing_else_serves_it(others: bool | None, closes: bool) -> None:
    seen = facts(END - timedelta(minutes=40), queue=Queue(enabled=True, others_serve=others))
    assert of_kind(SetQueue, seen) == ([SetQueue(enabled=False)] if closes else [])


@pytest.mark.parametrize(
    ("before", "sent", "due"),
    [
        (timedelta(days=7), frozenset(), "T-168h"),
        (timedelta(hours=24), frozenset({"T-168h"}), "T-24h"),
        (timedelta(hours=2), frozenset({"T-168h", "T-24h"}), "T-2h"),
    ],
)
def test_notices_are_sent_in_time_to_extend_and_only_once(
    before: timedelta, sent: frozenset[str], due: str
) -> None:
    memory = replace(FRESH, notices=sent)
    assert of_kind(Notify, facts(END - before - SECOND), memory) == []
    (notice,) = of_kind(Notify, facts(END - before), memory)
    assert isinstance(notice, Notify)
    assert (notice.notices, notice.with_extension) == (frozenset({due}), True)
    assert "2026-12-15 10:50 UTC" in notice.text
    assert "2026-12-15 10:30 UTC" in notice.text
    assert of_kind(Notify, facts(END - before), replace(FRESH, notices=sent | {due})) == []


def test_overdue_notices_are_combined_in_one_message() -> None:
    (notice,) = of_kind(Notify, facts(END - timedelta(hours=2)))
    assert isinstance(notice, Notify)
    assert notice.notices == {"T-168h", "T-24h", "T-2h"}


def test_plan_is_empty_once_everything_is_done() -> None:
    done = facts(
        END,
        reservation=reservation(state="expired"),
        environment_enabled=False,
        queue=Queue(enabled=False, others_serve=False),
        nodes=frozenset(),
        jobs=(),
    )
    assert (
        plan_actions(done, replace(FRESH, start=START, end=END, instances=16, notices=frozenset({"report"})))
        == ()
    )
