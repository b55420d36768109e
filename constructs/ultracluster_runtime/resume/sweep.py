"""Resubmit jobs in AWS, once for each ending, even if responses are lost or the function is killed.

SubmitJob has no client token, so each ending is an item in a table: ``waiting`` until its queue takes jobs, ``sending`` from
before the request, ``sent`` with the ID of the new job. An item that stays at ``sending`` tells of a lost response or a killed
function; then AWS Batch is asked whether there is a job that continues the old one.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from botocore.exceptions import ClientError

from ultracluster_catalog.names.submission_tags import RESUME_OF_TAG
from ultracluster_runtime.functions.clients import ONCE, Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.lifecycle.lease import LeasedState, LeaseHeldError
from ultracluster_runtime.lifecycle.observations import CHANGING
from ultracluster_runtime.lifecycle.reader import array_nodes, describe_jobs, list_jobs, resumes_left
from ultracluster_runtime.resume.endings import (
    Ending,
    ending_of,
    failed_dependencies,
    resubmission,
)

_log = logging.getLogger(__name__)

_BACK: Final = timedelta(hours=24)
"""How far back ended jobs are looked at; an event is lost or a function fails for less than that."""

_LOOK_UP_AFTER: Final = timedelta(minutes=5)
"""Time after which a job whose submission was not confirmed is certainly shown by AWS Batch, if there is one."""

_GONE: Final = "its job definition is deregistered"
_KEPT: Final = timedelta(days=90)
_SUBJECT_LIMIT: Final = 99  # subjects of Publish are below 100 characters
_LEASE_ITEM: Final = "lease"
_SERVER_ERROR: Final = 500
_THROTTLES: Final = ("ThrottlingException", "TooManyRequestsException")  # users cannot prevent these

_Item = dict[str, Any]


class ResumeError(Exception):
    """Some jobs could not be read or submitted; the message lists all problems. The next run tries again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResumedQueues:
    """Queues whose jobs are resubmitted."""

    job_queues: tuple[str, ...]
    table: str  # name of the table of endings
    topic: str | None = None  # ARN of the SNS topic for notices


def sweep(queues: ResumedQueues, clients: Clients, now: datetime, *, owner: str) -> None:
    """Record the endings of jobs, and resubmit those whose queue accepts jobs, unless another `owner` does so now."""
    lease = LeasedState(client=clients("dynamodb"), table=queues.table, item=_LEASE_ITEM, owner=owner)
    try:
        lease.acquire(now)
    except LeaseHeldError:
        return
    run = _Sweep(queues, clients, now)
    try:
        run.perform()
    finally:
        lease.release()
    if run.errors:
        raise ResumeError("; ".join(f"{type(error).__name__}: {error}" for error in run.errors))


