"""A step of a rollout runs in a thread, and its errors are its result."""

import threading
from queue import SimpleQueue
from typing import Any

import pytest
from tests.unit.cli.rollout.gate_step import GATE

from ultracluster_cli.rollout.step_runner import ThreadedExecutor
from ultracluster_runtime.rollout.decide import Task
from ultracluster_runtime.rollout.drive import Result

pytestmark = pytest.mark.slow


def test_aws_errors_fail_a_step_and_internal_errors_are_raised() -> None:
    def hands(error: Exception) -> ThreadedExecutor:
        def take(_: Task) -> Result:
            raise error

        one = ThreadedExecutor(take=take, report=lambda *_: None, stopping=threading.Event())
        one.begin(GATE)
        return one

    assert hands(OSError("no route")).wait() == (GATE, Result(passed=False, note="no route"))
    with pytest.raises(ZeroDivisionError):
        hands(ZeroDivisionError()).wait()


def test_the_first_ctrl_c_lets_steps_end_and_says_so_and_the_second_ends_the_rollout(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Ended(SimpleQueue[Any]):
        """The ends of steps, between which a person presses Ctrl-C."""

        presses = 1

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            if self.presses:
                self.presses -= 1
                raise KeyboardInterrupt
            return super().get(block, timeout)

    ended = Ended()
    passed = Result(passed=True, note="")
    steps = ThreadedExecutor(
        take=lambda _: passed, report=lambda *_: None, stopping=threading.Event(), _ended=ended
    )
    steps.begin(GATE)

    assert steps.wait() == (GATE, passed)
    assert steps.stop_requested()
    assert capsys.readouterr().err.startswith(
        "Stopping after the current steps. Press Ctrl-C again to exit now;"
    )
    ended.presses = 1
    with pytest.raises(KeyboardInterrupt):
        steps.wait()
