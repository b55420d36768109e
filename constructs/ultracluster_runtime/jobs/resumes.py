"""Read which ended jobs are resumed, from the table in which the cluster's `JobResume` keeps them. All calls are read-only."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError

from ultracluster_catalog.names.submission_tags import RESUME_OF_TAG, RESUME_TAG
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.jobs.diagnose import Reason
from ultracluster_runtime.lifecycle.reader import has_launcher

PENDING: Final = "RESUME_PENDING"
"""State that commands show of a job that has ended and will be submitted again; AWS Batch shows it as FAILED."""

_TABLE: Final = "AWS::DynamoDB::Table"
_CONSTRUCT: Final = "JobResume"  # ID of the construct, which the logical ID of its table contains


@dataclass(frozen=True, kw_only=True, slots=True)
class Resume:
    """What `JobResume` has recorded of a job that ended for a reason outside its program."""

    job_id: str
    name: str
    queue: str  # ARN
    reason: str
    left: int  # number of resumes left, with the one that is pending
    state: str  # waiting, sending, sent or over, as in resume/sweep.py
    next_id: str  # job that continues it; empty unless sent
    after: tuple[str, ...]  # jobs that it is to wait for
    nodes: int | None  # number of nodes of the new job, if it is not that of the definition

    @property
    def pending(self) -> bool:
        """Whether the job is still to be submitted again."""
        return self.state in {"waiting", "sending"}

    def waits_for(self, *, open_queue: bool) -> str:
        """Return what a pending resume waits for, and how many are left."""
        if self.after:
            what = f"the job that follows {', '.join(self.after)}"
        elif open_queue:
            what = "the function JobResume, which runs every minute"
        else:
            what = f"queue {self.queue.rpartition('/')[2]} to open with the next block or an extension"
        return f"{self.reason}; it waits for {what}; resumes left: {self.left}"


def resume_table(queue: str, *, client: Clients) -> str | None:
    """Return the name of the table of the `JobResume` in the stack of a queue; None without one."""
    cloudformation = client("cloudformation")
    try:
        resources = cloudformation.describe_stack_resources(PhysicalResourceId=queue)["StackResources"]
        # DescribeStackResources returns at most 100 resources (API Reference, read 2026-11).
        pages = cloudformation.get_paginator("list_stack_resources").paginate(
            StackName=resources[0]["StackName"]
        )
        return next(
            (
                str(resource["PhysicalResourceId"])
                for page in pages
                for resource in page["StackResourceSummaries"]
                if resource["ResourceType"] == _TABLE and _CONSTRUCT in resource["LogicalResourceId"]
            ),
            None,
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != "ValidationError":
            raise
        return None  # no stack has the queue


def pending_resumes(queues: Sequence[str], *, client: Clients) -> list[Resume]:
    """Return the jobs of some queues of one stack that are still to be submitted again."""
    table = resume_table(queues[0], client=client) if queues else None
    if table is None:
        return []
    resumes = (_resume(item) for item in _items(table, client))
    return [resume for resume in resumes if resume.pending and resume.queue in queues]


def _items(table: str, client: Clients) -> Iterator[Mapping[str, Any]]:
    for page in client("dynamodb").get_paginator("scan").paginate(TableName=table):
        yield from (item for item in page["Items"] if "queue" in item)


def read_resume(job: Mapping[str, Any], *, client: Clients) -> Resume | None:
    """Return what is recorded of a job that ended; None if it ended by itself, or a minute ago."""
    table = resume_table(job["jobQueue"], client=client)
    if table is None:
        return None
    item = client("dynamodb").get_item(TableName=table, Key={"id": {"S": job["jobId"]}}).get("Item")
    return _resume(item) if item else None


def _resume(item: Mapping[str, Any]) -> Resume:
    request = json.loads(item.get("request", {}).get("S", "{}"))
    return Resume(
        job_id=item["id"]["S"],
        name=item["name"]["S"],
        queue=item["queue"]["S"],
        reason=item["reason"]["S"],
        left=int(item["left"]["N"]),
        state=item["state"]["S"],
        next_id=item.get("next", {}).get("S", ""),
        after=tuple(entry["jobId"] for entry in request.get("dependsOn", ())),
        nodes=request.get("nodeOverrides", {}).get("numNodes"),
    )


def has_resumes(job: Mapping[str, Any]) -> bool:
    """Return whether a job could resume, or has been resumed: a tag of its own says so, or our launcher starts its program."""
    tags = job.get("tags", {})
    return (
        RESUME_OF_TAG in tags
        or tags.get(RESUME_TAG, "0") != "0"
        or (RESUME_TAG not in tags and has_launcher(job))
    )


def open_queues(queues: Iterable[str], *, client: Clients) -> set[str]:
    """Return the ARNs of those queues that accept jobs."""
    arns = sorted(set(queues))
    described = client("batch").describe_job_queues(jobQueues=arns)["jobQueues"] if arns else []
    return {queue["jobQueueArn"] for queue in described if queue["state"] == "ENABLED"}


def explain_resume(resume: Resume, *, closed: Reason | None, has_resumes: bool = True) -> Reason:
    """Return the reason that tells how an ended job goes on.

    `closed` says why its queue accepts no jobs, if so. A job of another tool `has_resumes` only if the tool set the tag.
    """
    if resume.state == "sent":
        return Reason(
            reason="resumed",
            evidence=f"{resume.reason}; it goes on as {resume.next_id}; resumes left: {resume.left - 1}",
            remedy=f"Nothing to do; for the job that goes on: ultracluster jobs why {resume.next_id}",
        )
    if resume.pending:
        evidence = resume.waits_for(open_queue=closed is None)
        return Reason(
            reason="resume-pending",
            evidence=f"{evidence} ({closed.evidence})" if closed and not resume.after else evidence,
            remedy=closed.remedy if closed and not resume.after else "Nothing to do: it is submitted again",
        )
    if resume.left == 0 and not has_resumes:
        return Reason(
            reason="no-resumes",
            evidence=f"{resume.reason}; the job was submitted without resumes",
            remedy=f"Submit it again, unless the tool that submitted it does; it resumes by itself with --resume or the tag {RESUME_TAG}",
        )
    none_left = ", and none of its resumes is left" if resume.left == 0 else "; it is not submitted again"
    return Reason(
        reason="no-resumes-left",
        evidence=f"{resume.reason}{none_left}",
        remedy="Submit it again: its program continues from the last checkpoint",
    )
