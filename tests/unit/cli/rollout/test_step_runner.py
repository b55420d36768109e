"""Steps of a rollout run in threads; those that wait for a job, against a fake of AWS Batch."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from tests.fake_clients import FakeClients
from tests.unit.cli.rollout.plans import planned_cluster, planned_stack, rollout_plan

from ultracluster_cli._aws.target import Target, single_target
from ultracluster_cli._cdk.toolchain import Project, Toolchain
from ultracluster_cli.jobs.submit import Submitted
from ultracluster_cli.rollout import stack_status
from ultracluster_cli.rollout import step_runner as rollout_steps
from ultracluster_cli.rollout.stack_status import StackStatus
from ultracluster_cli.rollout.step_runner import Steps, ThreadedExecutor
from ultracluster_runtime.rollout.decide import Task
from ultracluster_runtime.rollout.drive import Result
from ultracluster_runtime.rollout.plan import ALARMS, DEPLOY

pytestmark = pytest.mark.slow

GATE = Task(cluster="a-us-east-2", step="job:train-fabric", interrupted=False, attempt=1)


class Batch:
    def __init__(self, *states: str) -> None:
        self.states = list(states)
        self.names: list[str] = []
        self.submissions = 0

    def get_paginator(self, operation: str) -> "Batch":
        assert operation == "list_jobs"
        return self

    def paginate(self, *, jobQueue: str, filters: list[dict[str, Any]]) -> list[Any]:  # noqa: N803 - as boto3 has it
        assert jobQueue == "queue"
        (wanted,) = filters[0]["values"]
        state = self.states[-1]
        return [
            {"jobSummaryList": [{"jobId": name, "status": state} for name in self.names if name == wanted]}
        ]

    def describe_jobs(self, *, jobs: list[str]) -> dict[str, Any]:
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return {"jobs": [{"jobId": jobs[0], "status": state, "statusReason": "a node is slow"}]}

    def submit(self, *_: Any, name: str, **__: Any) -> list[Submitted]:
        self.submissions += 1
        self.names.append(name)
        return [Submitted(job_id=name, arn=None, name=name, resumes=0)]


def steps(tmp_path: Path, batch: Any, *, patience_minutes: float = 1) -> Steps:
    cluster = planned_cluster(
        "a-us-east-2",
        stacks=(planned_stack("a-us-east-2-Cluster"),),
        steps=(DEPLOY, "job:train-fabric", ALARMS),
    )
    return Steps(
        plan=rollout_plan(cluster),
        run_id="run",
        rollouts=tmp_path,
        accounts={},
        skip=(),
        targets=single_target(
            Target(
                name="local",
                local=True,
                environment={},
                client=FakeClients(lambda service, _: {"batch": batch}[service]),
            )
        ),
        project=Project(
            directory=tmp_path,
            temporary=tmp_path,
            toolchain=Toolchain(cdk=Path("cdk"), path=""),
        ),
        patience_minutes=patience_minutes,
        poll_seconds=0.001,
        stopping=threading.Event(),
        show=lambda *_: None,
        hold=lambda _: None,
    )


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Callable[[Batch], None]:
    class Queue:
        arn = "queue"

    def install(batch: Batch) -> None:
        monkeypatch.setattr(rollout_steps, "find_queue", lambda *_, **__: Queue)
        monkeypatch.setattr(rollout_steps, "find_definition", lambda *_, **__: {})
        monkeypatch.setattr(rollout_steps, "submit_all", batch.submit)

    return install


def test_a_gate_submits_its_job_and_waits_until_it_has_succeeded(
    tmp_path: Path, gate: Callable[[Batch], None]
) -> None:
    batch = Batch("RUNNABLE", "RUNNING", "SUCCEEDED")
    gate(batch)

    assert steps(tmp_path, batch).take(GATE).passed is True
    assert batch.names == ["train-fabric-run-1"]


@pytest.mark.parametrize(
    ("state", "attempt", "names"),
    [
        ("SUCCEEDED", 1, ["train-fabric-run-1"]),
        ("FAILED", 1, ["train-fabric-run-1"]),  # the attempt that submitted it has not seen that
        ("SUCCEEDED", 2, ["train-fabric-run-1"]),
        ("RUNNABLE", 3, ["train-fabric-run-1"]),
        ("FAILED", 2, ["train-fabric-run-1", "train-fabric-run-2"]),
    ],
)
def test_a_job_that_has_not_failed_is_not_submitted_again(
    tmp_path: Path, gate: Callable[[Batch], None], state: str, attempt: int, names: list[str]
) -> None:
    batch = Batch(state)
    gate(batch)
    batch.names.append("train-fabric-run-1")

    result = steps(tmp_path, batch, patience_minutes=0).take(replace(GATE, attempt=attempt))

    assert result.passed is (state == "SUCCEEDED")
    assert batch.names == names


def test_a_job_that_fails_or_does_not_end_does_not_pass(
    tmp_path: Path, gate: Callable[[Batch], None]
) -> None:
    failed, waiting = Batch("RUNNING", "FAILED"), Batch("RUNNABLE")
    gate(failed)
    assert steps(tmp_path, failed).take(GATE) == Result(
        passed=False, note="job train-fabric-run-1 failed: a node is slow"
    )
    gate(waiting)
    late = steps(tmp_path, waiting, patience_minutes=0).take(GATE)

    assert late.passed is False
    assert "still RUNNABLE after 0 minutes" in late.note


def test_cancelling_ends_a_waiting_gate_with_an_unknown_result(
    tmp_path: Path, gate: Callable[[Batch], None]
) -> None:
    batch = Batch("RUNNING")
    gate(batch)
    waiting = steps(tmp_path, batch)
    waiting.stopping.set()

    assert waiting.take(GATE).passed is None


class Waits(threading.Event):
    """Waits that take no time and move a clock."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds += timeout or 0
        return False


