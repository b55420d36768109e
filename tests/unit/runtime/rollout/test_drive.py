"""Rollouts in simulations: they crash at every point, resume, and repeat nothing."""

from itertools import count

import pytest
from tests.unit.runtime.rollout.rollout_simulation import STEPS, WAVES, Death, Process, World, plan

from ultracluster_runtime.rollout import drive as drive_module
from ultracluster_runtime.rollout.decide import Decision, Entry, Kind, Task
from ultracluster_runtime.rollout.drive import drive
from ultracluster_runtime.rollout.plan import DEPLOY, STACKS

PLAN = plan()
ORDER = [name for names in WAVES.values() for name in names]


def live(world: World, *, seed: int = 0, dies_at: int | None = None, at_once: int = 2) -> Process:
    process = Process(world, seed=seed, dies_at=dies_at)
    process.append(Entry(kind=Kind.STARTED))
    process.decision = drive(PLAN, process, process, at_once=at_once, now=lambda: "")  # type: ignore[attr-defined]
    return process


def passed(world: World) -> list[tuple[str, str]]:
    entries = [Process._entry(line) for line in world.lines if line.endswith("\n")]
    return [(one.cluster, one.step) for one in entries if one.kind is Kind.PASSED]


def check_order(done: list[tuple[str, str]]) -> None:
    """No step before the earlier steps of its cluster, nor before every step of the waves before."""
    for index, (cluster, step) in enumerate(done):
        before = set(done[:index])
        assert {(cluster, one) for one in STEPS[: STEPS.index(step)]} <= before
        for names in WAVES.values():
            if cluster in names:
                break
            assert {(name, one) for name in names for one in STEPS} <= before


def test_runs_every_step_once_in_the_order_of_the_waves() -> None:
    world = World()

    process = live(world, at_once=2)

    assert sorted(world.done) == sorted((name, step) for name in ORDER for step in STEPS)
    check_order(world.done)
    assert process.most_at_once == 2
    assert process.entries[-1].kind is Kind.FINISHED


def test_resumes_after_a_crash_at_any_point_and_repeats_nothing() -> None:
    points = live(World()).points
    assert points > 100

    for dies_at in range(1, points + 1):
        for seed in (1, 2):
            world = World()
            with pytest.raises(Death):
                live(world, seed=seed, dies_at=dies_at)
            known = passed(world)
            taken = len(world.done)

            live(world, seed=seed)

            check_order(world.done)
            assert not set(world.done[taken:]) & set(known), "a step that had passed was taken again"
            assert set(world.done) == {(name, step) for name in ORDER for step in STEPS}
            assert set(world.changes.values()) == {1}


def test_completes_after_repeated_crashes() -> None:
    for seed in range(20):
        world = World()
        for life in count():
            try:
                live(world, seed=seed * 1000 + life, dies_at=20 + (seed * 7 + life) % 11)
                break
            except Death:
                assert life < 100
        check_order(world.done)
        # What two processes in a row had begun may be taken twice, and nothing else.
        assert len(passed(world)) == len(set(passed(world))) == len(ORDER) * len(STEPS)


@pytest.mark.parametrize("step", STEPS)
def test_a_failure_in_the_canary_leaves_the_later_waves_untouched(step: str) -> None:
    world = World(failing={("a", step)})

    process = live(world)

    assert process.decision == Decision(stopped=True)  # type: ignore[attr-defined]
    assert {cluster for cluster, _ in world.done} == {"a"}
    assert world.done[-1] == ("a", step)


def test_rollout_resumes_at_the_failed_step() -> None:
    world = World(failing={("a", STACKS)})
    live(world)
    taken = len(world.done)
    world.failing.clear()

    live(world)

    assert world.done[taken] == ("a", STACKS)
    assert world.done.count(("a", DEPLOY)) == 1
    check_order([step for step in world.done[:taken] if step != ("a", STACKS)] + world.done[taken:])
    assert len(passed(world)) == len(ORDER) * len(STEPS)


def test_stop_request_waits_only_for_running_steps() -> None:
    world = World()
    process = Process(world, seed=0)
    process.append(Entry(kind=Kind.STARTED))
    waited = process.wait

    def wait() -> tuple[Task, drive_module.Result]:
        process.stop = True
        return waited()

    process.wait = wait  # type: ignore[method-assign]

    decision = drive(PLAN, process, process, at_once=2, now=lambda: "")

    assert decision == Decision()
    assert world.done == [("a", DEPLOY)]
