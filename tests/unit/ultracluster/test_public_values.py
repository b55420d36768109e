"""What constructs answer: metrics, properties and warnings, for arguments and for their defaults."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import aws_cdk as cdk
import aws_cdk.assertions
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from tests.unit.ultracluster.builders import (
    IMAGE,
    allowed,
    block,
    network,
    new_stack,
    nodes,
    queue,
    ultra_cluster,
)

import ultracluster as uc
from ultracluster._foundation import function_code
from ultracluster.jobs import array_rendezvous
from ultracluster.scheduling.fair_share import fair_share_policy

pytestmark = pytest.mark.slow

JOB = uc.Job(image=IMAGE, command=("train.py",))


@pytest.fixture(scope="module")
def cluster() -> uc.UltraCluster:
    return ultra_cluster(new_stack(), alarms=uc.Alarms(), cluster_name="llama")


METRICS: dict[str, tuple[Callable[[uc.UltraCluster], cloudwatch.Metric], tuple[object, ...]]] = {
    "submitted": (lambda c: c.queue.metric_jobs_submitted(), ("AWS/Batch", "JobsSubmitted", "Sum", 300)),
    "running": (
        lambda c: c.queue.metric_jobs_moved_to_running(),
        ("AWS/Batch", "JobsMovedToRunning", "Sum", 300),
    ),
    "succeeded": (
        lambda c: c.queue.metric_jobs_moved_to_succeeded(),
        ("AWS/Batch", "JobsMovedToSucceeded", "Sum", 300),
    ),
    "failed": (
        lambda c: c.queue.metric_jobs_moved_to_failed(),
        ("AWS/Batch", "JobsMovedToFailed", "Sum", 300),
    ),
    "duration": (
        lambda c: c.queue.metric_job_attempt_runnable_to_starting_duration(),
        ("AWS/Batch", "JobAttemptRunnableToStartingDuration", "Average", 300),
    ),
    "queue with options": (
        lambda c: c.queue.metric_jobs_submitted(statistic="Maximum", period=cdk.Duration.minutes(1)),
        ("AWS/Batch", "JobsSubmitted", "Maximum", 60),
    ),
    "read": (lambda c: c.file_system.metric_data_read_bytes(), ("AWS/FSx", "DataReadBytes", "Sum", 60)),
    "written": (lambda c: c.file_system.metric_data_write_bytes(), ("AWS/FSx", "DataWriteBytes", "Sum", 60)),
    "free": (
        lambda c: c.file_system.metric_free_data_storage_capacity(statistic="Minimum"),
        ("AWS/FSx", "FreeDataStorageCapacity", "Minimum", 60),
    ),
    "cores": (
        lambda c: c.metric_core_utilization(),
        ("UltraCluster", "CoreUtilization", "Average", 300),
    ),
    "tokens": (
        lambda c: c.metric_tokens_per_second(statistic="Maximum"),
        ("UltraCluster", "TokensPerSecond", "Maximum", 300),
    ),
    "unused": (lambda c: c.metric_unused_nodes(), ("UltraCluster", "UnusedNodes", "Average", 300)),
    "of nodes": (lambda c: _metrics(c).metric("StepSeconds"), ("UltraCluster", "StepSeconds", "Average", 60)),
    "of nodes with options": (
        lambda c: _metrics(c).metric("StepSeconds", statistic="Sum", period=cdk.Duration.minutes(5)),
        ("UltraCluster", "StepSeconds", "Sum", 300),
    ),
}


def _metrics(cluster: uc.UltraCluster) -> uc.NodeMetrics:
    assert cluster.metrics
    return cluster.metrics


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_has_the_name_and_the_usual_statistic_of_its_service(
    cluster: uc.UltraCluster, name: str
) -> None:
    make, expected = METRICS[name]
    metric = make(cluster)

    assert (
        metric.namespace,
        metric.metric_name,
        metric.statistic,
        metric.period.to_seconds(),
    ) == expected
    ((dimension, value),) = dict(metric.dimensions or {}).items()
    assert dimension == {"AWS/Batch": "JobQueueName", "AWS/FSx": "FileSystemId"}.get(
        str(expected[0]), "Cluster"
    )
    assert value == "llama" or cdk.Token.is_unresolved(value)


def test_the_metrics_of_a_cache_count_requests_of_a_minute(stack: cdk.Stack) -> None:
    cache = uc.CompileCache(stack, "Cache", request_metrics=True)
    made = [cache.metric_hits(), cache.metric_misses(), cache.metric_stored()]

    assert [each.metric_name for each in made] == ["GetRequests", "4xxErrors", "PutRequests"]
    assert {(each.namespace, each.statistic, each.period.to_seconds()) for each in made} == {
        ("AWS/S3", "Sum", 60)
    }
    for each in made:
        assert dict(each.dimensions or {}) == {
            "BucketName": cache.bucket.bucket_name,
            "FilterId": "compile-cache",
        }


def test_a_price_divides_the_speed_of_all_nodes_of_a_candidate(stack: cdk.Stack) -> None:
    training = queue(stack)
    bake = uc.BakeOff(
        stack,
        "Bake",
        candidates={
            "two": uc.Candidate(queue=training, image=IMAGE, node_count=2, price_per_node_hour=20),
            "all": uc.Candidate(queue=training, image=IMAGE, price_per_node_hour=20),
            "free": uc.Candidate(queue=training, image=IMAGE),
        },
        job=uc.Job(command=("train.py",)),
    )

    assert bake.metric_per_dollar("tokens_per_second", candidate="two").expression.endswith("* 3600 / 40")
    assert bake.metric_per_dollar("tokens_per_second", candidate="all").expression.endswith("* 3600 / 80")
    with pytest.raises(KeyError, match="free has no price_per_node_hour"):
        bake.metric_per_dollar("tokens_per_second", candidate="free")
    speed = bake.metric("tokens_per_second", candidate="two")
    assert (speed.namespace, speed.statistic, speed.period.to_seconds()) == (
        "UltraCluster/BakeOff",
        "Average",
        60,
    )
    assert dict(speed.dimensions or {}) == {"Candidate": "Test/Bake/two"}
    assert set(bake.jobs) == {"two", "all", "free"}


@pytest.mark.parametrize(
    ("options", "workers"),
    [
        ({}, 2 * 64),
        ({"processes_per_node": 16}, 2 * 16),
        ({"launcher": "jax"}, 2 * 64),
        ({"launcher": "raw"}, 2 * 64),
    ],
)
def test_workers_are_the_processes_of_all_nodes(
    stack: cdk.Stack, options: dict[str, Any], workers: int
) -> None:
    job = uc.MultiNodeJob(stack, "Job", replace(JOB, nodes=2, **options), queue=queue(stack))

    assert job.workers == workers


def test_a_job_knows_what_it_was_given(stack: cdk.Stack) -> None:
    training = queue(stack)
    first = uc.SingleNodeJob(stack, "First", JOB, queue=training)
    job = uc.SingleNodeJob(
        stack, "Job", replace(JOB, environment={"A": "b"}), queue=training, depends_on=[first]
    )

    assert (job.queue, job.image, job.depends_on) == (training, IMAGE, (first,))
    assert job.environment["A"] == "b"
    assert "Ref" in stack.resolve(job.job_definition_arn)
    assert job.execution_role.role_arn != job.role.role_arn


def test_a_queue_gives_the_arn_and_the_nodes_of_its_first_environment(stack: cdk.Stack) -> None:
    training = queue(stack)

    assert training.compute_environment_arn == training.environments[0].arn
    assert stack.resolve(training.compute_environment_arn)["Fn::GetAtt"][1] == "ComputeEnvironmentArn"
    assert training.nodes is training.environments[0].nodes
    assert training.dedicated_environments == training.environments
    assert (training.is_imported, training.is_managed, training.has_shares, training.has_spot) == (
        False,
        True,
        False,
        False,
    )


def test_readers_of_a_queue_see_its_jobs_and_their_logs_and_no_more(stack: cdk.Stack) -> None:
    reader = iam.Role(stack, "Reader", assumed_by=iam.AccountRootPrincipal(), description="Reads")
    training = queue(stack)
    training.grant_read(reader)
    actions = [each["Action"] for each in allowed(stack, "Reads")]

    assert sorted(one for each in actions for one in ([each] if isinstance(each, str) else each)) == [
        "batch:DescribeComputeEnvironments",
        "batch:DescribeJobDefinitions",
        "batch:DescribeJobQueues",
        "batch:DescribeJobs",
        "batch:GetJobQueueSnapshot",
        "batch:ListJobs",
        "cloudformation:ListStackResources",
        "logs:FilterLogEvents",
        "logs:GetLogEvents",
    ]


@pytest.mark.parametrize("nat_gateway", [True, False])
def test_the_vpc_of_a_network_knows_whether_its_subnet_reaches_the_internet(
    stack: cdk.Stack, *, nat_gateway: bool
) -> None:
    vpc = network(stack, nat_gateway=nat_gateway).vpc

    assert (len(vpc.private_subnets), len(vpc.isolated_subnets), len(vpc.public_subnets)) == (
        (1, 0, 0) if nat_gateway else (0, 1, 0)
    )


def test_a_network_lists_the_services_that_its_nodes_reach(stack: cdk.Stack) -> None:
    closed = network(stack, endpoints=["sts"]).services or ()
    assert {"s3", "sts", "logs", "ecr.api"} <= set(closed)
    assert network(cdk.Stack(stack, "Open"), nat_gateway=True).services is None, "they reach all"


def test_a_share_identifier_that_matches_the_default_share_is_the_default_share() -> None:
    def identifiers(parts: dict[str, int]) -> list[str]:
        policy: Any = fair_share_policy(uc.Queue(shares=parts))
        return [each.share_identifier for each in policy.share_distribution]

    assert identifiers({"def*": 2}) == ["def*"]
    assert identifiers({"default": 2}) == ["default"]
    assert identifiers({"dex*": 2}) == ["default", "dex*"]
    assert len(identifiers({f"a{each}": 1 for each in range(499)})) == 500
    assert len(identifiers({f"a{each}": 1 for each in range(500)})) == 500


@pytest.mark.parametrize(
    ("changes", "has_alarms"),
    [
        ({}, False),
        ({"capacity": block()}, True),
        ({"capacity": block(), "alarms": uc.Alarms(enabled=False)}, False),
        ({"alarms": uc.Alarms()}, True),
    ],
)
def test_a_cluster_on_a_block_has_alarms_unless_they_are_declined(
    stack: cdk.Stack, changes: dict[str, Any], *, has_alarms: bool
) -> None:
    cluster = ultra_cluster(stack, **changes)

    assert (cluster.alarms is not None, cluster.metrics is not None) == (has_alarms, has_alarms)
    assert cluster.cluster_name == "Test"


@pytest.mark.parametrize("spec", [None, SimpleNamespace(origin=None)])
@pytest.mark.parametrize(
    "read",
    [
        function_code.function_code,
        lambda: array_rendezvous.rendezvous_command(["train.py"], "raw"),
        lambda: _close_queues(new_stack()),
    ],
)
def test_the_code_of_functions_and_jobs_needs_the_runtime(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[], object], spec: object
) -> None:
    monkeypatch.setattr(function_code, "find_spec", lambda _: spec)

    with pytest.raises(ImportError, match="ultracluster_runtime is not installed"):
        read()


def _close_queues(stack: cdk.Stack) -> uc.ClusterBudget:
    return uc.ClusterBudget(
        stack,
        "Budget",
        monthly_usd=1,
        tag_value="a",
        emails=["a@example.com"],
        queues_to_close=[queue(stack)],
    )


def test_nodes_of_a_queue_are_the_group_that_it_was_given(stack: cdk.Stack) -> None:
    group = nodes(stack)
    assert uc.TrainingQueue(stack, "Queue", nodes=group, max_nodes=1).nodes is group
    assert (group.capacity, group.placement, group.file_system, group.scratch_path, group.joins) == (
        None,
    ) * 5
