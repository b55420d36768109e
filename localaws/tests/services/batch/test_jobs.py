"""Jobs, their definitions and queues."""

from typing import Any

import pytest
from tests.services.batch.training_queue import NODES, shown, training_queue

from ultracluster_local import LocalAws
from ultracluster_local.services.batch.jobs import set_job_status

pytestmark = pytest.mark.slow


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    return training_queue(local_aws)


def test_submitted_job_waits_and_nothing_runs(batch: Any) -> None:
    job = batch.submit_job(jobName="one", jobQueue="training", jobDefinition="job")["jobId"]
    (found,) = batch.describe_jobs(jobs=[job])["jobs"]
    assert found["status"] == "RUNNABLE"
    assert found["nodeProperties"] == shown(NODES)
    assert batch.list_jobs(jobQueue="training")["jobSummaryList"] == []
    runnable = batch.list_jobs(jobQueue="training", jobStatus="RUNNABLE")["jobSummaryList"]
    assert [one["jobId"] for one in runnable] == [job]


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
