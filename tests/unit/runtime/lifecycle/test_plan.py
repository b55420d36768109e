"""Both sides of each boundary of the life cycle; whole scenarios are in test_scenarios.py."""

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
    notices,
    of_kind,
    reservation,
)

from ultracluster_runtime.lifecycle.actions import (
    Notify,
    RequestCheckpoint,
    SetEnvironment,
    SetFleet,
    SetQueue,
    TerminateJob,
)
from ultracluster_runtime.lifecycle.observations import Environment, Fleet, Job, Observations, Queue, Refusal
from ultracluster_runtime.lifecycle.plan import Phase, phase_of, plan_actions, run_cycle
from ultracluster_runtime.lifecycle.state import LifecycleState


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
    idle = frozenset({NODE, "i-0123456789abcdef1"})  # a job may start on it until the drain
    assert of_kind(RequestCheckpoint, facts(first, nodes=idle)) == [replace(told[0], nodes=idle)]


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
    ("odd", "problem"),
    [
        ({"state": "new"}, "its state is new."),
        ({"is_block": False}, "it is a reservation, but not a Capacity Block."),
        ({"start": None}, f"EC2 reports start None and end {END}."),
        ({"end": None}, f"EC2 reports start {START} and end None."),
        ({"end": START}, f"EC2 reports start {START} and end {START}."),
        (None, "EC2 has no such reservation in this account and Region."),
    ],
)
def test_unexpected_states_are_left_alone_and_reported(odd: dict[str, object] | None, problem: str) -> None:
    seen = None if odd is None else reservation(**odd)
    (told,) = plan_actions(
        facts(START + SECOND, reservation=seen, environment=Environment(enabled=False)), FRESH
    )
    assert isinstance(told, Notify)
    assert f"leaves the cluster unchanged: {problem}" in told.text


def test_unknown_reservation_is_not_treated_as_ended() -> None:
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


@pytest.mark.parametrize(
    ("others", "status", "closes"),
    [(False, "VALID", True), (True, "VALID", False), (None, "VALID", False), (False, "UPDATING", False)],
)
def test_closes_the_queue_only_if_certainly_nothing_else_serves_it_and_nobody_modifies_it(
    others: bool | None, status: str, closes: bool
) -> None:
    queue = Queue(enabled=True, others_serve=others, status=status)
    seen = facts(END - timedelta(minutes=40), queue=queue)
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
    (notice,) = notices(facts(END - before), memory)
    assert (notice.notices, notice.with_extension) == (frozenset({due}), True)
    assert "2026-12-15 10:50 UTC" in notice.text
    assert "2026-12-15 10:30 UTC" in notice.text
    assert of_kind(Notify, facts(END - before), replace(FRESH, notices=sent | {due})) == []


def test_overdue_notices_are_combined_in_one_message() -> None:
    (notice,) = notices(facts(END - timedelta(hours=2)))
    assert notice.notices == {"T-168h", "T-24h", "T-2h"}


def test_plan_is_empty_once_everything_is_done() -> None:
    done = facts(
        END,
        reservation=reservation(state="expired"),
        environment=Environment(enabled=False),
        queue=Queue(enabled=False, others_serve=False),
        nodes=frozenset(),
        jobs=(),
    )
    assert (
        plan_actions(done, replace(FRESH, start=START, end=END, instances=16, notices=frozenset({"report"})))
        == ()
    )


DRAIN = END - timedelta(minutes=40)
OPEN = START + timedelta(hours=5)


@pytest.mark.parametrize(
    ("status", "closes"),
    [("VALID", True), ("INVALID", True), ("CREATING", False), ("UPDATING", False), ("DELETING", False)],
)
def test_environment_is_changed_only_while_it_is_not_being_modified(status: str, closes: bool) -> None:
    seen = facts(DRAIN, environment=Environment(enabled=True, status=status))
    assert of_kind(SetEnvironment, seen) == ([SetEnvironment(enabled=False)] if closes else [])


def test_jobs_end_in_time_although_the_environment_cannot_be_closed() -> None:
    told = replace(FRESH, checkpoint_requests={NODE: DRAIN - timedelta(minutes=20)})
    seen = facts(DRAIN, environment=Environment(enabled=True, status="UPDATING"))
    assert [action.job_id for action in of_kind(TerminateJob, seen, told)] == ["job"]  # type: ignore[union-attr]


@pytest.mark.parametrize(("desired", "emptied"), [(0, False), (1, True), (2, True)])
def test_a_fleet_asks_for_no_nodes_once_the_drain_has_begun(desired: int, emptied: bool) -> None:
    drain = END - timedelta(minutes=40)
    wanted = reservation().instances
    fleet = Fleet(desired=desired, most=wanted)
    assert of_kind(SetFleet, facts(drain, fleet=fleet)) == ([SetFleet(nodes=0)] if emptied else [])
    assert of_kind(SetFleet, facts(drain - SECOND, fleet=fleet)) == [SetFleet(nodes=wanted)]
    assert of_kind(SetFleet, facts(drain - SECOND, fleet=replace(fleet, desired=wanted))) == []
    assert of_kind(SetFleet, facts(drain - SECOND, fleet=replace(fleet, most=1, desired=5))) == [
        SetFleet(nodes=1)
    ]


@pytest.mark.parametrize(("state", "told"), [("scheduled", True), ("active", True), ("expired", False)])
def test_people_hear_of_an_invalid_environment_while_it_matters(state: str, told: bool) -> None:
    environment = Environment(enabled=True, status="INVALID", reason="CLIENT_ERROR - no such role")
    seen = facts(OPEN, reservation=reservation(state=state), environment=environment)
    invalid = notices(seen, about="INVALID")
    assert [("no such role" in notice.text, "disable and enable" in notice.text) for notice in invalid] == [
        (True, True)
    ] * told
    sent = replace(FRESH, notices=frozenset(name for notice in invalid for name in notice.notices))
    assert notices(seen, sent, about="INVALID") == []


