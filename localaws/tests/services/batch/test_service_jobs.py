"""Service jobs: queued, listed, described, moved and ended."""

from typing import Any

import pytest
from tests.refusals import refusal
from tests.services.batch.training_queue import training_queue

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    client = training_queue(local_aws)
    client.create_service_environment(
        serviceEnvironmentName="sagemaker",
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=[{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 4}],
    )
    client.create_job_queue(
        jobQueueName="service",
        priority=1,
        jobQueueType="SAGEMAKER_TRAINING",
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "sagemaker"}],
    )
    return client


def job(**more: Any) -> dict[str, Any]:
    usual = {"jobQueue": "service", "serviceJobType": "SAGEMAKER_TRAINING", "serviceRequestPayload": "{}"}
    return {"jobName": "One", **usual, **more}


def test_a_job_waits_is_listed_and_is_ended(batch: Any) -> None:
    made = batch.submit_service_job(**job(retryStrategy={"attempts": 10}))
    assert made["jobArn"].endswith(f":service-job/{made['jobId']}")

    def listed(**asked: Any) -> list[str]:
        found = batch.list_service_jobs(jobQueue="service", **asked)["jobSummaryList"]
        return [one["jobId"] for one in found]

    by_name = [{"name": "JOB_NAME", "values": ["o*"]}]
    assert (listed(), listed(jobStatus="RUNNABLE"), listed(filters=by_name)) == (
        [],
        [made["jobId"]],
        [made["jobId"]],
    )
    front = batch.get_job_queue_snapshot(jobQueue="service")["frontOfQueue"]["jobs"]
    assert [one["jobArn"] for one in front] == [made["jobArn"]]

    batch.update_service_job(jobId=made["jobId"], schedulingPriority=7)
    batch.terminate_service_job(jobId=made["jobId"], reason="enough")
    batch.terminate_service_jobs(jobs=["none"], reason="enough")
    shown = batch.describe_service_job(jobId=made["jobId"])
    assert (shown["status"], shown["statusReason"], shown["isTerminated"]) == ("FAILED", "enough", True)
    assert (shown["schedulingPriority"], shown["retryStrategy"]["attempts"]) == (7, 10)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"jobQueue": "training"}, "must have the type SAGEMAKER_TRAINING"),
        ({"retryStrategy": {"attempts": 11}}, "RetryAttempts must be between 1 and 10"),
        ({"shareIdentifier": "a"}, "shareIdentifier can't be specified"),
        ({"quotaShareName": "a"}, "quotaShareName can't be specified"),
        ({"schedulingPriority": 10_000}, "Scheduling priority must be between 0 and 9999."),
    ],
)
def test_a_wrong_job_is_refused(batch: Any, more: dict[str, Any], words: str) -> None:
    assert words in refusal(batch.submit_service_job, **job(**more))[1]


def test_a_queue_takes_jobs_of_its_kind(batch: Any) -> None:
    words = refusal(batch.submit_job, jobName="x", jobQueue="service", jobDefinition="job")[1]

    assert "takes service jobs only" in words
