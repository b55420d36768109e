"""What AWS is asked about jobs, and answers."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.unit.runtime.stubbed_clients import StubbedAws

from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_runtime.jobs.logs import Stream
from ultracluster_runtime.jobs.stop import stop_job

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
ARN = "arn:aws:batch:us-east-2:123456789012"
HOST = "arn:aws:ecs:us-east-2:123456789012:container-instance/AWSBatch-nodes/"
QUEUE = f"{ARN}:job-queue/training"
ENVIRONMENT = f"{ARN}:compute-environment/nodes"
TEMPLATE = {"launchTemplateId": "lt-1", "version": "3"}
LAUNCHED = ["python3", LAUNCHER_PATH, "raw", "train.py"]
STREAM = Stream(group="jobs", name="pretrain/default/abc")


def shown(job: str = "one", status: str = "RUNNABLE", nodes: int = 2, **more: Any) -> dict[str, Any]:
    return {
        "jobId": job,
        "jobName": "pretrain",
        "jobQueue": QUEUE,
        "jobDefinition": f"{ARN}:job-definition/pretrain:1",
        "status": status,
        "startedAt": 0,
        "nodeProperties": {
            "numNodes": nodes,
            "mainNode": 0,
            "nodeRangeProperties": [{"targetNodes": "0:", "container": {"command": LAUNCHED}}],
        },
        **more,
    }


def node_array(children: dict[str, int], *, size: int | None = 2) -> dict[str, Any]:
    """Return an array of two; with a size, its children are the nodes of one job."""
    variables = [{"name": "UC_ARRAY_NODES", "value": str(size)}] if size else []
    return {
        "jobId": "one",
        "jobName": "pretrain",
        "jobQueue": QUEUE,
        "jobDefinition": f"{ARN}:job-definition/pretrain:1",
        "status": "PENDING",
        "startedAt": 0,
        "arrayProperties": {"size": 2, "statusSummary": children},
        "container": {"environment": variables, "command": LAUNCHED},
    }


def part(index: int, **container: Any) -> dict[str, Any]:
    return shown(f"one#{index}", "RUNNING", container=container)


def expect_job(aws: StubbedAws, status: str) -> None:
    aws.answer("batch", "describe_jobs", {"jobs": [shown(status=status)]}, {"jobs": ["one"]})


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
    expect_hosts(aws, count)


def expect_hosts(aws: StubbedAws, count: int) -> None:
    aws.answer(
        "ecs",
        "describe_container_instances",
        {
            "containerInstances": [
                {"containerInstanceArn": f"{HOST}{index}", "ec2InstanceId": f"i-{index:017x}"}
                for index in range(count)
            ]
        },
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
            "Comment": "Request a checkpoint from running jobs",
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


def events(*messages: str, token: str) -> dict[str, Any]:
    return {
        "events": [{"timestamp": 1, "message": message, "ingestionTime": 1} for message in messages],
        "nextForwardToken": token,
    }


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
    expect_environment(aws, **resources)


def expect_environment(aws: StubbedAws, **resources: Any) -> None:
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


def expect_template(aws: StubbedAws, **data: Any) -> None:
    """The launch template that `TEMPLATE` names launches into a reservation."""
    target = {"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}}
    data = {"CapacityReservationSpecification": target, **data}
    aws.answer(
        "ec2",
        "describe_launch_template_versions",
        {"LaunchTemplateVersions": [{"LaunchTemplateData": data}]},
        {"LaunchTemplateId": "lt-1", "Versions": ["3"]},
    )
