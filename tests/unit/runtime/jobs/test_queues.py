"""Finding queues and job definitions of a cluster, with responses that follow botocore's model."""

from typing import Any

import pytest
from tests.unit.runtime.jobs.stubbed_aws import ARN, ENVIRONMENT, QUEUE, expect_environment
from tests.unit.runtime.stubbed_clients import StubbedAws

from ultracluster_catalog.limits.queues import QUEUE_NAME_TAG
from ultracluster_runtime.jobs.queues import Queue, find_definition, find_queue, find_queues, region_from_arn
from ultracluster_spec.findings import FindingsError

URGENT = f"{ARN}:job-queue/urgent"
DEFINITION = f"{ARN}:job-definition/pretrain:3"


def described_queue(arn: str, **more: Any) -> dict[str, Any]:
    return {
        "jobQueueName": arn.rpartition("/")[2],
        "jobQueueArn": arn,
        "state": "ENABLED",
        "priority": 1,
        "computeEnvironmentOrder": [{"order": 1, "computeEnvironment": ENVIRONMENT}],
        **more,
    }


def answer_stack(
    aws: StubbedAws, *resources: tuple[str, str], stack: str = "train-us-east-2-Cluster"
) -> None:
    summaries = [
        {
            "LogicalResourceId": f"R{number}",
            "PhysicalResourceId": arn,
            "ResourceType": f"AWS::Batch::{kind}",
            "LastUpdatedTimestamp": 0,
            "ResourceStatus": "CREATE_COMPLETE",
        }
        for number, (kind, arn) in enumerate(resources)
    ]
    aws.answer(
        "cloudformation", "list_stack_resources", {"StackResourceSummaries": summaries}, {"StackName": stack}
    )


@pytest.mark.parametrize(
    ("text", "region"),
    [
        (QUEUE, "us-east-2"),
        (DEFINITION, "us-east-2"),
        ("arn:aws-cn:batch:cn-north-1:123456789012:job/one", "cn-north-1"),
        ("arn:aws:sqs:us-east-2:123456789012:job-queue/training", None),
        ("training", None),
    ],
)
def test_region_is_read_from_arns_of_batch_only(text: str, region: str | None) -> None:
    assert region_from_arn(text) == region


def test_queue_and_definitions_are_found_in_the_stack_of_the_cluster(aws: StubbedAws) -> None:
    answer_stack(aws, ("JobQueue", QUEUE), ("JobDefinition", DEFINITION), ("ComputeEnvironment", ENVIRONMENT))

    found = find_queue("train", region="us-east-2", client=aws.client)
    assert found == Queue(arn=QUEUE, definitions=(DEFINITION,))


def test_name_of_a_stack_is_tried_after_that_of_a_cluster(aws: StubbedAws) -> None:
    aws.refuse("cloudformation", "list_stack_resources", "ValidationError")
    answer_stack(aws, ("JobQueue", QUEUE), stack="train")

    assert find_queue("train", region="us-east-2", client=aws.client).arn == QUEUE


def test_missing_stack_is_a_finding(aws: StubbedAws) -> None:
    for _ in range(2):
        aws.refuse("cloudformation", "list_stack_resources", "ValidationError")

    with pytest.raises(FindingsError, match=r"error: .*no stack of a cluster 'train'"):
        find_queue("train", region="us-east-2", client=aws.client)


def test_queue_is_used_by_its_arn_without_a_call(aws: StubbedAws) -> None:
    assert find_queues(QUEUE, region="us-east-2", client=aws.client) == [Queue(arn=QUEUE, definitions=())]


def test_additional_queues_are_found_by_their_tag_after_the_default_one(aws: StubbedAws) -> None:
    for _ in range(2):
        answer_stack(aws, ("JobQueue", URGENT), ("JobQueue", QUEUE))
        queues = [described_queue(URGENT, tags={QUEUE_NAME_TAG: "urgent"}), described_queue(QUEUE)]
        aws.answer("batch", "describe_job_queues", {"jobQueues": queues}, {"jobQueues": [URGENT, QUEUE]})

    named = find_queue("train", region="us-east-2", client=aws.client, name="urgent")
    assert (named.arn, named.name) == (URGENT, "urgent")
    with pytest.raises(FindingsError, match=r"error: .*'later'.*urgent"):
        find_queue("train", region="us-east-2", client=aws.client, name="later")


