"""When a sick node is drained, asked for a checkpoint and replaced, and what people are told."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.runtime.lifecycle.block_observations import (
    END,
    FRESH,
    ID,
    NODE,
    START,
    facts,
    notices,
    of_kind,
    reservation,
)

from ultracluster_runtime.lifecycle.actions import DrainNode, ReplaceNode, RequestCheckpoint
from ultracluster_runtime.lifecycle.observations import Environment, Job, Observations, Sickness
from ultracluster_runtime.lifecycle.plan import run_cycle
from ultracluster_runtime.lifecycle.state import LifecycleState

NOW = START + timedelta(days=1)
MINUTE = timedelta(minutes=1)
MATE = "i-0fedcba9876543210"
DEVICES, MEMORY = Sickness(reason="1 EFA devices missing"), Sickness(reason="HBM", in_memory=True)
JOB = Job(job_id="job", nodes=frozenset({NODE, MATE}))
OPEN = FRESH.with_block(start=START, end=END, instances=16)


def seen(now: timedelta = timedelta(), **changes: object) -> Observations:
    given = {
        "nodes": frozenset({NODE, MATE}),
        "jobs": (),
        "sick": {NODE: DEVICES},
        "replaces_sick": True,
    }
    return facts(NOW + now, **given | changes)


def drained(minutes: int = 2, **changes: object) -> LifecycleState:
    return replace(OPEN, drained={NODE: NOW - minutes * MINUTE}, **changes)  # type: ignore[arg-type]


def replaced(observations: Observations, state: LifecycleState | None) -> list[str]:
    return [each.node for each in of_kind(ReplaceNode, observations, state) if isinstance(each, ReplaceNode)]


def test_a_sick_node_without_a_job_is_drained_and_replaced_two_minutes_later() -> None:
    assert of_kind(DrainNode, seen(), OPEN) == [DrainNode(node=NODE)]
    assert replaced(seen(), OPEN) == []
    assert replaced(seen(), drained(1)) == []
    assert of_kind(DrainNode, seen(), drained()) == []
    assert replaced(seen(), drained()) == [NODE]
    assert replaced(seen(sick={}), drained()) == [NODE]  # it takes no jobs any more, so it is of no use


def test_people_who_did_not_ask_for_it_are_only_told_with_the_command() -> None:
    told = seen(replaces_sick=False)
    assert not of_kind(DrainNode, told, OPEN)
    assert not replaced(told, drained())
    (notice,) = notices(told, OPEN, about="sick")
    assert f"ultracluster nodes replace {NODE}`" in notice.text
    assert "1 EFA devices missing" in notice.text
    memory = seen(replaces_sick=False, sick={NODE: MEMORY})
    (notice,) = notices(memory, OPEN, about="sick")
    assert f"ultracluster nodes replace {NODE} --now`" in notice.text
    assert "go back to the checkpoint before it" in notice.text
    assert notices(memory, OPEN.with_notices(notice.notices), about="sick") == []


def test_a_job_without_resume_is_waited_for_and_named() -> None:
    assert replaced(seen(jobs=(JOB,)), drained(10_000)) == []
    assert not of_kind(RequestCheckpoint, seen(jobs=(JOB,)), drained(10_000))
    (notice,) = notices(seen(jobs=(JOB,)), OPEN, about="sick")
    assert "when job job has ended, which has no resume left" in notice.text


def test_a_job_that_resumes_gets_the_time_of_its_checkpoint_on_all_of_its_nodes() -> None:
    busy = seen(jobs=(JOB,), resumed=frozenset({"job"}))
    request = RequestCheckpoint(nodes=JOB.nodes, before=NOW + 20 * MINUTE, sick=NODE)
    assert of_kind(RequestCheckpoint, busy, drained()) == [request]
    at_once = replace(busy, checkpoint_lead=timedelta(0))  # a job is never given less than eight minutes
    assert of_kind(RequestCheckpoint, at_once, drained()) == [replace(request, before=NOW + 8 * MINUTE)]
    assert replaced(busy, drained()) == []
    for minutes, expected in ((19, []), (20, [NODE])):
        asked = drained(30, asked={NODE: NOW - minutes * MINUTE})
        assert replaced(busy, asked) == expected
        again = of_kind(RequestCheckpoint, busy, asked)  # with the same end, which the launcher knows
        assert again == [replace(request, before=NOW + (20 - minutes) * MINUTE)]


def test_after_an_error_of_memory_no_checkpoint_is_asked_for_and_a_request_before_it_is_waited_for() -> None:
    busy = seen(jobs=(JOB,), resumed=frozenset({"job"}), sick={NODE: MEMORY})
    assert not of_kind(RequestCheckpoint, busy, drained())
    assert replaced(busy, drained()) == [NODE]
    assert replaced(busy, drained(asked={NODE: NOW - MINUTE})) == []


def test_two_nodes_are_replaced_in_an_hour_the_longest_drained_first() -> None:
    nodes = {f"i-{number}": NOW - timedelta(minutes=10 + number) for number in range(4)}
    sick = seen(nodes=frozenset(nodes), sick=dict.fromkeys(nodes, DEVICES))
    state = replace(OPEN, drained=nodes)
    assert replaced(sick, state) == ["i-3", "i-2"]
    recent = replace(state, replaced={"i-a": NOW - 59 * MINUTE, "i-b": NOW - 60 * MINUTE})
    assert replaced(sick, recent) == ["i-3"]
    assert replaced(sick, replace(state, replaced=dict.fromkeys(("i-a", "i-b", "i-c"), NOW))) == []


def test_ec2_is_asked_again_after_five_minutes_and_the_last_request_counts() -> None:
    for minutes, expected in ((4, []), (5, [NODE])):
        stored: list[LifecycleState] = []
        asked = drained(replaced={NODE: NOW - minutes * MINUTE})
        assert replaced(seen(), asked) == expected
        run_cycle(seen(), asked, perform=lambda _: None, save=stored.append)
        assert stored[-1].replaced == {NODE: NOW if expected else NOW - minutes * MINUTE}


@pytest.mark.parametrize(
    "changes",
    [
        {"jobs": None},
        {"nodes": None},
        {"nodes": frozenset({MATE})},  # of another block or cluster
        {"environment": None},
        {"environment": Environment(enabled=False)},
        {"reservation": None},
        {
            "now": END - START - timedelta(days=1, hours=1, minutes=59)
        },  # the last words are an hour before the end
        {"reservation": reservation(state="scheduled")},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_nothing_is_replaced_without_knowing_that_another_node_comes_and_is_worth_it(
    changes: dict[str, object],
) -> None:
    assert replaced(seen(), drained()) == [NODE]
    assert replaced(seen(**changes), drained()) == []  # type: ignore[arg-type]
    assert not of_kind(DrainNode, seen(**changes), OPEN)  # type: ignore[arg-type]


def test_nothing_is_replaced_without_the_state_or_while_nodes_refuse() -> None:
    assert not replaced(seen(), None)
    assert not replaced(seen(), drained(refusals=dict.fromkeys("abc", NOW)))


def test_a_replacement_is_stored_before_it_is_made_and_not_made_if_that_fails() -> None:
    stored: list[LifecycleState] = []
    made: list[object] = []

    def perform(action: object) -> None:
        if isinstance(action, ReplaceNode):
            assert stored[-1].replaced == {NODE: NOW}
        made.append(action)
        if isinstance(action, ReplaceNode):
            raise ConnectionError

    run_cycle(seen(), drained(), perform=perform, save=stored.append)
    assert [each for each in made if isinstance(each, ReplaceNode)] == [ReplaceNode(node=NODE)]
    assert LifecycleState.from_json(stored[-1].to_json(), reservation_id=ID).replaced == {NODE: NOW}
    made.clear()

    def fail(_: object) -> None:
        raise ConnectionError

    run_cycle(seen(), drained(), perform=made.append, save=fail)
    assert not [each for each in made if isinstance(each, ReplaceNode)]


def stored(
    observations: Observations, state: LifecycleState, error: Exception | None = None
) -> LifecycleState:
    """The state after a run, of which each action fails with the error."""
    saved: list[LifecycleState] = []

    def perform(_: object) -> None:
        if error:
            raise error

    run_cycle(observations, state, perform=perform, save=saved.append)
    return saved[-1]


def test_what_was_done_to_a_sick_node_is_stored_until_the_node_is_gone() -> None:
    assert stored(seen(), OPEN).drained == {NODE: NOW}
    assert stored(seen(), OPEN, ConnectionError()).drained == {}
    busy = seen(jobs=(JOB,), resumed=frozenset({"job"}))
    for asked in ({}, {NODE: NOW - MINUTE}):  # the first request counts, whether it arrived or not
        for error in (None, ConnectionError()):
            assert stored(busy, drained(asked=asked), error).asked == (asked or {NODE: NOW})
    before = {NODE: NOW - 2 * MINUTE, "i-gone": NOW - 30 * MINUTE}
    earlier = {"i-a": NOW - timedelta(hours=1), "i-b": NOW - timedelta(hours=2)}
    after = stored(seen(), replace(OPEN, drained=before, asked=before, replaced=earlier))
    assert (after.drained, after.asked) == ({NODE: before[NODE]}, {NODE: before[NODE]})
    assert after.replaced == {NODE: NOW, "i-a": earlier["i-a"]}
