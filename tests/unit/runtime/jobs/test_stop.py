"""Stopping jobs."""

from datetime import timedelta

import pytest
from tests.unit.runtime.jobs.stubbed_aws import (
    HOST,
    NOW,
    Clock,
    end,
    expect_end,
    expect_hosts,
    expect_job,
    expect_nodes,
    expect_order,
    node_array,
    shown,
)
from tests.unit.runtime.stubbed_clients import StubbedAws


def test_running_job_gets_a_request_and_time_before_it_is_terminated(aws: StubbedAws) -> None:
    clock = Clock()
    expect_job(aws, "RUNNING")
    expect_nodes(aws, 2)
    expect_order(aws, 2, "2026-12-01T12:00:20Z")
    expect_job(aws, "RUNNING")
    expect_job(aws, "RUNNING")
    expect_end(aws)

    ended = end(aws, clock, 20)

    assert ended.terminated
    assert ended.notified_nodes == ("i-00000000000000000", "i-00000000000000001")
    assert ended.problem is None
    assert clock.now == NOW + timedelta(seconds=20)


def test_array_gets_its_request_on_the_nodes_of_its_children(aws: StubbedAws) -> None:
    aws.answer("batch", "describe_jobs", {"jobs": [node_array({"RUNNING": 2})]})
    children = [
        node_array({}) | {"jobId": f"one:{index}", "container": {"containerInstanceArn": f"{HOST}{index}"}}
        for index in range(2)
    ]
    aws.answer("batch", "describe_jobs", {"jobs": children}, {"jobs": ["one:0", "one:1"]})
    expect_hosts(aws, 2)
    expect_order(aws, 2, "2026-12-01T12:05:00Z")
    expect_job(aws, "SUCCEEDED")

    assert end(aws, Clock(), 300).problem is None


def test_array_of_other_jobs_gets_no_request(aws: StubbedAws) -> None:
    aws.answer("batch", "describe_jobs", {"jobs": [node_array({"RUNNING": 2}, size=None)]})
    expect_end(aws)

    assert "only a multi-node job" in (end(aws, Clock(), 300).problem or "")


def test_job_that_ends_by_itself_is_not_terminated(aws: StubbedAws) -> None:
    expect_job(aws, "RUNNING")
    expect_nodes(aws, 2)
    expect_order(aws, 2, "2026-12-01T12:05:00Z")
    expect_job(aws, "SUCCEEDED")

    assert not end(aws, Clock(), 300).terminated


@pytest.mark.parametrize(("status", "seconds"), [("RUNNING", 0), ("RUNNABLE", 300), ("STARTING", 300)])
def test_job_without_processes_or_wait_is_terminated_at_once(
    aws: StubbedAws, status: str, seconds: int
) -> None:
    clock = Clock()
    expect_job(aws, status)
    expect_end(aws)

    ended = end(aws, clock, seconds)

    assert ended.terminated
    assert ended.problem is None  # nobody had to be told
    assert clock.now == NOW


@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED"])
def test_ended_job_is_left_alone(aws: StubbedAws, status: str) -> None:
    expect_job(aws, status)

    assert not end(aws, Clock(), 300).terminated


def test_a_job_of_another_tool_is_not_asked_for_a_checkpoint_that_nothing_passes_on(aws: StubbedAws) -> None:
    ranges = [{"targetNodes": "0:", "container": {"command": ["python3", "metaflow_step.py"]}}]
    job = shown(status="RUNNING") | {
        "nodeProperties": {"numNodes": 2, "mainNode": 0, "nodeRangeProperties": ranges}
    }
    aws.answer("batch", "describe_jobs", {"jobs": [job]})
    expect_end(aws)

    ended = end(aws, Clock(), 300)

    assert ended.notified_nodes == ()
    assert "does not start with our launcher" in str(ended.problem)


def test_unreachable_nodes_are_reported_and_the_job_is_terminated_at_once(aws: StubbedAws) -> None:
    clock = Clock()
    expect_job(aws, "RUNNING")
    expect_nodes(aws, 2)
    aws.refuse("ssm", "send_command", "InvalidInstanceId")
    expect_end(aws)

    ended = end(aws, clock, 300)

    assert ended.terminated
    assert "InvalidInstanceId" in str(ended.problem)
    assert clock.now == NOW


def test_missing_nodes_are_reported(aws: StubbedAws) -> None:
    expect_job(aws, "RUNNING")
    expect_nodes(aws, 1)
    expect_order(aws, 1, "2026-12-01T12:00:10Z")
    expect_job(aws, "RUNNING")
    expect_end(aws)

    assert end(aws, Clock(), 10).problem == "AWS reports 1 of its 2 nodes"
