"""What is asked of AWS about jobs, on real boto3 clients: requests and answers are held to botocore's models."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from ultracluster_rules.findings import FindingsError
from ultracluster_runtime.jobs.describe import describe_pending_job
from ultracluster_runtime.jobs.diagnose import diagnose
from ultracluster_runtime.jobs.logs import Line, Stream, find_stream, read_new, read_tail
from ultracluster_runtime.jobs.stop import stop_job

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
ARN = "arn:aws:batch:us-east-2:123456789012"
HOST = "arn:aws:ecs:us-east-2:123456789012:container-instance/AWSBatch-nodes/"
QUEUE = f"{ARN}:job-queue/training"
ENVIRONMENT = f"{ARN}:compute-environment/nodes"
STREAM = Stream(group="jobs", name="pretrain/default/abc")


class StubbedAws:
    """Clients whose answers are given in the order of the calls; a call that is not expected fails the test."""

    def __init__(self) -> None:
        self.stubs: dict[str, Stubber] = {}

    def client(self, service: str) -> Any:
        if service not in self.stubs:
            self.stubs[service] = Stubber(boto3.client(service, region_name="us-east-2"))
            self.stubs[service].activate()
        return self.stubs[service].client

    def answer(self, service: str, call: str, response: Any, parameters: Any = None) -> None:
        self.client(service)
        self.stubs[service].add_response(call, response, parameters)

    def refuse(self, service: str, call: str, code: str) -> None:
        self.client(service)
        self.stubs[service].add_client_error(call, code, f"{code} it says")


@pytest.fixture
def aws() -> Iterator[StubbedAws]:
    stubbed = StubbedAws()
    with ExitStack() as ends:
        yield stubbed
        for stub in stubbed.stubs.values():
            stub.assert_no_pending_responses()
            ends.callback(stub.deactivate)


def shown(job: str = "one", status: str = "RUNNABLE", nodes: int = 2, **more: Any) -> dict[str, Any]:
    return {
        "jobId": job,
        "jobName": "pretrain",
        "jobQueue": QUEUE,
        "jobDefinition": f"{ARN}:job-definition/pretrain:1",
        "status": status,
        "startedAt": 0,
        "nodeProperties": {"numNodes": nodes, "mainNode": 0, "nodeRangeProperties": [{"targetNodes": "0:"}]},
        **more,
    }


def part(index: int, **container: Any) -> dict[str, Any]:
    return shown(f"one#{index}", "RUNNING", container=container)


def expect_job(aws: StubbedAws, status: str) -> None:
    aws.answer("batch", "describe_jobs", {"jobs": [shown(status=status)]}, {"jobs": ["one"]})


# Ending


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += timedelta(seconds=seconds)


def end(aws: StubbedAws, clock: Clock, seconds: int) -> Any:
    return stop_job(
        "one",
        reason="enough",
        wait=timedelta(seconds=seconds),
        client=aws.client,
        clock=clock,
        sleep=clock.sleep,
    )


def expect_nodes(aws: StubbedAws, count: int) -> None:
    parts = [part(index, containerInstanceArn=f"{HOST}{index}") for index in range(count)]
    aws.answer("batch", "describe_jobs", {"jobs": parts}, {"jobs": ["one#0", "one#1"]})
    aws.answer(
        "ecs",
        "describe_container_instances",
        {"containerInstances": [{"ec2InstanceId": f"i-{index:017x}"} for index in range(count)]},
        {"cluster": "AWSBatch-nodes", "containerInstances": [f"{HOST}{index}" for index in range(count)]},
    )


def expect_order(aws: StubbedAws, count: int, until: str) -> None:
    aws.answer(
        "ssm",
        "send_command",
        {},
        {
            "InstanceIds": [f"i-{index:017x}" for index in range(count)],
            "DocumentName": "AWS-RunShellScript",
            "Comment": "Request a checkpoint from a job",
            "TimeoutSeconds": 60,
            "Parameters": {
                "commands": [
                    "mkdir -p /run/ultracluster",
                    f"echo '{until}' >/run/ultracluster/checkpoint.stop",
                    "mv /run/ultracluster/checkpoint.stop /run/ultracluster/checkpoint",
                ]
            },
        },
    )


def expect_end(aws: StubbedAws) -> None:
    aws.answer("batch", "terminate_job", {}, {"jobId": "one", "reason": "enough"})


def test_a_running_job_is_told_gets_its_time_and_is_ended(aws: StubbedAws) -> None:
    clock = Clock()
    expect_job(aws, "RUNNING")
    expect_nodes(aws, 2)
    expect_order(aws, 2, "2026-12-01T12:00:20Z")
    expect_job(aws, "RUNNING")
    expect_job(aws, "RUNNING")
    expect_end(aws)

    ended = end(aws, clock, 20)

    assert ended.terminated
    assert ended.notified_nodes == ("i-00000000000000000", "i-00000000000000001")
    assert ended.problem is None
    assert clock.now == NOW + timedelta(seconds=20)


def test_a_job_that_ends_by_itself_is_not_ended_again(aws: StubbedAws) -> None:
    expect_job(aws, "RUNNING")
    expect_nodes(aws, 2)
    expect_order(aws, 2, "2026-12-01T12:05:00Z")
    expect_job(aws, "SUCCEEDED")

    assert not end(aws, Clock(), 300).terminated


@pytest.mark.parametrize(("status", "seconds"), [("RUNNING", 0), ("RUNNABLE", 300), ("STARTING", 300)])
def test_a_job_without_processes_or_time_is_ended_at_once(aws: StubbedAws, status: str, seconds: int) -> None:
    clock = Clock()
    expect_job(aws, status)
    expect_end(aws)

    ended = end(aws, clock, seconds)

    assert ended.terminated
    assert ended.problem is None  # nobody had to be told
    assert clock.now == NOW


@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED"])
def test_a_job_that_has_ended_is_left_alone(aws: StubbedAws, status: str) -> None:
    expect_job(aws, status)

    assert not end(aws, Clock(), 300).terminated


def test_a_job_whose_nodes_cannot_be_told_is_ended_without_waiting_and_that_is_said(aws: StubbedAws) -> None:
    clock = Clock()
    expect_job(aws, "RUNNING")
    expect_nodes(aws, 2)
    aws.refuse("ssm", "send_command", "InvalidInstanceId")
    expect_end(aws)

    ended = end(aws, clock, 300)

    assert ended.terminated
    assert "InvalidInstanceId" in str(ended.problem)
    assert clock.now == NOW


def test_a_node_that_aws_does_not_show_is_said(aws: StubbedAws) -> None:
    expect_job(aws, "RUNNING")
    expect_nodes(aws, 1)
    expect_order(aws, 1, "2026-12-01T12:00:10Z")
    expect_job(aws, "RUNNING")
    expect_end(aws)

    assert end(aws, Clock(), 10).problem == "AWS reports 1 of its 2 nodes"


# Logs


@pytest.mark.parametrize(("node", "index"), [(None, 0), (1, 1)])
def test_the_log_of_a_node_is_that_of_its_part(aws: StubbedAws, node: int | None, index: int) -> None:
    container = {
        "logStreamName": STREAM.name,
        "logConfiguration": {"logDriver": "awslogs", "options": {"awslogs-group": "jobs"}},
    }
    expect_job(aws, "RUNNING")
    aws.answer("batch", "describe_jobs", {"jobs": [part(index, **container)]}, {"jobs": [f"one#{index}"]})

    assert find_stream("one", node=node, client=aws.client) == STREAM


def test_a_node_that_the_job_does_not_have_is_refused(aws: StubbedAws) -> None:
    expect_job(aws, "RUNNING")
    with pytest.raises(FindingsError, match=r"UC6208: the job has no node 2\. Allowed: 0 to 1"):
        find_stream("one", node=2, client=aws.client)


def test_a_node_that_has_not_started_has_no_log(aws: StubbedAws) -> None:
    expect_job(aws, "RUNNABLE")
    aws.answer("batch", "describe_jobs", {"jobs": []})
    with pytest.raises(FindingsError, match="UC6208: the job is RUNNABLE"):
        find_stream("one", node=None, client=aws.client)


def events(*messages: str, token: str) -> dict[str, Any]:
    return {
        "events": [{"timestamp": 1, "message": message, "ingestionTime": 1} for message in messages],
        "nextForwardToken": token,
    }


def test_the_newest_lines_are_read_and_then_each_new_one_once(aws: StubbedAws) -> None:
    where = {"logGroupName": STREAM.group, "logStreamName": STREAM.name}
    aws.answer(
        "logs", "get_log_events", events("a", "b", token="t1"), {**where, "limit": 2, "startFromHead": False}
    )
    for asked, answer in [
        ("t1", events("c", token="t2")),
        ("t2", events("d", token="t3")),
        ("t3", events(token="t3")),
    ]:
        aws.answer("logs", "get_log_events", answer, {**where, "startFromHead": True, "nextToken": asked})

    lines, token = read_tail(STREAM, count=2, client=aws.client)
    pages = list(read_new(STREAM, token=token, client=aws.client))

    assert [line.message for line in lines] == ["a", "b"]
    assert [[line.message for line in page] for page, _ in pages] == [["c"], ["d"], []]
    assert pages[0][0] == [Line(timestamp=1, message="c")]
    assert pages[-1][1] == "t3"


def test_a_stream_that_is_not_there_yet_is_a_finding(aws: StubbedAws) -> None:
    aws.refuse("logs", "get_log_events", "ResourceNotFoundException")
    with pytest.raises(FindingsError, match="UC6208: jobs has no stream"):
        read_tail(STREAM, count=2, client=aws.client)


# Looking: what the local AWS does not show


def expect_surroundings(aws: StubbedAws, **resources: Any) -> None:
    aws.answer("batch", "describe_jobs", {"jobs": [shown(shareIdentifier="research")]})
    queue = {
        "jobQueueName": "training",
        "jobQueueArn": QUEUE,
        "state": "ENABLED",
        "priority": 1,
        "computeEnvironmentOrder": [{"order": 1, "computeEnvironment": ENVIRONMENT}],
    }
    aws.answer("batch", "describe_job_queues", {"jobQueues": [queue]})
    environment = {
        "computeEnvironmentName": "nodes",
        "computeEnvironmentArn": ENVIRONMENT,
        "ecsClusterArn": "arn:aws:ecs:us-east-2:123456789012:cluster/AWSBatch-nodes",
        "state": "ENABLED",
        "status": "VALID",
        "computeResources": {
            "type": "EC2",
            "maxvCpus": 768,
            "desiredvCpus": 384,
            "subnets": [],
            "instanceTypes": ["trn2.48xlarge"],
            **resources,
        },
    }
    aws.answer("batch", "describe_compute_environments", {"computeEnvironments": [environment]})


def test_the_order_of_the_queue_the_missing_nodes_and_the_quota_are_seen(aws: StubbedAws) -> None:
    expect_surroundings(aws)
    aws.answer("ecs", "list_container_instances", {"containerInstanceArns": []})
    front = [{"jobArn": f"{ARN}:job/head"}, {"jobArn": f"{ARN}:job/one"}, {"jobArn": f"{ARN}:job/later"}]
    aws.answer("batch", "get_job_queue_snapshot", {"frontOfQueue": {"jobs": front}}, {"jobQueue": QUEUE})
    head = shown("head", shareIdentifier="default")
    aws.answer("batch", "describe_jobs", {"jobs": [head]}, {"jobs": ["head"]})
    for status in ("STARTING", "RUNNING"):
        aws.answer("batch", "list_jobs", {"jobSummaryList": []}, {"jobQueue": QUEUE, "jobStatus": status})
    aws.answer(
        "service-quotas",
        "get_service_quota",
        {"Quota": {"Value": 383.0}},
        {"ServiceCode": "ec2", "QuotaCode": "L-2C3B7624"},
    )

    found = diagnose(describe_pending_job("one", now=NOW, client=aws.client))

    assert [one.reason for one in found] == ["no-instances", "behind-the-head", "share-behind", "quota"]
    assert "--desired-value 384 --region us-east-2" in found[-1].remedy


def test_what_is_refused_is_named_and_concludes_nothing(aws: StubbedAws) -> None:
    expect_surroundings(aws)
    aws.refuse("ecs", "list_container_instances", "AccessDeniedException")
    aws.refuse("batch", "get_job_queue_snapshot", "AccessDeniedException")
    aws.refuse("batch", "list_jobs", "AccessDeniedException")
    aws.refuse("service-quotas", "get_service_quota", "AccessDeniedException")

    waiting = describe_pending_job("one", now=NOW, client=aws.client)

    assert diagnose(waiting) == []
    assert [text.partition(":")[0] for text in waiting.unseen] == [
        "the nodes of nodes",
        "the order of the queue",
        "running jobs",
        "the quota",
    ]


@pytest.mark.parametrize("kind", ["capacity-block", "default"])
def test_no_quota_is_asked_for_the_instances_of_a_block(aws: StubbedAws, kind: str) -> None:
    expect_surroundings(aws, launchTemplate={"launchTemplateId": "lt-1", "version": "3"}, desiredvCpus=0)
    target = {"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}}
    aws.answer(
        "ec2",
        "describe_launch_template_versions",
        {"LaunchTemplateVersions": [{"LaunchTemplateData": {"CapacityReservationSpecification": target}}]},
        {"LaunchTemplateId": "lt-1", "Versions": ["3"]},
    )
    reservation = {
        "InstanceType": "trn2.48xlarge",
        "State": "active",
        "ReservationType": kind,
        "TotalInstanceCount": 1,
    }
    aws.answer(
        "ec2",
        "describe_capacity_reservations",
        {"CapacityReservations": [reservation]},
        {"CapacityReservationIds": ["cr-1"]},
    )
    aws.answer("batch", "get_job_queue_snapshot", {"frontOfQueue": {"jobs": []}})
    for _ in ("STARTING", "RUNNING"):
        aws.answer("batch", "list_jobs", {"jobSummaryList": []})
    if kind == "default":
        aws.answer("service-quotas", "get_service_quota", {"Quota": {"Value": 384.0}})

    waiting = describe_pending_job("one", now=NOW, client=aws.client)

    assert waiting.unseen == ()
    assert (waiting.quota is None) == (kind == "capacity-block")
    assert [one.reason for one in diagnose(waiting)] == ["reservation-too-small"]
