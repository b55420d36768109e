"""Stopping jobs."""

from datetime import timedelta

import pytest
from tests.unit.runtime.jobs.stubbed_aws import (
    NOW,
    Clock,
    StubbedAws,
    end,
    expect_end,
    expect_job,
    expect_nodes,
    expect_order,
)


def test_a_running_job_is_told_gets_its_time_and_is_ended(aws: StubbedAws) -> None:
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


def test_a_job_that_ends_by_itself_is_not_ended_again(aws: StubbedAws) -> None:
    expect_job(aws, "RUNNING")
    expect_nodes(aws, 2)
    expect_order(aws, 2, "2026-12-01T12:05:00Z")
    expect_job(aws, "SUCCEEDED")

    assert not end(aws, Clock(), 300).terminated


@pytest.mark.parametrize(("status", "seconds"), [("RUNNING", 0), ("RUNNABLE", 300), ("STARTING", 300)])
def test_a_job_without_processes_or_time_is_ended_at_once(aws: StubbedAws, status: str, seconds: int) -> None:
    clock = Clock()
    expect_job(aws, status)
    expect_end(aws)

    ended = end(aws, clock, seconds)

    assert ended.terminated
    assert ended.problem is None  # nobody had to be told
    assert clock.now == NOW


@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED"])
def test_a_job_that_has_ended_is_left_alone(aws: StubbedAws, status: str) -> None:
    expect_job(aws, status)

    assert not end(aws, Clock(), 300).terminated


def test_a_job_whose_nodes_cannot_be_told_is_ended_without_waiting_and_that_is_said(aws: StubbedAws) -> None:
    clock = Clock()
    expect_job(aws, "RUNNING")
    expect_nodes(aws, 2)
    aws.refuse("ssm", "send_command", "InvalidInstanceId")
    expect_end(aws)

    ended = end(aws, clock, 300)

    assert ended.terminated
    assert "InvalidInstanceId" in str(ended.problem)
    assert clock.now == NOW


def test_a_node_that_aws_does_not_show_is_said(aws: StubbedAws) -> None:
    expect_job(aws, "RUNNING")
    expect_nodes(aws, 1)
    expect_order(aws, 1, "2026-12-01T12:00:10Z")
    expect_job(aws, "RUNNING")
    expect_end(aws)

    assert end(aws, Clock(), 10).problem == "AWS reports 1 of its 2 nodes"
