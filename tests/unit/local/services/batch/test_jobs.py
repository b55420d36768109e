"""Jobs, their definitions and queues."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.local.services.batch.training_queue import NODES, training_queue

from ultracluster_local import LocalAws
from ultracluster_local.services.batch.jobs import set_job_status

pytestmark = pytest.mark.deploy


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    return training_queue(local_aws)


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_submitted_job_waits_and_nothing_runs(batch: Any) -> None:
    job = batch.submit_job(jobName="one", jobQueue="training", jobDefinition="job")["jobId"]
    (found,) = batch.describe_jobs(jobs=[job])["jobs"]
    assert found["status"] == "RUNNABLE"
    assert found["nodeProperties"] == NODES
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


def test_closed_queue_takes_no_job(batch: Any) -> None:
    batch.update_job_queue(jobQueue="training", state="DISABLED")
    with pytest.raises(ClientError, match="not enabled"):
        batch.submit_job(jobName="one", jobQueue="training", jobDefinition="job")


def test_each_registration_is_a_revision_and_the_newest_active_one_is_used(batch: Any) -> None:
    second = batch.register_job_definition(jobDefinitionName="job", type="multinode", nodeProperties=NODES)
    assert second["revision"] == 2
    batch.deregister_job_definition(jobDefinition=second["jobDefinitionArn"])
    job = batch.submit_job(jobName="one", jobQueue="training", jobDefinition="job")["jobId"]
    assert batch.describe_jobs(jobs=[job])["jobs"][0]["jobDefinition"].endswith("job-definition/job:1")
    states = {one["revision"]: one["status"] for one in batch.describe_job_definitions()["jobDefinitions"]}
    assert states == {1: "ACTIVE", 2: "INACTIVE"}


@pytest.mark.parametrize("main", [-1, 4])
def test_main_node_must_be_one_of_the_nodes(batch: Any, main: int) -> None:
    with pytest.raises(ClientError, match="mainNode"):
        batch.register_job_definition(
            jobDefinitionName="x", type="multinode", nodeProperties={**NODES, "mainNode": main}
        )
