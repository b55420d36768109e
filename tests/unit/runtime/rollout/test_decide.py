"""Decisions of the rollout's state machine."""

from tests.unit.runtime.rollout.rollout_simulation import STEPS, plan

from ultracluster_runtime.rollout.decide import Decision, Entry, Kind, Task, decide, states_of
from ultracluster_runtime.rollout.plan import ALARMS, DEPLOY

PLAN = plan()


def test_running_steps_complete_after_a_failure_and_no_new_ones_begin() -> None:
    entries = [
        Entry(kind=Kind.STARTED),
        *(Entry(kind=Kind.PASSED, cluster="a", step=step) for step in STEPS),
        Entry(kind=Kind.BEGUN, cluster="b", step=DEPLOY),
        Entry(kind=Kind.BEGUN, cluster="c", step=DEPLOY),
        Entry(kind=Kind.FAILED, cluster="b", step=DEPLOY),
    ]

    waits = decide(PLAN, entries, under_way={("c", DEPLOY)}, at_once=9)
    ends = decide(
        PLAN, [*entries, Entry(kind=Kind.PASSED, cluster="c", step=DEPLOY)], under_way=(), at_once=9
    )

    assert waits == Decision()
    assert ends == Decision(stopped=True)


def test_step_of_a_crashed_process_is_repeated_as_interrupted() -> None:
    entries = [
        Entry(kind=Kind.STARTED),
        Entry(kind=Kind.BEGUN, cluster="a", step=DEPLOY),
        Entry(kind=Kind.STARTED),
    ]

    (task,) = decide(PLAN, entries, under_way=(), at_once=9).begin

    assert task == Task(cluster="a", step=DEPLOY, interrupted=True, attempt=1)


def test_attempts_count_failures_and_not_crashes() -> None:
    began = Entry(kind=Kind.BEGUN, cluster="a", step=DEPLOY)
    failed = Entry(kind=Kind.FAILED, cluster="a", step=DEPLOY)
    started = Entry(kind=Kind.STARTED)

    (task,) = decide(PLAN, [started, began, started, began, failed, started], under_way=(), at_once=9).begin

    assert (task.attempt, task.interrupted) == (2, False)


def test_later_start_clears_failures() -> None:
    failed = Entry(kind=Kind.FAILED, cluster="a", step=ALARMS)

    assert states_of([failed]) == {("a", ALARMS): Kind.FAILED}
    assert states_of([failed, Entry(kind=Kind.STARTED)]) == {}
