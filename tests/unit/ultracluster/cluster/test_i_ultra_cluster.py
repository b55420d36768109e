from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from tests.unit.ultracluster.builders import IMAGE, block, new_stack, of_type, ultra_cluster
from tests.unit.ultracluster.iam_evaluation import identity_statements

import ultracluster as uc
from ultracluster import Job
from ultracluster_catalog.names.submission_tags import QUEUE_TAG
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

ARN = "arn:aws:batch:us-east-2:123456789012:job-queue/train"


@pytest.fixture
def imported(stack: cdk.Stack) -> uc.IUltraCluster:
    cache = s3.Bucket.from_bucket_name(stack, "CacheBucket", "the-cache")
    checkpoints = s3.Bucket.from_bucket_name(stack, "CheckpointBucket", "the-checkpoints")
    return uc.UltraCluster.from_ultra_cluster_attributes(
        stack,
        "Platform",
        cluster_name="llama",
        queue=uc.TrainingQueue.from_training_queue_attributes(
            stack,
            "Queue",
            job_queue_arn=ARN,
            instance_type="trn2.48xlarge",
            max_nodes=4,
            log_group=logs.LogGroup.from_log_group_name(stack, "Logs", "train-logs"),
        ),
        compile_cache=uc.CompileCache.from_bucket(stack, "Cache", cache),
        checkpoint_bucket=checkpoints,
    )


def test_jobs_of_an_imported_cluster_use_its_queue_cache_bucket_and_name(
    stack: cdk.Stack, imported: uc.IUltraCluster
) -> None:
    gate = imported.add_fabric_gate("Fabric", image=IMAGE)
    smoke = imported.add_smoke_train("Smoke", image=IMAGE)
    job = imported.add_multi_node_job(
        "Train", Job(image=IMAGE, command=("train.py",)), depends_on=[gate, smoke]
    )
    imported.add_single_node_job("Evaluate", Job(image=IMAGE, command=("evaluate.py",)))

    assert job.environment["UC_CLUSTER"] == "llama"
    assert job.environment["NEURON_COMPILE_CACHE_URL"] == "s3://the-cache/neuron"
    definitions = of_type(stack, "AWS::Batch::JobDefinition")
    assert [each["Properties"]["Tags"][QUEUE_TAG] for each in definitions] == [ARN] * 4
    policies = str(of_type(stack, "AWS::IAM::Policy"))
    assert "the-checkpoints" in policies
    assert {each["Type"] for each in definitions} == {"AWS::Batch::JobDefinition"}
    assert of_type(stack, "AWS::Lambda::Function") == []


def test_an_imported_cluster_refuses_to_resume_a_job_in_one_line(imported: uc.IUltraCluster) -> None:
    with pytest.raises(FindingsError) as refused:
        imported.add_multi_node_job("Train", Job(image=IMAGE, command=("train.py",), resume=1))
    assert str(refused.value) == (
        "UC6117: Test/Platform/Train: resume: a job on an imported queue is not submitted again after it was interrupted. "
        "Remove resume; attempts let AWS Batch start it again."
    )


def test_metrics_of_an_imported_cluster_have_its_name(imported: uc.IUltraCluster) -> None:
    metrics = [
        imported.metric_core_utilization(),
        imported.metric_tokens_per_second(),
        imported.metric_unused_nodes(),
        imported.metric("Loss", statistic="Minimum"),
    ]

    assert [each.metric_name for each in metrics] == [
        "CoreUtilization",
        "TokensPerSecond",
        "UnusedNodes",
        "Loss",
    ]
    assert {str(each.dimensions) for each in metrics} == {"{'Cluster': 'llama'}"}
    assert metrics[-1].statistic == "Minimum"
    with pytest.raises(FindingsError, match="UC6442"):
        imported.metric("Losses")


def test_a_cluster_grants_the_submission_of_jobs_to_each_of_its_queues() -> None:
    stack = new_stack()
    cluster = ultra_cluster(stack, capacity=block())
    cluster.add_queue("urgent")
    person = iam.Role(stack, "Person", assumed_by=iam.AccountRootPrincipal())
    cluster.grant_submit(person).assert_success()
    cluster.grant_read(person).assert_success()
    cluster.add_multi_node_job("Train", Job(image=IMAGE, command=("train.py",)))

    statements: list[dict[str, Any]] = identity_statements(
        stack,
        stack.get_logical_id(person.node.default_child),  # type: ignore[arg-type] - the L1
    )
    submit = [each["Resource"] for each in statements if each["Action"] == "batch:SubmitJob"]
    assert len(str(submit).split("JobQueueArn")) - 1 == 2
    assert "Train" in str(submit)
    assert cluster.cluster_name == "Test"
    assert cluster.metric("Loss").dimensions == {"Cluster": "Test"}


def test_a_job_takes_any_queue_of_its_cluster_and_none_of_another() -> None:
    cluster, other = (ultra_cluster(new_stack(), capacity=block()) for _ in range(2))
    cluster.add_multi_node_job(
        "Own", Job(image=IMAGE, command=("train.py",)), queue=cluster.add_queue("urgent")
    )

    with pytest.raises(
        FindingsError, match=r"error: Test/Cluster/Job: queue: got 'Test/Cluster/Queue', a queue of another"
    ):
        cluster.add_multi_node_job("Job", Job(image=IMAGE, command=("train.py",)), queue=other.queue)


@pytest.mark.parametrize(
    "construct_id", ["Queue", "FileSystem", "Train", "JobResume", "Queue-later", "Precompile-cpu"]
)
def test_a_job_takes_no_id_of_a_part_of_its_cluster(stack: cdk.Stack, construct_id: str) -> None:
    cluster = ultra_cluster(stack, capacity=block())
    job = Job(image=IMAGE, command=("train.py",))
    cluster.add_single_node_job("Train", job)
    for add in (
        lambda: cluster.add_multi_node_job(construct_id, job),
        lambda: cluster.add_single_node_job(construct_id, job),
        lambda: cluster.add_precompile_job(construct_id, job, queue=cluster.queue),
        lambda: cluster.add_fabric_gate(construct_id, image=IMAGE),
        lambda: cluster.add_smoke_train(construct_id, image=IMAGE),
    ):
        with pytest.raises(
            FindingsError, match=f"UC2161: Test/Cluster/{construct_id}: construct_id: .*{construct_id}Job"
        ):
            add()
    cluster.add_multi_node_job(f"{construct_id}Job".removeprefix("Queue-").removeprefix("Precompile-"), job)
