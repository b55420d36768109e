"""Jobs, their definitions and queues."""

from typing import Any

import pytest
from tests.services.batch.training_queue import NODES, SIZE, shown, training_queue

from ultracluster_local import LocalAws
from ultracluster_local.services.batch.jobs import set_job_status

pytestmark = pytest.mark.slow


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    client = training_queue(local_aws)
    client.register_job_definition(jobDefinitionName="plain", type="container", containerProperties=SIZE)
    return client


def test_submitted_job_waits_and_nothing_runs(batch: Any) -> None:
    job = batch.submit_job(jobName="one", jobQueue="training", jobDefinition="job")["jobId"]
    (found,) = batch.describe_jobs(jobs=[job])["jobs"]
    assert found["status"] == "RUNNABLE"
    assert found["nodeProperties"] == shown(NODES)
    assert batch.list_jobs(jobQueue="training")["jobSummaryList"] == []
    runnable = batch.list_jobs(jobQueue="training", jobStatus="RUNNABLE")["jobSummaryList"]
    assert [one["jobId"] for one in runnable] == [job]


def test_a_job_that_is_not_there_is_ended_like_others(batch: Any) -> None:
    one, two = (
        batch.submit_job(jobName=name, jobQueue="training", jobDefinition="job")["jobId"] for name in "ab"
    )
    assert batch.cancel_jobs(jobs=[one, "none"], reason="x")["successful"] == [one, "none"]
    assert batch.terminate_jobs(jobs=[two, "none"], reason="y")["errors"] == []
    batch.terminate_job(jobId="Whatever-string", reason="CLI")  # aws/aws-cli#2551
    found = {job["jobId"]: job["statusReason"] for job in batch.describe_jobs(jobs=[one, two])["jobs"]}
    assert found == {one: "x", two: "y"}


def test_a_job_of_which_little_is_said_is_described_as_aws_does(batch: Any) -> None:
    array = batch.submit_job(
        jobName="one", jobQueue="training", jobDefinition="plain", arrayProperties={"size": 2}
    )["jobId"]

    (child,) = batch.describe_jobs(jobs=[f"{array}:1"])["jobs"]
    assert child["arrayProperties"] == {"statusSummary": {}, "index": 1}
    assert (child["attempts"], child["eksAttempts"], child["platformCapabilities"]) == ([], [], [])
    assert child.keys().isdisjoint({"retryStrategy", "propagateTags"})


def test_job_can_be_moved_terminated_and_cancelled(batch: Any) -> None:
    running, waiting = (
        batch.submit_job(jobName=name, jobQueue="training", jobDefinition="job:1")["jobId"] for name in "ab"
    )
    set_job_status(region="us-east-1", job_id=running, status="RUNNING")
    assert [one["jobId"] for one in batch.list_jobs(jobQueue="training")["jobSummaryList"]] == [running]
    batch.cancel_job(jobId=running, reason="too late")  # as on Batch, a running job is not cancelled
    batch.terminate_job(jobId=running, reason="the block ends")
    batch.cancel_job(jobId=waiting, reason="not wanted")
    found = {
        one["jobId"]: (one["status"], one["statusReason"])
        for one in batch.describe_jobs(jobs=[running, waiting])["jobs"]
    }
    assert found == {running: ("FAILED", "the block ends"), waiting: ("FAILED", "not wanted")}
