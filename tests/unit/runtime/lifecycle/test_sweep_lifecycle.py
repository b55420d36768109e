"""Jobs are told before they die, no paid minute is closed, nothing of others is touched: in every life that we can think of."""

from collections.abc import Callable

import pytest
from tests.unit.runtime.lifecycle.lifecycle_bugs import BUGS, Bug, live_with
from tests.unit.runtime.lifecycle.lifecycle_scenarios import ALL_LIVES
from tests.unit.runtime.lifecycle.lifecycle_simulation import Live, Violation

pytestmark = pytest.mark.sweep


@pytest.mark.parametrize("lives", ALL_LIVES, ids=lambda lives: lives.__name__)
def test_the_life_cycle_holds_its_promises(lives: Callable[[Live | None], object]) -> None:
    lives(None)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_the_lives_find_a_bug(bug: Bug) -> None:
    with live_with(bug) as live, pytest.raises((Violation, ConnectionError, PermissionError)):
        _live_all(live, first=bug.resolved_from)


def _live_all(live: Live, *, first: str) -> None:
    for lives in sorted(ALL_LIVES, key=lambda lives: lives.__name__ != first):
        lives(live)
