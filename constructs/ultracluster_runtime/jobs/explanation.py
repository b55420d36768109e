"""Explain the state of a job: why it waits, why it failed, or what goes wrong while it runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS, problem_of
from ultracluster_runtime.jobs.closed_queues import explain_closed_queue
from ultracluster_runtime.jobs.describe import (
    describe_job,
    describe_pending_job,
)
from ultracluster_runtime.jobs.diagnose import Reason, diagnose
from ultracluster_runtime.jobs.failures import (
    Failure,
    explain_failure,
    explain_lost_nodes,
    read_failure,
)
from ultracluster_runtime.jobs.resumes import PENDING, explain_resume, has_resumes, read_resume

_RUNS_NO_JOBS = Reason(
    reason="local-aws-runs-no-jobs",
    evidence="this local AWS was started without --run-jobs: it keeps jobs, and runs none",
    remedy="To run jobs as processes of this machine: ultracluster local down, and "
    "ultracluster local up --run-jobs --image IMAGE=FOLDER, deploy and submit again",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why a job is in its state."""

    job_id: str
    state: str
    reasons: tuple[Reason, ...]
    last_lines: tuple[str, ...] = ()  # of the log of the node that ended first, if it failed
    wrote_nothing: bool = False  # whether the log of that node has no line
    unseen: tuple[str, ...] = ()  # what could not be read, and why


def explain_job(job_id: str, *, now: datetime, client: Clients, simulated: bool = False) -> Explanation:
    """Explain a job that AWS Batch knows (UC6205). All calls are read-only.

    Args:
        job_id: ID of the job.
        now: Time.
        client: Creates clients.
        simulated: Whether AWS is a local AWS that runs no jobs.
    """
    job = describe_job(job_id, client=client)
    pending = describe_pending_job(job, now=now, client=client)
    reasons, unseen = diagnose(pending), pending.unseen
    if simulated and job["status"] in {"SUBMITTED", "RUNNABLE", "STARTING"}:
        reasons.insert(0, _RUNS_NO_JOBS)
        unseen = ()  # nothing that it lacks keeps the job from running
    failure: Failure | None = None
    if job["status"] in {"FAILED", "RUNNING"} or _was_retried(job):
        failure = read_failure(job, client=client)
        reasons += explain_failure(job, failure)
        unseen += failure.unseen
    state = job["status"]
    if state == "SUCCEEDED" and "nodeProperties" in job:
        try:
            reasons += explain_lost_nodes(job, client=client)
        except AWS_ERRORS as error:
            unseen += (f"the nodes of the job: {problem_of(error)}",)
    if state == "FAILED":
        try:
            if resume := read_resume(job, client=client):
                (queue,) = client("batch").describe_job_queues(jobQueues=[job["jobQueue"]])["jobQueues"]
                closed = explain_closed_queue(queue, now=now, client=client) if resume.pending else None
                goes_on = explain_resume(resume, closed=closed, has_resumes=has_resumes(job))
                # A job that will be submitted again is not shown as one that failed.
                reasons = [goes_on, *reasons[1:]] if resume.pending else [*reasons, goes_on]
                state = PENDING if resume.pending else state
        except AWS_ERRORS as error:
            unseen += (f"whether it resumes: {problem_of(error)}",)
    return Explanation(
        job_id=job["jobId"],
        state=state,
        reasons=tuple(reasons),
        last_lines=failure.last_lines if failure and job["status"] == "FAILED" else (),
        wrote_nothing=bool(job["status"] == "FAILED" and failure and failure.logs and not failure.last_lines),
        unseen=unseen,
    )


def _was_retried(job: Mapping[str, Any]) -> bool:
    """Return whether a job that is to start has failed before, or some children of an array have."""
    failed = job.get("attempts") or job.get("arrayProperties", {}).get("statusSummary", {}).get("FAILED")
    return job["status"] in {"PENDING", "RUNNABLE", "STARTING"} and bool(failed)
