"""Metrics of a watched cluster, from observations."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.runtime.watch.watched_cluster import HOUR, MINUTE, NOW, block, observations, steps

from ultracluster_runtime.watch.metrics import (
    Step,
    WaitingJob,
    compute_metrics,
)


def metrics(**changes: Any) -> Mapping[str, float]:
    return compute_metrics(observations(**changes))


def test_paid_nodes_are_those_of_active_reservations_used_or_not() -> None:
    two = ((block(), 3), (block(instances=2), 0), (block(state="scheduled", instances=8), 0))
    got = metrics(reservations=two)
    assert (got["PaidNodes"], got["UnusedNodes"]) == (6, 3)
    assert metrics(reservations=())["PaidNodes"] == 0


def test_a_node_must_report_once_it_had_the_time_to_boot() -> None:
    booted = NOW - timedelta(minutes=10)
    young = booted + timedelta(seconds=1)
    assert metrics(launched=(young, booted, NOW - HOUR))["RunningNodes"] == 2


def test_a_job_waits_from_when_it_could_run() -> None:
    early = (WaitingJob(since=NOW - 10 * HOUR, reason=""), WaitingJob(since=NOW - MINUTE, reason=""))
    assert metrics(waiting=early)["WaitSeconds"] == 3600  # the block began an hour ago
    assert metrics(waiting=early, without_reservation=True)["WaitSeconds"] == 36_000
    assert metrics(waiting=early, reservations=((block(start=None, end=None), 4),))["WaitSeconds"] == 36_000
    assert metrics(waiting=early[1:])["WaitSeconds"] == 60
    assert metrics()["WaitSeconds"] == 0


def test_jobs_that_wait_for_a_block_are_neither_late_nor_blocked() -> None:
    waiting = (WaitingJob(since=NOW - 10 * HOUR, reason="CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - no"),)
    to_come = metrics(waiting=waiting, reservations=((block(state="scheduled"), 0),))
    assert (to_come["WaitSeconds"], to_come["BlockedJobs"], to_come["RunnableJobs"]) == (0, 0, 1)
    assert metrics(waiting=waiting)["BlockedJobs"] == 1
    assert metrics(waiting=(WaitingJob(since=NOW, reason="Job is waiting"),))["BlockedJobs"] == 0


def test_counts_down_to_the_first_drain() -> None:
    blocks = ((block(), 4), (block(end=NOW + 2 * HOUR), 4), (block(is_block=False), 1))
    assert metrics(reservations=blocks)["SecondsToDrain"] == (120 - 40) * 60
    assert metrics(reservations=((block(end=NOW + MINUTE), 4),))["SecondsToDrain"] == 0
    assert "SecondsToDrain" not in metrics(reservations=((block(state="expired"), 0),))


def test_lateness_is_the_time_since_the_last_step_in_medians_and_not_below_five_minutes() -> None:
    assert metrics(steps=steps(last=NOW - 6 * MINUTE))["StepLateness"] == 10
    assert metrics(steps=steps(last=NOW - 5 * MINUTE))["StepLateness"] == 0
    assert metrics(steps=steps(last=NOW - 21 * MINUTE, seconds=600))["StepLateness"] == 2
    slow_once = (*steps(last=NOW - 6 * MINUTE), Step(at=NOW - HOUR, seconds=9000))
    assert metrics(steps=slow_once)["StepLateness"] == 10


def test_job_without_steps_is_not_late() -> None:
    assert "StepLateness" not in metrics()
    assert "StepLateness" not in metrics(running=(), steps=steps(last=NOW - HOUR))
    compiles = compute_metrics(
        observations(running=(NOW - 10 * MINUTE,), steps=steps(last=NOW - 20 * MINUTE))
    )
    assert "StepLateness" not in compiles


@pytest.mark.parametrize(
    ("reason", "in_a_block", "before_it"),
    [
        ("ACTION_REQUIRED - CE(s) associated with the job queue are invalid.", 1, 1),
        ("UNDETERMINED - Batch job is blocked, root cause is undetermined.", 1, 0),
        ("MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - too large", 1, 0),
        ("", 0, 0),
        ("the job was UNDETERMINED yesterday", 0, 0),
    ],
)
def test_every_reason_of_aws_batch_blocks_and_an_invalid_environment_also_before_a_block(
    reason: str, in_a_block: int, before_it: int
) -> None:
    waiting = (WaitingJob(since=NOW, reason=reason),)
    assert metrics(waiting=waiting)["BlockedJobs"] == in_a_block
    scheduled = ((block(state="scheduled"), 0),)
    assert metrics(waiting=waiting, reservations=scheduled)["BlockedJobs"] == before_it


def test_refused_nodes_and_invalid_environments_are_counted() -> None:
    none = metrics()
    assert (none["NodesRefused"], none["InvalidEnvironments"]) == (0, 0)
    some = metrics(refused=(NOW, NOW), invalid_environments=1)
    assert (some["NodesRefused"], some["InvalidEnvironments"]) == (2, 1)
