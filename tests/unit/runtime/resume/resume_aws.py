"""A fake of the AWS calls of `JobResume` behind real boto3 clients: botocore validates requests and responses.

It is a fake: jobs, one queue with one environment and one table in dictionaries, failing where a test wants it to.
"""
# ruff: noqa: N802 - each method is named as the call that it answers

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.unit.runtime.lifecycle.lifecycle_aws import ENVIRONMENT, QUEUE, TOPIC, FakeAws, refusal

from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_runtime.resume.sweep import ResumedQueues

NOW = datetime(2026, 12, 2, 10, 50, tzinfo=UTC)
DEFINITION = "arn:aws:batch:us-east-2:123456789012:job-definition/pretrain:3"
QUEUES = ResumedQueues(job_queues=(QUEUE,), table="endings", topic=TOPIC)
DRAINED = "ultracluster: Capacity Block cr-0123456789abcdef0 ends 2026-12-02 11:30 UTC"


def container(**changes: Any) -> dict[str, Any]:
    return {"image": "training", "command": ["python3", LAUNCHER_PATH, "raw", "train.py"], **changes}


def multi_node(job_id: str, **changes: Any) -> dict[str, Any]:
    """A job on four nodes as AWS Batch describes it."""
    given = {
        "jobId": job_id,
        "jobName": "pretrain",
        "jobQueue": QUEUE,
        "jobDefinition": DEFINITION,
        "status": "RUNNING",
        "startedAt": 1,
        "createdAt": 1,
        "tags": {"ultracluster:resume": "3"},
        "nodeProperties": {
            "numNodes": 4,
            "mainNode": 0,
            "nodeRangeProperties": [{"targetNodes": "0:3", "container": container()}],
        },
    }
    return given | changes


def definition(revision: int, **changes: Any) -> dict[str, Any]:
    """The definition of such a job."""
    given = {
        "jobDefinitionName": "pretrain",
        "jobDefinitionArn": f"{DEFINITION.rpartition(':')[0]}:{revision}",
        "revision": revision,
        "status": "ACTIVE",
        "type": "multinode",
        "tags": {},
        "nodeProperties": {
            "numNodes": 4,
            "mainNode": 0,
            "nodeRangeProperties": [{"targetNodes": "0:", "container": container()}],
        },
    }
    return given | changes


def drained(job_id: str = "11111111-0000", **changes: Any) -> dict[str, Any]:
    stopped = int((NOW - timedelta(minutes=1)).timestamp() * 1000)
    ended = {"status": "FAILED", "statusReason": DRAINED, "isTerminated": True, "stoppedAt": stopped}
    return multi_node(job_id, **(ended | changes))


def dependent(job_id: str = "99999999-0000", *after: str, **changes: Any) -> dict[str, Any]:
    """A job that AWS Batch has failed because a job before it failed."""
    ended = drained(
        job_id,
        jobName="evaluate",
        startedAt=0,
        statusReason="Dependent Job failed",
        isTerminated=False,
        tags={},
        dependsOn=[{"jobId": one} for one in after or ("11111111-0000",)],
    )
    return ended | changes


class ResumeAws(FakeAws):
    """One queue in front of one environment, with the jobs that a test puts there."""

    tables = frozenset({"endings"})

    def __init__(self, *jobs: dict[str, Any]) -> None:
        super().__init__()
        self.described: dict[str, dict[str, Any]] = {job["jobId"]: job for job in jobs}
        self.items: dict[str, dict[str, Any]] = {}
        self.submitted: list[dict[str, Any]] = []
        self.definition_tags: dict[str, str] = {}
        self.revisions: tuple[int, ...] = ()  # that replaced the one of the jobs
        self.deregistered = False  # whether the definition of the jobs is, without another revision
        self.forgotten = False  # whether AWS Batch no longer describes it
        self.minutes = 0

    def _ListJobs(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert asked["jobQueue"] == QUEUE
        if "filters" in asked:
            ((name,),) = [entry["values"] for entry in asked["filters"]]
            shown = [job for job in self.described.values() if job["jobName"] == name]
        else:
            shown = [job for job in self.described.values() if job["status"] == asked["jobStatus"]]
        members = ("jobId", "jobName", "createdAt", "stoppedAt", "status", "statusReason")
        return {
            "jobSummaryList": [
                {member: job[member] for member in members if member in job}
                for job in shown
                if not {"#", ":"} & {*job["jobId"]}
            ]
        }

    def _DescribeJobs(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"jobs": [self.described[job] for job in asked["jobs"] if job in self.described]}

    def _DescribeJobDefinitions(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if "jobDefinitions" not in asked:
            assert (asked["jobDefinitionName"], asked["status"]) == ("pretrain", "ACTIVE")
            return {
                "jobDefinitions": [
                    definition(revision, tags=self.definition_tags) for revision in self.revisions
                ]
            }
        assert asked["jobDefinitions"] == [DEFINITION]
        if self.forgotten:
            return {"jobDefinitions": []}
        inactive = bool(self.revisions) or self.deregistered
        return {
            "jobDefinitions": [
                definition(3, status="INACTIVE" if inactive else "ACTIVE", tags=self.definition_tags)
            ]
        }

    def _SubmitJob(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if self.queue_state != "ENABLED":
            raise refusal("ClientException")
        job_id = f"{len(self.submitted) + 2}" * 8 + "-0000"
        self.submitted.append(dict(asked))
        self.described[job_id] = multi_node(
            job_id, jobName=asked["jobName"], tags=asked["tags"], status="RUNNABLE"
        )
        return {"jobId": job_id, "jobName": asked["jobName"]}

    def change_environment(self, status: str) -> None:
        self.environments[ENVIRONMENT]["status"] = status

    # DynamoDB, as far as the endings use it

    def _Scan(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert asked["ConsistentRead"] is True
        return {"Items": [{"id": {"S": key}, **item} for key, item in self.items.items()]}

    def _PutItem(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert asked["ConditionExpression"] == "attribute_not_exists(id)"
        key = asked["Item"]["id"]["S"]
        if key in self.items:
            raise refusal("ConditionalCheckFailedException")
        self.items[key] = dict(asked["Item"])
        return {}