class _Sweep:
    def __init__(self, queues: ResumedQueues, clients: Clients, now: datetime) -> None:
        self._queues = queues
        self._clients = clients
        self._now = now
        self._seconds = int(now.timestamp())
        self._known: dict[str, _Item] = {}  # endings by the IDs of their jobs
        self.errors: list[Exception] = []

    def perform(self) -> None:
        self._known = {item["id"]["S"]: item for item in self._items() if item["id"]["S"] != _LEASE_ITEM}
        for queue in self._queues.job_queues:
            for job in self._ended(queue):
                try:
                    if item := self._record_ending(job):
                        self._known[item["id"]["S"]] = item
                except AWS_ERRORS as error:
                    self.errors.append(error)
        for item in self._known.values():
            try:
                self._continue_item(item)
            except AWS_ERRORS as error:
                self.errors.append(error)

    # What has ended

    def _items(self) -> Iterator[_Item]:
        pages = (
            self._clients("dynamodb")
            .get_paginator("scan")
            .paginate(TableName=self._queues.table, ConsistentRead=True)
        )
        for page in pages:
            yield from page["Items"]

    def _ended(self, queue: str) -> Sequence[Mapping[str, Any]]:
        since = (self._now - _BACK).timestamp() * 1000
        job_ids = [
            job["jobId"]
            for job in list_jobs(self._clients("batch"), ["FAILED"], jobQueue=queue)
            if job.get("stoppedAt", 0) >= since and job["jobId"] not in self._known
        ]
        return self._details(job_ids)

    def _details(self, job_ids: Iterable[str]) -> Sequence[Mapping[str, Any]]:
        return describe_jobs(self._clients("batch"), list(job_ids))

    def _record_ending(self, job: Mapping[str, Any]) -> _Item | None:
        ending, after = self._dependent_ending(failed_dependencies(job))
        ending = ending or self._own_ending(job)
        if ending is None:
            return None
        definition = self._definition(job["jobDefinition"])
        # A job that never ran uses no resume.
        left = resumes_left(job, definition or {}) + bool(after)
        if (
            definition is None
        ):  # AWS Batch describes deregistered definitions for 180 days (User Guide, read 2026-11)
            ending, left = replace(ending, reason=f"{ending.reason}, and {_GONE}"), 0
        item: _Item = {
            "id": {"S": job["jobId"]},
            "state": {"S": "waiting" if left else "over"},
            "name": {"S": job["jobName"]},
            "queue": {"S": job["jobQueue"]},
            "reason": {"S": ending.reason},
            "left": {"N": str(left)},
            "expires": {"N": str(self._seconds + int(_KEPT.total_seconds()))},
            "told": {"S": ""},
        }
        if left and definition is not None:
            item["request"] = {"S": json.dumps(resubmission(job, definition, left=left - 1, after=after))}
        try:
            self._clients("dynamodb").put_item(
                TableName=self._queues.table, Item=item, ConditionExpression="attribute_not_exists(id)"
            )
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                return None  # an earlier request created it and its response was lost; the next run reads it
            raise
        _log.info(json.dumps({"job": job["jobId"], "ending": ending.kind, "resumes_left": left}))
        return item

    def _own_ending(self, job: Mapping[str, Any]) -> Ending | None:
        count = int(job.get("nodeProperties", {}).get("numNodes", 0))
        part = "#"
        if job.get("arrayProperties"):
            count, part = array_nodes(job), ":"
            if not count:
                return None  # its children are jobs of their own, which AWS Batch retries
        return ending_of(job, self._details(f"{job['jobId']}{part}{index}" for index in range(count)))

    def _dependent_ending(self, after: Sequence[str]) -> tuple[Ending | None, tuple[str, ...]]:
        """Return the ending of a job whose dependencies go on, and those that the new job waits for."""
        resumed = {job_id for job_id in after if job_id in self._known}
        others = self._details(job_id for job_id in after if job_id not in resumed)
        over = any(self._known[job_id]["state"]["S"] == "over" for job_id in resumed)
        if not resumed or over or any(job["status"] == "FAILED" for job in others):
            return None, ()
        names = ", ".join(sorted(self._known[job_id]["name"]["S"] for job_id in resumed))
        running = {job["jobId"] for job in others if job["status"] != "SUCCEEDED"}
        ending = Ending(kind="dependent", reason=f"it waited for {names}, which goes on")
        return ending, tuple(job_id for job_id in after if job_id in resumed | running)

    # Jobs that continue

    def _continue_item(self, item: _Item) -> None:
        job_id, state = item["id"]["S"], item["state"]["S"]
        if state == "sending" and self._seconds - int(item["at"]["N"]) >= _LOOK_UP_AFTER.total_seconds():
            next_id = self._find(json.loads(item["request"]["S"]), job_id)
            if next_id is None:
                item |= self._move(job_id, "sending", "waiting")
            else:
                item |= self._move(job_id, "sending", "sent", next={"S": next_id})
        if item["state"]["S"] == "waiting" and not self._active_definition(item):
            reason = f"{item['reason']['S']}, and {_GONE}"
            item |= self._move(job_id, "waiting", "over", reason={"S": reason})
        if item["state"]["S"] == "over":
            gone = item["reason"]["S"].endswith(_GONE)
            why = "register the definition" if gone else f"{_times(0)} of its resumes are left"
            self._tell(item, "over", f"It is not submitted again: {why}.")
        elif item["state"]["S"] == "waiting":
            request = self._after_the_newest(json.loads(item["request"]["S"]))
            if request is None:
                self._tell(item, "waiting", "It is submitted again after the job that it waits for.")
            elif self._accepts_jobs(item["queue"]["S"]):
                item |= self._submit(item, request)
            else:
                self._tell(
                    item,
                    "waiting",
                    "Its queue is closed: it is submitted again with the next block or extension.",
                )
        if item["state"]["S"] == "sent":
            left = int(item["left"]["N"]) - 1
            self._tell(
                item, "sent", f"It goes on as {item['next']['S']}; {_times(left)} of its resumes are left."
            )

    def _accepts_jobs(self, queue: str) -> bool:
        """Return whether a queue accepts jobs, and none of its environments is open only because it is being modified."""
        (description,) = self._clients("batch").describe_job_queues(jobQueues=[queue])["jobQueues"]
        if description["state"] != "ENABLED" or description.get("status", "VALID") in CHANGING:
            return False
        arns = [entry["computeEnvironment"] for entry in description["computeEnvironmentOrder"]]
        environments = self._clients("batch").describe_compute_environments(computeEnvironments=arns)
        return not any(
            environment.get("status", "VALID") in CHANGING
            for environment in environments["computeEnvironments"]
        )

    def _after_the_newest(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Return a request that waits for the newest jobs of its dependencies; None while one is not submitted again."""
        for entry in request.get("dependsOn", []):
            while (other := self._known.get(entry["jobId"])) and other["state"]["S"] != "over":
                if other["state"]["S"] != "sent":
                    return None
                entry["jobId"] = other["next"]["S"]
        return request

    def _submit(self, item: _Item, request: dict[str, Any]) -> _Item:
        job_id = item["id"]["S"]
        request["jobDefinition"] = self._active_definition(item)
        changes = self._move(job_id, "waiting", "sending", at={"N": str(self._seconds)})
        try:
            response = self._clients("batch", config=ONCE).submit_job(**request)
        except ClientError as error:
            if error.response["ResponseMetadata"].get("HTTPStatusCode", _SERVER_ERROR) >= _SERVER_ERROR:
                raise  # the job may have been submitted nevertheless
            changes |= self._move(job_id, "sending", "waiting")
            if error.response["Error"]["Code"] not in _THROTTLES:
                refusal = f"AWS Batch refuses it, and it is tried again: {error}"
                self._tell({**item, **changes}, "refused", refusal)
            raise
        return changes | self._move(job_id, "sending", "sent", next={"S": response["jobId"]})

    def _definition(self, arn: str) -> Mapping[str, Any] | None:
        described = self._clients("batch").describe_job_definitions(jobDefinitions=[arn])["jobDefinitions"]
        return next(iter(described), None)

    def _active_definition(self, item: _Item) -> str:
        """Return the definition of a waiting job, or its newest revision if CloudFormation has replaced it since; empty without one."""
        batch = self._clients("batch")
        arn = str(json.loads(item["request"]["S"])["jobDefinition"])
        definition = self._definition(arn)
        if definition is None:
            return ""
        if definition["status"] == "ACTIVE":
            return arn
        active = [
            revision
            for page in batch.get_paginator("describe_job_definitions").paginate(
                jobDefinitionName=definition["jobDefinitionName"], status="ACTIVE"
            )
            for revision in page["jobDefinitions"]
        ]
        newest = max(active, key=lambda revision: int(revision["revision"]), default={"jobDefinitionArn": ""})
        return str(newest["jobDefinitionArn"])

    def _find(self, request: Mapping[str, Any], job_id: str) -> str | None:
        """Return the ID of the job that continues another one, if AWS Batch has it."""
        pages = (
            self._clients("batch")
            .get_paginator("list_jobs")
            .paginate(
                jobQueue=request["jobQueue"], filters=[{"name": "JOB_NAME", "values": [request["jobName"]]}]
            )
        )
        found = [job["jobId"] for page in pages for job in page["jobSummaryList"]]
        return next(
            (
                job["jobId"]
                for job in self._details(found)
                if job.get("tags", {}).get(RESUME_OF_TAG) == job_id
            ),
            None,
        )

    def _move(self, job_id: str, before: str, after: str, **attributes: Mapping[str, str]) -> _Item:
        """Change the state of an ending; refused unless it is the expected one."""
        names = {f"#{name}": name for name in attributes}
        self._clients("dynamodb").update_item(
            TableName=self._queues.table,
            Key={"id": {"S": job_id}},
            UpdateExpression="SET "
            + ", ".join(["#state = :after", *(f"#{name} = :{name}" for name in attributes)]),
            ConditionExpression="#state = :before",
            ExpressionAttributeNames={"#state": "state", **names},
            ExpressionAttributeValues={
                ":before": {"S": before},
                ":after": {"S": after},
                **{f":{name}": value for name, value in attributes.items()},
            },
        )
        return {"state": {"S": after}, **attributes}

    def _tell(self, item: _Item, what: str, text: str) -> None:
        """Publish a notice once; it is sent again if the function is killed before it records the notice."""
        if what in item["told"]["S"].split() or self._queues.topic is None:
            return
        name, job_id = item["name"]["S"], item["id"]["S"]
        outcome = {"over": "ended", "waiting": "waits", "refused": "waits", "sent": "goes on"}[what]
        self._clients("sns").publish(
            TopicArn=self._queues.topic,
            Subject=f"Job {name} {outcome}: {item['reason']['S']}"[:_SUBJECT_LIMIT],
            Message=f"Job {name} ({job_id}) ended: {item['reason']['S']}. {text}",
        )
        told = f"{item['told']['S']} {what}".strip()
        item["told"] = {"S": told}
        self._clients("dynamodb").update_item(
            TableName=self._queues.table,
            Key={"id": {"S": job_id}},
            UpdateExpression="SET #told = :told",
            ExpressionAttributeNames={"#told": "told"},
            ExpressionAttributeValues={":told": {"S": told}},
        )


def _times(left: int) -> str:
    return "none" if left == 0 else str(left)
