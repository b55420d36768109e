"""Running a protocol: each reply goes back to the effect before it."""

from typing import Any

import pytest

from ultracluster_runtime.purchasing.effects import Effect, Now, Sleep, Steps, perform_all


def countdown(number: int) -> Steps[list[Any]]:
    replies: list[Any] = []
    for seconds in range(number):
        reply = yield Sleep(seconds)
        replies += [reply]
    return replies


def test_replies_are_sent_to_the_effects_in_order() -> None:
    performed: list[Effect] = []

    def perform(effect: Effect) -> int:
        performed.append(effect)
        return len(performed)

    assert perform_all(countdown(3), perform) == [1, 2, 3]
    assert performed == [Sleep(0), Sleep(1), Sleep(2)]


def test_protocol_without_effects_only_returns() -> None:
    assert perform_all(countdown(0), lambda _: pytest.fail("nothing to perform")) == []


def test_error_of_an_effect_ends_the_run() -> None:
    def steps() -> Steps[None]:
        yield Now()
        pytest.fail("continued after an error")

    with pytest.raises(ZeroDivisionError):
        perform_all(steps(), lambda _: 1 // 0)
