"""A step of a rollout runs in a thread, and its errors are its result."""

import threading

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
