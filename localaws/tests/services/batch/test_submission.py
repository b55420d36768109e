"""Jobs as they are submitted: what their queue and definition allow, refused in AWS's words."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.refusals import refusal
from tests.services.batch.training_queue import NODES, SIZE, training_queue

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


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


def test_closed_queue_takes_no_job(local_aws: LocalAws) -> None:
    training = training_queue(local_aws)
    training.update_job_queue(jobQueue="training", state="DISABLED")
    with pytest.raises(ClientError, match="not enabled"):
        training.submit_job(jobName="one", jobQueue="training", jobDefinition="job")


@pytest.mark.parametrize("name", ["", "_a", "a.b", "x" * 129])
def test_a_name_of_other_characters_is_refused(batch: Any, name: str) -> None:
    given = {"jobName": name, "jobQueue": "fifo", "jobDefinition": "plain"}

    assert "Job name should match valid pattern" in refusal(batch.submit_job, **given)[1]


def test_a_payload_has_up_to_thirty_kib(batch: Any) -> None:
    command = ["x" * 30 * 1024]

    message = refusal(
        batch.submit_job,
        jobName="job",
        jobQueue="fifo",
        jobDefinition="plain",
        containerOverrides={"command": command},
    )[1]

    assert "must be less than 30 KiB" in message


def test_a_parameter_of_the_command_needs_a_value(batch: Any) -> None:
    batch.register_job_definition(
        jobDefinitionName="with",
        type="container",
        containerProperties={**SIZE, "command": ["train", "Ref::steps", "Ref::not a reference"]},
    )
    job = {"jobName": "job", "jobQueue": "fifo", "jobDefinition": "with"}

    assert refusal(batch.submit_job, **job)[1].endswith("No parameter found for reference steps")
    batch.submit_job(**job, parameters={"steps": "10"})


def test_a_definition_for_managed_instances_does_not_run_on_ec2(batch: Any) -> None:
    requirements = [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "512"}]
    container = {"image": "x", "executionRoleArn": "arn:aws:iam::123456789012:role/r"}
    batch.register_job_definition(
        jobDefinitionName="small",
        type="container",
        platformCapabilities=["MANAGED_INSTANCES"],
        containerProperties=container | {"resourceRequirements": requirements},
    )

    message = refusal(batch.submit_job, jobName="job", jobQueue="fifo", jobDefinition="small")[1]

    assert "can not run Jobs with capability MANAGED_INSTANCES" in message


@pytest.mark.parametrize(
    ("definition", "overrides", "words"),
    [
        ("many", {"containerOverrides": {"command": ["x"]}}, "should not be set for a multinode job"),
        ("plain", {"containerOverrides": {"command": [""]}}, "Command cannot be empty"),
        ("plain", {"containerOverrides": {"environment": [{"name": "AWS_BATCH_X", "value": ""}]}}, "AWS_BATCH_X"),
        ("plain", {"nodeOverrides": {"numNodes": 2}}, "should only be set for a multinode job"),
        ("many", {"nodeOverrides": {"numNodes": 2}}, "has an open upper boundary"),
        ("open", {"nodeOverrides": {"numNodes": 2}}, "greater than the lower boundary of the open node range"),
        ("open", {"nodeOverrides": {"nodePropertyOverrides": [{"targetNodes": "0:3"}]}}, "Non matching targets - 0:3"),
    ],
)  # fmt: skip
def test_an_override_that_does_not_fit_the_definition_is_refused(
    batch: Any, definition: str, overrides: dict[str, Any], words: str
) -> None:
    batch.register_job_definition(jobDefinitionName="many", type="multinode", nodeProperties=NODES)
    ranges = [{"targetNodes": "0:1", "container": SIZE}, {"targetNodes": "2:", "container": SIZE}]
    batch.register_job_definition(
        jobDefinitionName="open", type="multinode", nodeProperties={**NODES, "nodeRangeProperties": ranges}
    )
    job = {"jobName": "job", "jobQueue": "fifo", "jobDefinition": definition}

    assert words in refusal(batch.submit_job, **job, **overrides)[1]


def test_nodes_are_overridden_where_the_definition_leaves_their_number_open(batch: Any) -> None:
    ranges = [{"targetNodes": "0:1", "container": SIZE}, {"targetNodes": "2:", "container": SIZE}]
    batch.register_job_definition(
        jobDefinitionName="open", type="multinode", nodeProperties={**NODES, "nodeRangeProperties": ranges}
    )
    named = [{"targetNodes": "2:7", "containerOverrides": {"command": ["x"]}}]

    batch.submit_job(
        jobName="job",
        jobQueue="fifo",
        jobDefinition="open",
        nodeOverrides={"numNodes": 8, "nodePropertyOverrides": named},
    )
