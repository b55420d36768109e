"""A fake of AWS Batch with one job, and of CloudFormation with its cluster."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError

QUEUE = "arn:aws:batch:us-east-2:123456789012:job-queue/training"


URGENT = f"{QUEUE}-urgent"


RESOURCES = [("AWS::Batch::JobQueue", QUEUE), ("AWS::Batch::JobDefinition", "pretrain:1")]


JOB = {
    "jobId": "one",
    "jobName": "pretrain",
    "jobQueue": QUEUE,
    "status": "RUNNING",
    "createdAt": 0,
    "startedAt": 60_000,
    "shareIdentifier": "default",
}


DEFINITION = {
    "jobDefinitionName": "pretrain",
    "revision": 1,
    "jobDefinitionArn": "arn:aws:batch:us-east-2:123456789012:job-definition/pretrain:1",
    "status": "ACTIVE",
    "containerProperties": {"logConfiguration": {"options": {"awslogs-stream-prefix": "evaluate"}}},
}


def refuse(code: str) -> Callable[..., Any]:
    def refuse(**_: Any) -> Any:
        raise ClientError({"Error": {"Code": code, "Message": "it says no"}}, "AnyCall")

    return refuse


class Fake:
    """The calls that the commands make, by name; a test changes their answers."""

    def __init__(self) -> None:
        self.stacks = {"quickstart-us-east-2-Cluster": RESOURCES, "two": RESOURCES[:1] * 2, "own": RESOURCES}
        self.stacks["team"] = [*RESOURCES, ("AWS::Batch::JobQueue", URGENT)]
        self.jobs = [JOB]
        self.submitted: dict[str, Any] = {}
        self.snapshot: Callable[..., Any] = lambda **_: {"frontOfQueue": {"jobs": []}}
        self.terminated: list[str] = []
        self.configs: list[Any] = []  # with which clients were asked for
        self.log: list[str] = []

    def client(self, service: str, _: object) -> Any:
        return {
            "cloudformation": SimpleNamespace(
                get_paginator=self.pages, describe_stack_resources=refuse("ValidationError")
            ),
            "batch": self.batch(),
            "logs": SimpleNamespace(get_log_events=self.events),
        }[service]

    def events(self, **_: Any) -> Any:
        return {"events": [{"timestamp": 0, "message": line} for line in self.log], "nextForwardToken": "end"}

    def pages(self, call: str) -> Any:
        def resources(StackName: str) -> Any:  # noqa: N803 - the name is AWS's
            if StackName not in self.stacks:
                return refuse("ValidationError")()
            kinds = self.stacks[StackName]
            return [
                {
                    "StackResourceSummaries": [
                        {"ResourceType": kind, "PhysicalResourceId": name} for kind, name in kinds
                    ]
                }
            ]

        def jobs(jobStatus: str = "", filters: Any = (), **_: Any) -> Any:  # noqa: N803 - the name is AWS's
            names = [name for one in filters for name in one["values"]]
            return [
                {
                    "jobSummaryList": [
                        one for one in self.jobs if one["status"] == jobStatus or one["jobName"] in names
                    ]
                }
            ]

        def queues() -> Any:
            return [{"jobQueues": [{"jobQueueArn": QUEUE}]}]

        calls = {"list_stack_resources": resources, "list_jobs": jobs, "describe_job_queues": queues}
        return SimpleNamespace(paginate=calls[call])

    def batch(self) -> Any:
        queue = {
            "jobQueueName": "training",
            "jobQueueArn": QUEUE,
            "state": "ENABLED",
            "computeEnvironmentOrder": [],
            "schedulingPolicyArn": "arn",
        }
        return SimpleNamespace(
            get_paginator=self.pages,
            describe_job_queues=lambda jobQueues: {  # noqa: N803 - the name is AWS's
                "jobQueues": [queue | self.tags(arn) for arn in jobQueues]
            },
            describe_jobs=lambda jobs: {"jobs": [one for one in self.jobs if one["jobId"] in jobs]},
            describe_job_definitions=lambda **_: {"jobDefinitions": [DEFINITION]},
            get_job_queue_snapshot=self.snapshot,
            submit_job=self.submit_job,
            terminate_job=lambda jobId, **_: self.terminated.append(jobId),  # noqa: N803 - the name is AWS's
        )

    def tags(self, arn: str) -> dict[str, Any]:
        return {"jobQueueArn": arn} | (
            {"tags": {"ultracluster:queue-name": "urgent"}} if arn == URGENT else {}
        )

    def submit_job(self, **given: Any) -> Any:
        self.submitted = given
        return {"jobId": "one", "jobArn": "arn"}
