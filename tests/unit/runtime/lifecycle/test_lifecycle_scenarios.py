"""Jobs get checkpoint requests, paid time stays usable, and other jobs stay untouched, in every scenario."""

from collections.abc import Callable

import pytest
from tests.unit.runtime.lifecycle.lifecycle_bugs import BUGS, Bug, cycle_with_bug
from tests.unit.runtime.lifecycle.lifecycle_scenarios import ALL_SCENARIOS
from tests.unit.runtime.lifecycle.lifecycle_simulation import RunCycle, Violation

pytestmark = pytest.mark.sweep


@pytest.mark.parametrize("scenario", ALL_SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_life_cycle_violates_nothing(scenario: Callable[[RunCycle | None], object]) -> None:
    scenario(None)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_scenarios_detect_the_bug(bug: Bug) -> None:
    with cycle_with_bug(bug) as run_cycle, pytest.raises((Violation, ConnectionError, PermissionError)):
        _run_all(run_cycle, first=bug.found_by)


def _run_all(run_cycle: RunCycle, *, first: str) -> None:
    for scenario in sorted(ALL_SCENARIOS, key=lambda scenario: scenario.__name__ != first):
        scenario(run_cycle)