def refusals(count: int, *, reason: str | None = "15 of 16 Neuron devices") -> tuple[Refusal, ...]:
    return tuple(
        Refusal(node=f"i-{number}", launched=OPEN + number * timedelta(minutes=3), reason=reason)
        for number in range(count)
    )


def remembered(seen: Observations, memory: LifecycleState = FRESH) -> LifecycleState:
    """The state after a run in which every action succeeds."""
    saved: list[LifecycleState] = []
    assert run_cycle(seen, memory, perform=lambda _: None, save=saved.append) == ()
    return saved[-1] if saved else memory


def test_people_hear_of_every_node_that_refuses_with_its_reason_and_once() -> None:
    seen = facts(OPEN + timedelta(minutes=4), refusals=refusals(2), nodes=frozenset(), jobs=())
    memory = replace(FRESH, refusals={"i-0": OPEN, "i-1": OPEN})
    assert [notice.subject.rpartition(": ")[2] for notice in notices(seen, memory)] == [
        "node i-0 refused to join",
        "node i-1 refused to join",
    ]
    assert "15 of 16 Neuron devices" in notices(seen, memory)[0].text
    for fleet, limit in (
        (False, "refusals in a row that close"),
        (True, "refusals in an hour, after which none is"),
    ):
        assert limit in notices(replace(seen, has_fleet=fleet), memory)[0].text
    after = remembered(seen)
    assert notices(seen, after) == []
    extended = after.with_block(start=START, end=END + timedelta(days=1), instances=16)
    assert notices(seen, extended, about="refused") == []


@pytest.mark.parametrize(("minutes", "told"), [(19, False), (20, True)])
def test_a_reason_that_the_console_does_not_show_is_waited_for(minutes: int, told: bool) -> None:
    seen = facts(OPEN + timedelta(minutes=minutes), refusals=refusals(1, reason=None))
    assert bool(notices(seen)) is told
    assert all("get-console-output --instance-id i-0" in notice.text for notice in notices(seen))


@pytest.mark.parametrize(
    ("count", "limit", "closes"), [(2, 3, False), (3, 3, True), (4, 5, False), (5, 5, True)]
)
def test_refusals_in_a_row_close_the_environment_at_the_limit(count: int, limit: int, closes: bool) -> None:
    now = OPEN + timedelta(hours=1)
    seen = facts(now, refusals=refusals(count), max_refusals=limit, nodes=frozenset(), jobs=())
    memory = remembered(seen)
    assert of_kind(SetEnvironment, seen, memory) == ([SetEnvironment(enabled=False)] if closes else [])
    assert bool(notices(seen, replace(memory, notices=frozenset()), about="is closed")) is closes


def test_a_node_that_joins_ends_the_row() -> None:
    now = OPEN + timedelta(hours=1)
    joined = {NODE: OPEN + timedelta(minutes=4)}  # between the second refusal and the third
    seen = facts(now, refusals=refusals(3), launched=joined, jobs=())
    assert of_kind(SetEnvironment, seen, remembered(seen)) == []
    booting = facts(
        OPEN + timedelta(minutes=8),
        refusals=refusals(3),
        launched={NODE: OPEN + timedelta(minutes=7)},
        jobs=(),
    )
    assert of_kind(SetEnvironment, booting, remembered(booting)) == [SetEnvironment(enabled=False)]
    busy = replace(booting, jobs=(Job(job_id="job", nodes=frozenset({NODE})),))
    assert of_kind(SetEnvironment, busy, remembered(busy)) == []


def test_refusals_are_remembered_when_ec2_no_longer_shows_them() -> None:
    nodes: dict[str, object] = {"nodes": frozenset(), "jobs": ()}
    first = remembered(facts(OPEN + timedelta(minutes=5), refusals=refusals(3)[:2], **nodes))
    last = facts(OPEN + timedelta(hours=3), refusals=refusals(3)[2:], **nodes)
    assert of_kind(SetEnvironment, last, remembered(last, first)) == [SetEnvironment(enabled=False)]


def test_an_environment_that_refusals_closed_stays_closed_until_a_person_enables_it() -> None:
    now = OPEN + timedelta(hours=1)
    seen = facts(now, refusals=refusals(3), nodes=frozenset(), jobs=())
    closed = replace(seen, environment=Environment(enabled=False))
    memory = remembered(closed, remembered(seen))
    assert memory.closed
    assert of_kind(SetEnvironment, closed, memory) == []
    # A person enables it: the same refusals, which EC2 still shows, do not close it again, three new ones do.
    memory = remembered(replace(seen, now=now + SECOND), memory)
    assert (memory.closed, dict(memory.refusals)) == (False, {})
    assert of_kind(SetEnvironment, seen, memory) == []
    again = tuple(
        replace(one, node=f"{one.node}x", launched=one.launched + timedelta(hours=2)) for one in refusals(3)
    )
    later = replace(seen, now=now + timedelta(hours=3), refusals=(*refusals(3), *again))
    assert of_kind(SetEnvironment, later, remembered(later, memory)) == [SetEnvironment(enabled=False)]


def test_without_its_state_the_cycle_neither_closes_nor_opens_after_refusals() -> None:
    for enabled in (True, False):
        seen = facts(OPEN, refusals=refusals(3), environment=Environment(enabled=enabled))
        assert of_kind(SetEnvironment, seen, None) == []
    assert of_kind(SetEnvironment, facts(OPEN, environment=Environment(enabled=False)), None) == [
        SetEnvironment(enabled=True)
    ]
