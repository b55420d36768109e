"""The clock of this machine is compared with AWS's."""

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.runtime.purchasing.protocol_player import play
from tests.unit.runtime.purchasing.simulation import START

from ultracluster_runtime.purchasing.clock import check_clock
from ultracluster_runtime.purchasing.effects import Effect, Now, ReadFailed


def _checked(clock: Any) -> Any:
    def answer(effect: Effect) -> Any:
        return START if isinstance(effect, Now) else clock

    return play(check_clock(), answer)[1]


@pytest.mark.parametrize("seconds", [-60, 0, 60])
def test_a_difference_of_a_minute_is_accepted(seconds: int) -> None:
    assert _checked(START + timedelta(seconds=seconds)) is None


@pytest.mark.parametrize("seconds", [-61, 61, 86_400])
def test_a_larger_difference_is_refused(seconds: int) -> None:
    assert _checked(START + timedelta(seconds=seconds)).startswith(
        "UC7030: the clock of this machine says 2026-11-20T09:00:00+00:00, AWS says "
    )


def test_a_clock_that_cannot_be_compared_is_refused() -> None:
    failed = ReadFailed(code="Denied", message="no", transient=False)
    assert _checked(failed) == "UC7035: the clock of AWS could not be read: Denied: no."