def test_stack_of_jobs_alone_uses_the_queue_that_they_name(aws: StubbedAws) -> None:
    answer_stack(aws, ("JobDefinition", DEFINITION))
    definition = described_definition() | {"tags": {"ultracluster:queue": QUEUE}}
    aws.answer("batch", "describe_job_definitions", {"jobDefinitions": [definition]})

    assert find_queue("train", region="us-east-2", client=aws.client).arn == QUEUE


def test_two_default_queues_are_a_finding(aws: StubbedAws) -> None:
    answer_stack(aws, ("JobQueue", URGENT), ("JobQueue", QUEUE))
    aws.answer(
        "batch", "describe_job_queues", {"jobQueues": [described_queue(URGENT), described_queue(QUEUE)]}
    )

    with pytest.raises(FindingsError, match=r"error: .*has 2 job queues"):
        find_queues("train", region="us-east-2", client=aws.client)


@pytest.mark.parametrize(
    ("resources", "most"),
    [
        ({"instanceTypes": ["trn2.48xlarge"], "maxvCpus": 768}, 4),
        ({"instanceTypes": ["trn2.48xlarge"], "maxvCpus": 767}, 3),
        ({"instanceTypes": ["trn2.48xlarge", "trn1.32xlarge"], "maxvCpus": 768}, None),
        ({"instanceTypes": ["trn9.48xlarge"], "maxvCpus": 768}, None),
    ],
)
@pytest.mark.parametrize("shared", [True, False])
def test_limits_are_those_of_the_environment_and_the_policy(
    aws: StubbedAws, resources: dict[str, Any], most: int | None, shared: bool
) -> None:
    policy = {"schedulingPolicyArn": f"{ARN}:scheduling-policy/fair"} if shared else {}
    aws.answer("batch", "describe_job_queues", {"jobQueues": [described_queue(QUEUE, **policy)]})
    expect_environment(aws, **resources)

    assert Queue(arn=QUEUE, definitions=()).limits(aws.client) == (shared, most)


def test_unknown_queue_is_a_finding(aws: StubbedAws) -> None:
    aws.answer("batch", "describe_job_queues", {"jobQueues": []})

    with pytest.raises(FindingsError, match=r"error: .*no queue"):
        Queue(arn=QUEUE, definitions=()).limits(aws.client)


def described_definition(status: str = "ACTIVE") -> dict[str, Any]:
    return {
        "jobDefinitionName": "pretrain",
        "jobDefinitionArn": DEFINITION,
        "revision": 3,
        "status": status,
        "type": "multinode",
    }


@pytest.mark.parametrize("job", [DEFINITION, "pretrain:3"])
def test_definition_is_found_by_arn_or_revision(aws: StubbedAws, job: str) -> None:
    aws.answer("batch", "describe_job_definitions", {"jobDefinitions": [described_definition()]})

    queue = Queue(arn=QUEUE, definitions=(DEFINITION,))
    assert find_definition(job, queue=queue, client=aws.client)["jobDefinitionArn"] == DEFINITION


@pytest.mark.parametrize(("status", "found"), [("ACTIVE", True), ("INACTIVE", False)])
def test_definition_outside_the_stack_must_be_active(aws: StubbedAws, status: str, found: bool) -> None:
    aws.answer("batch", "describe_job_definitions", {"jobDefinitions": [described_definition(status)]})
    queue = Queue(arn=QUEUE, definitions=())

    if found:
        assert find_definition(DEFINITION, queue=queue, client=aws.client)["revision"] == 3
    else:
        with pytest.raises(FindingsError, match="UC6203"):
            find_definition(DEFINITION, queue=queue, client=aws.client)
