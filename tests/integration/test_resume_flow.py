"""The local AWS fails the jobs that wait for a drained one, and `JobResume` submits both again in their order."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.fake_clients import FakeClients

from ultracluster_catalog.names.submission_tags import RESUME_OF_TAG, RESUME_TAG
from ultracluster_local import LocalAws
from ultracluster_local.services.batch.jobs import set_job_status
from ultracluster_runtime.lifecycle.plan import DRAIN_REASON
from ultracluster_runtime.resume.sweep import ResumedQueues, sweep

pytestmark = pytest.mark.slow

REGION = "us-east-1"
CONTAINER = {"image": "training", "vcpus": 1, "memory": 64, "command": ["python", "train.py"]}


@pytest.fixture
def aws(local_aws: LocalAws) -> LocalAws:
    return local_aws


@pytest.fixture
def queue(aws: LocalAws) -> str:
    batch = aws.client("batch", REGION)
    batch.create_compute_environment(computeEnvironmentName="nodes", type="UNMANAGED", unmanagedvCpus=8)
    batch.register_job_definition(
        jobDefinitionName="training", type="container", containerProperties=CONTAINER
    )
    order = [{"order": 1, "computeEnvironment": "nodes"}]
    response = batch.create_job_queue(jobQueueName="training", priority=1, computeEnvironmentOrder=order)
    aws.client("dynamodb", REGION).create_table(
        TableName="endings",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return str(response["jobQueueArn"])


def run(aws: LocalAws, queue: str) -> None:
    clients = FakeClients(lambda service, _: aws.client(service, REGION))
    sweep(
        ResumedQueues(job_queues=(queue,), table="endings"),
        clients,
        datetime.now(UTC),
        owner=str(datetime.now(UTC)),
    )


def continued(aws: LocalAws, job_id: str) -> dict[str, Any]:
    """Return the job that continues `job_id`."""
    batch = aws.client("batch", REGION)
    found = [
        job["jobId"]
        for status in ("RUNNABLE", "PENDING", "FAILED")
        for job in batch.list_jobs(jobQueue="training", jobStatus=status)["jobSummaryList"]
    ]
    jobs = batch.describe_jobs(jobs=found)["jobs"]
    (job,) = [one for one in jobs if one["tags"].get(RESUME_OF_TAG) == job_id]
    return dict(job)


def test_jobs_that_wait_for_a_drained_job_go_on_after_the_new_one(aws: LocalAws, queue: str) -> None:
    batch = aws.client("batch", REGION)

    def submit(name: str, *after: str, **settings: Any) -> str:
        response = batch.submit_job(
            jobName=name,
            jobQueue=queue,
            jobDefinition="training",
            dependsOn=[{"jobId": one} for one in after],
            **settings,
        )
        return str(response["jobId"])

    train = submit("train", tags={RESUME_TAG: "1"})
    evaluate = submit("evaluate", train)
    sweep_of_seeds = submit("seeds", evaluate, arrayProperties={"size": 3})
    set_job_status(region=REGION, job_id=train, status="FAILED", reason=f"{DRAIN_REASON} cr-1 ends")
    jobs = batch.describe_jobs(jobs=[evaluate, sweep_of_seeds])["jobs"]
    assert [job["status"] for job in jobs] == ["FAILED", "FAILED"]  # AWS Batch itself has no chain
    for _ in range(4):
        run(aws, queue)
    first, second, third = (continued(aws, job_id) for job_id in (train, evaluate, sweep_of_seeds))
    assert (first["status"], second["status"], third["status"]) == ("RUNNABLE", "PENDING", "PENDING")
    assert [one["jobId"] for one in second["dependsOn"]] == [first["jobId"]]
    assert [one["jobId"] for one in third["dependsOn"]] == [second["jobId"]]
    assert third["arrayProperties"]["size"] == 3
    set_job_status(region=REGION, job_id=first["jobId"], status="SUCCEEDED")
    assert batch.describe_jobs(jobs=[second["jobId"]])["jobs"][0]["status"] == "RUNNABLE"


def test_jobs_that_wait_for_a_failed_program_stay_failed(aws: LocalAws, queue: str) -> None:
    batch = aws.client("batch", REGION)
    settings = {"jobQueue": queue, "jobDefinition": "training"}
    train = batch.submit_job(jobName="train", tags={RESUME_TAG: "1"}, **settings)["jobId"]
    batch.submit_job(jobName="evaluate", dependsOn=[{"jobId": train}], **settings)
    set_job_status(region=REGION, job_id=train, status="FAILED", reason="Essential container in task exited")
    for _ in range(2):
        run(aws, queue)
    failed = batch.list_jobs(jobQueue="training", jobStatus="FAILED")["jobSummaryList"]
    assert sorted(job["jobName"] for job in failed) == ["evaluate", "train"]
    for status in ("RUNNABLE", "PENDING"):
        assert batch.list_jobs(jobQueue="training", jobStatus=status)["jobSummaryList"] == []
