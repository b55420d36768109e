import pytest
from tests.unit.runtime.array_rendezvous.simulation import KINDS, run

SEEDS = [168, pytest.param(1008, marks=pytest.mark.deep)]
"""Multiples of the kinds of lives."""


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("kind", range(KINDS))
def test_no_schedule_makes_two_leaders_a_mixed_array_or_a_silent_hang(kind: int, seeds: int) -> None:
    for seed in range(kind, seeds, KINDS):
        run(seed)


def test_children_of_a_calm_job_start_with_one_roster_and_succeed() -> None:
    life = run(0)
    started = {(one.job, one.generation, one.addresses) for one in life.processes}
    assert len(started) == len({one.job for one in life.processes})
    assert {one.outcome.reason for one in life.processes} == {"all children succeeded"}


def test_a_missing_child_is_named_to_all_and_to_itself() -> None:
    life = run(2)
    (reason,) = {one.outcome.reason for one in life.processes}
    assert reason.startswith("not all children came within 1200 s: ")
    assert reason.endswith("missing")


def test_a_lost_child_ends_its_generation_and_the_next_one_succeeds() -> None:
    life = run(25)
    assert any("gave no sign of life" in one.outcome.reason for one in life.processes if one.outcome)
    assert max(one.generation for one in life.processes if one.generation) == 2