@pytest.mark.parametrize("step", [GATE, replace(GATE, step=DEPLOY, interrupted=True)], ids=["job", "deploy"])
def test_a_step_is_patient_for_as_many_minutes_as_asked(
    tmp_path: Path, gate: Callable[[Batch], None], monkeypatch: pytest.MonkeyPatch, step: Task
) -> None:
    waits, batch = Waits(), Batch("RUNNING")
    gate(batch)
    monkeypatch.setattr(rollout_steps.time, "monotonic", lambda: waits.seconds)
    changing = StackStatus(
        planned=steps(tmp_path, batch).plan.clusters[0].stacks[0], status="UPDATE_IN_PROGRESS", digest=None
    )
    monkeypatch.setattr(stack_status, "describe_stacks", lambda *_, **__: [changing])

    assert replace(steps(tmp_path, batch), stopping=waits, poll_seconds=20.0).take(step).passed is False
    assert waits.seconds == 60


def test_a_cluster_without_alarms_passes_their_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_status, "alarms_of", lambda *_, **__: iter(()))

    assert steps(tmp_path, Batch("")).take(replace(GATE, step=ALARMS)) == Result(
        passed=True, note="the stacks define no alarms"
    )


@pytest.mark.parametrize(("minutes", "during"), [(0, ""), (0.002, " in 0.002 min")])
def test_quiet_alarms_are_said_with_a_time_only_if_it_was_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minutes: float, during: str
) -> None:
    monkeypatch.setattr(stack_status, "alarms_of", lambda *_, **__: iter(("a", "b")))
    monkeypatch.setattr(stack_status, "firing_alarms", lambda *_: iter(()))
    quick = steps(tmp_path, Batch(""))
    quick = replace(
        quick,
        targets=single_target(replace(quick.targets.of("a-us-east-2"), client=FakeClients(lambda *_: None))),
    )
    baking = replace(quick, plan=replace(quick.plan, bake_minutes=minutes))

    assert baking.take(replace(GATE, step=ALARMS)).note == f"none of 2 alarms fired{during}"


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
