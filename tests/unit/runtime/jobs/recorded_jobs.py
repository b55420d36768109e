"""AWS Batch and CloudWatch Logs with one job that has ended, as a row of causes.yaml describes it."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from botocore.exceptions import ClientError
from tests.unit.runtime.jobs.stubbed_aws import ARN, LAUNCHED, NOW, QUEUE

from ultracluster_runtime.jobs.diagnose import Reason
from ultracluster_runtime.jobs.explanation import Explanation, explain_job

_ROWS = yaml.safe_load((Path(__file__).parent / "causes.yaml").read_text())
CAUSES = [cause for cause in _ROWS if "waits" not in cause]
WAITING = [cause for cause in _ROWS if "waits" in cause]
EXITED = "Essential container in task exited"


def is_run(cause: Mapping[str, Any]) -> bool:
    """Return whether a job of the local AWS shows the cause: a program can log its lines and end with its exit code."""
    return (
        "run" in cause
        or "waits" in cause
        or not cause.keys() & {"reason", "status_reason", "nodes", "children", "terminated"}
    )


def no_stack(**_: Any) -> Any:
    """Answer that no stack has the queue, so that no job of it resumes."""
    raise ClientError({"Error": {"Code": "ValidationError", "Message": "no"}}, "DescribeStackResources")


class Answers:
    """AWS Batch and CloudWatch Logs with one job that has ended."""

    def __init__(self, cause: Mapping[str, Any]) -> None:
        self.cause = cause
        nodes, children = cause.get("nodes", []), cause.get("children", [])
        self.job = self.part("one", cause) | (
            {
                "nodeProperties": {
                    "numNodes": len(nodes),
                    "mainNode": 0,
                    "nodeRangeProperties": [{"targetNodes": "0:", "container": {"command": LAUNCHED}}],
                }
            }
            if nodes
            else {}
        )
        parts = [(f"one#{index}", node) for index, node in enumerate(nodes)]
        parts += [(f"one:{index}", child) for index, child in enumerate(children)]
        self.parts = [self.part(name, said) for name, said in parts]
        if children:
            states = Counter(part["status"] for part in self.parts)
            self.job |= {
                "statusReason": "Array Child Job failed",
                "attempts": [],
                "arrayProperties": {"size": len(children), "statusSummary": states},
            }
        self.logs_read: list[str] = []

    def part(self, job_id: str, said: Mapping[str, Any]) -> dict[str, Any]:
        container: dict[str, Any] = {"logStreamName": f"log of {job_id}"}
        if "exit" in said:
            container["exitCode"] = said["exit"]
        if "reason" in said:
            container["reason"] = said["reason"]
        attempts = [{"container": container, "statusReason": said.get("status_reason", EXITED)}]
        settings: dict[str, Any] = {
            "container": {
                "command": said.get("command", LAUNCHED),
                "logConfiguration": {"logDriver": said.get("driver", "awslogs")},
            }
        }
        if containers := said.get("containers"):
            task = [{"name": name, "command": command} for name, command in containers.items()]
            settings = {"ecsProperties": {"taskProperties": [{"containers": task}]}}
            ended = [{"name": name, **container} for name in containers][:1]
            attempts = [{"taskProperties": [{"containers": ended}], "statusReason": EXITED}]
        if "attempts" in said:
            settings["retryStrategy"] = {
                "attempts": said["attempts"],
                "evaluateOnExit": said.get("evaluate", []),
            }
        return {
            **settings,
            "jobId": job_id,
            "jobName": "pretrain",
            "jobQueue": QUEUE,
            "jobDefinition": f"{ARN}:job-definition/pretrain:1",
            "status": said.get("status", "FAILED"),
            "statusReason": said.get("status_reason", EXITED),
            "isTerminated": said.get("terminated", False),
            "createdAt": 0,
            "startedAt": said.get("started", 1),
            "stoppedAt": said.get("stopped", 2),
            "attempts": attempts * (said.get("made", 1) if said.get("started", 1) else 0),
        }

    def client(self, service: str) -> Any:
        return {
            "batch": SimpleNamespace(
                describe_jobs=lambda jobs: {
                    "jobs": [one for one in [self.job, *self.parts] if one["jobId"] in jobs]
                },
                get_paginator=lambda _: SimpleNamespace(paginate=self.children),
            ),
            "logs": SimpleNamespace(get_log_events=self.events),
            "cloudformation": SimpleNamespace(describe_stack_resources=no_stack),
        }[service]

    def children(self, *, arrayJobId: str, jobStatus: str) -> Any:  # noqa: N803 - AWS's names
        assert arrayJobId == "one"
        return [{"jobSummaryList": [part for part in self.parts if part["status"] == jobStatus]}]

    def events(self, *, logStreamName: str, limit: int, startFromHead: bool, **_: Any) -> Any:  # noqa: N803 - AWS's names
        self.logs_read.append(logStreamName)
        lines = self.cause.get("log", [])
        if self.cause.get("refused"):
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "GetLogEvents")
        if not lines:
            raise ClientError(
                {"Error": {"Code": "ResourceNotFoundException", "Message": "no"}}, "GetLogEvents"
            )
        numbered = [{"timestamp": number, "message": line} for number, line in enumerate(lines)]
        return {"events": numbered[:limit] if startFromHead else numbered[-limit:]}

    def explained(self) -> Explanation:
        return explain_job("one", now=NOW, client=self.client)


def explained(**cause: Any) -> Explanation:
    return Answers(cause).explained()


def by_name(explanation: Explanation) -> dict[str, Reason]:
    return {reason.reason: reason for reason in explanation.reasons}
