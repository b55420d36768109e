"""Shares and priorities of jobs on the local AWS Batch, which refuses them in AWS's words."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.local.services.batch.training_queue import SIZE

from ultracluster_local import LocalAws

pytestmark = pytest.mark.deploy


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    client = local_aws.client("batch", "us-east-2")
    client.create_compute_environment(computeEnvironmentName="nodes", type="UNMANAGED")
    order = [{"order": 1, "computeEnvironment": "nodes"}]
    policy = client.create_scheduling_policy(name="shares", fairsharePolicy={"shareDecaySeconds": 3600})[
        "arn"
    ]
    client.create_job_queue(
        jobQueueName="shared", priority=1, schedulingPolicyArn=policy, computeEnvironmentOrder=order
    )
    client.create_job_queue(jobQueueName="fifo", priority=1, computeEnvironmentOrder=order)
    for name, more in (("plain", {}), ("ranked", {"schedulingPriority": 1})):
        client.register_job_definition(
            jobDefinitionName=name, type="container", containerProperties=SIZE, **more
        )
    return client


@pytest.mark.parametrize(
    ("queue", "definition", "options"),
    [
        ("shared", "plain", {"shareIdentifier": "default", "schedulingPriorityOverride": 0}),
        ("shared", "ranked", {"shareIdentifier": "default"}),
        ("fifo", "plain", {}),
    ],
)
def test_takes_a_job_with_what_its_queue_needs(
    batch: Any, queue: str, definition: str, options: dict[str, Any]
) -> None:
    assert batch.submit_job(jobName="job", jobQueue=queue, jobDefinition=definition, **options)["jobId"]


@pytest.mark.parametrize(
    ("queue", "definition", "options", "words"),
    [
        # nextflow-io/nextflow#3505
        ("shared", "plain", {"shareIdentifier": "default"}, "Either schedulingPriority in job definition or"),
        # volcengine.com/article/1154372
        ("fifo", "ranked", {}, "can only be submitted to job queue with fair share scheduling policy"),
        ("fifo", "plain", {"shareIdentifier": "a"}, "can only be submitted to job queue with fair share"),
    ],
)
def test_refuses_a_job_as_aws_does(
    batch: Any, queue: str, definition: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ClientError, match=words):
        batch.submit_job(jobName="job", jobQueue=queue, jobDefinition=definition, **options)
