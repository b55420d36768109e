"""Jobs get checkpoint requests, paid time stays usable, and other jobs stay untouched, in every scenario."""

from collections.abc import Callable

import pytest
from tests.unit.runtime.lifecycle.lifecycle_scenarios import ALL_SCENARIOS, with_sweeps

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("scenario", with_sweeps(ALL_SCENARIOS))
def test_life_cycle_violates_nothing(scenario: Callable[[], object]) -> None:
    scenario()
