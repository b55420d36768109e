"""The function that submits interrupted jobs again: what it may do, when it runs, and for which jobs."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from tests.unit.ultracluster.builders import block, of_type, queue, ultra_cluster

from ultracluster import Job, JobResume, MultiNodeJob, SingleNodeJob, UltraCluster
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:1"


def cluster(stack: cdk.Stack, **changes: Any) -> UltraCluster:
    return ultra_cluster(stack, **{"capacity": block()} | changes)


def only_resume(stack: cdk.Stack, resource_type: str) -> dict[str, Any]:
    template = cdk.assertions.Template.from_stack(stack).find_resources(resource_type)
    (found,) = [each for name, each in template.items() if name.startswith("ClusterJobResume")]
    properties: dict[str, Any] = found["Properties"]
    return properties


def statements(stack: cdk.Stack) -> dict[str, dict[str, Any]]:
    (policy,) = only_resume(stack, "AWS::IAM::Role")["Policies"]
    return {each["Sid"]: each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Allow"}


def test_a_cluster_without_jobs_that_resume_has_no_such_function(stack: cdk.Stack) -> None:
    made = cluster(stack)
    made.add_multi_node_job("pretrain", Job(image=IMAGE, command=("train.py",)))
    assert made.job_resume is None
    assert "ClusterJobResume" not in str(cdk.assertions.Template.from_stack(stack).to_json())


def test_it_may_submit_jobs_of_this_cluster_to_its_queues_only(stack: cdk.Stack) -> None:
    made = cluster(stack)
    before = made.add_queue("before")
    made.add_single_node_job("evaluate", Job(image=IMAGE, command=("evaluate.py",)))
    job = made.add_multi_node_job("pretrain", Job(image=IMAGE, command=("train.py",), resume=3))
    made.add_single_node_job("tune", Job(image=IMAGE, command=("tune.py",)))
    made.add_fabric_gate("gate", image=IMAGE)
    after = made.add_queue("after")
    submit = statements(stack)["Submit"]
    assert submit["Action"] == "batch:SubmitJob"
    queues = [stack.resolve(each.job_queue_arn) for each in (made.queue, before, after)]
    assert [each for each in submit["Resource"] if each in queues] == queues
    definitions = [each for each in submit["Resource"] if each not in queues]
    assert len(definitions) == 3  # also jobs that ask for it when they are submitted
    assert stack.resolve(job.job_definition_arn) in definitions
    (definition,) = [
        each["Properties"]
        for each in of_type(stack, "AWS::Batch::JobDefinition")
        if each["Properties"].get("Tags", {}).get("ultracluster:resume") == "3"
    ]
    assert definition["Type"] == "multinode"
    assert job.job_definition_arn


def test_it_runs_every_minute_and_when_a_job_of_its_queues_fails(stack: cdk.Stack) -> None:
    made = cluster(stack)
    made.add_multi_node_job("pretrain", Job(image=IMAGE, command=("train.py",), resume=1))
    urgent = made.add_queue("urgent")
    rules = [
        each["Properties"]
        for name, each in cdk.assertions.Template.from_stack(stack)
        .find_resources("AWS::Events::Rule")
        .items()
        if name.startswith("ClusterJobResume")
    ]
    (clock,) = [rule for rule in rules if "ScheduleExpression" in rule]
    (ended,) = [rule for rule in rules if "EventPattern" in rule]
    assert clock["ScheduleExpression"] == "rate(1 minute)"
    assert ended["EventPattern"] == {
        "source": ["aws.batch"],
        "detail-type": ["Batch Job State Change"],
        "detail": {
            "jobQueue": [stack.resolve(made.queue.job_queue_arn), stack.resolve(urgent.job_queue_arn)],
            "status": ["FAILED"],
        },
    }


def test_arrays_and_precompile_jobs_are_not_submitted_again(stack: cdk.Stack) -> None:
    made = cluster(stack)
    with pytest.raises(FindingsError, match=r"UC6117.*array"):
        made.add_single_node_job("sweep", Job(image=IMAGE, command=("a.py",), array_size=4, resume=1))
    with pytest.raises(FindingsError, match=r"UC6117.*precompile"):
        made.add_precompile_job(
            "compile", Job(image=IMAGE, command=("a.py",), resume=1, instance_type="trn1.2xlarge")
        )


def test_it_can_be_used_without_a_cluster_with_a_topic_and_a_key(stack: cdk.Stack) -> None:
    topic = sns.Topic.from_topic_arn(stack, "Topic", "arn:aws:sns:us-east-2:123456789012:notices")
    key = kms.Key.from_key_arn(
        stack, "Key", "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    )
    JobResume(stack, "ClusterJobResume", queue=queue(stack), topic=topic, kms_key=key)

    assert statements(stack)["Notify"]["Resource"] == topic.topic_arn
    (table,) = of_type(stack, "AWS::DynamoDB::Table")
    assert table["Properties"]["SSESpecification"]["KMSMasterKeyId"] == key.key_arn


def test_a_job_records_how_often_it_is_submitted_again(stack: cdk.Stack) -> None:
    jobs = cluster(stack).queue
    MultiNodeJob(stack, "Pretrain", Job(image=IMAGE, command=("train.py",), resume=2), queue=jobs)
    SingleNodeJob(stack, "Tune", Job(image=IMAGE, command=("tune.py",), resume=1), queue=jobs)

    tags = [each["Properties"]["Tags"] for each in of_type(stack, "AWS::Batch::JobDefinition")]
    assert [each["ultracluster:resume"] for each in tags] == ["2", "1"]
    definitions = [name for name in statements(stack)["Submit"]["Resource"] if "Ref" in name]
    assert len(definitions) == len(tags)  # no method of the cluster added the jobs


@pytest.mark.parametrize("before", [True, False])
def test_a_job_on_a_queue_without_a_cluster_needs_a_function_before_synthesis(
    stack: cdk.Stack, *, before: bool
) -> None:
    jobs = queue(stack)
    if before:
        JobResume(stack, "ClusterJobResume", queue=jobs)
    job = MultiNodeJob(stack, "Pretrain", Job(image=IMAGE, command=("train.py",), resume=2), queue=jobs)
    if not before:
        with pytest.raises(
            RuntimeError, match=r"\[Test/Pretrain\] UC6117: resume: .* Define JobResume\(queue"
        ):
            stack.node.root.synth()  # type: ignore[attr-defined] - the root is an app
        JobResume(stack, "ClusterJobResume", queue=jobs)
    assert stack.resolve(job.job_definition_arn) in statements(stack)["Submit"]["Resource"]


def test_a_job_in_another_stack_than_its_queue_is_not_submitted_again(stack: cdk.Stack) -> None:
    other = cdk.Stack(stack.node.scope, "Other", env=cdk.Environment(region="us-east-2"))
    with pytest.raises(FindingsError, match=r"UC6117: \S+: resume: a job in another stack than its queue"):
        MultiNodeJob(
            other,
            "Pretrain",
            Job(image=IMAGE, command=("train.py",), resume=2),
            queue=cluster(stack).queue,
        )
