"""Lists of AWS Batch jobs: ListJobs with its filters, and the front of a queue."""

from collections.abc import Callable, Mapping
from typing import Any

from ultracluster_local.services.batch.pending import settle
from ultracluster_local.services.batch.state import Batch, batch_of, client_error, get, is_named, milliseconds
from ultracluster_local.services.handlers import Handlers, Request, page

__all__ = ["handlers"]

handlers = Handlers(service="batch")

_SUMMARIZED = (
    "jobArn",
    "jobId",
    "jobName",
    "createdAt",
    "shareIdentifier",
    "status",
    "statusReason",
    "startedAt",
    "stoppedAt",
    "jobDefinition",
    *("serviceJobType", "quotaShareName", "scheduledAt"),
)
_WITH_STATUS = frozenset({"SHARE_IDENTIFIER", "QUOTA_SHARE_NAME"})
_MOST_AT_FRONT = 100


def _is_of_definition(arn: str, wanted: str) -> bool:
    """Return whether a filter matches a definition: by name or ARN, with a revision or ``*`` for all of them."""
    name, definition = wanted.rsplit("job-definition/", 1)[-1], arn.rsplit("job-definition/", 1)[-1]
    return is_named(definition, name) or is_named(definition.rsplit(":", 1)[0], name)


_FILTERS: Mapping[str, Callable[[Mapping[str, Any], str], bool]] = {
    "JOB_NAME": lambda job, wanted: is_named(job["jobName"], wanted),
    "JOB_DEFINITION": lambda job, wanted: _is_of_definition(job["jobDefinition"], wanted),
    "BEFORE_CREATED_AT": lambda job, wanted: job["createdAt"] < int(wanted),
    "AFTER_CREATED_AT": lambda job, wanted: job["createdAt"] > int(wanted),
    "SHARE_IDENTIFIER": lambda job, wanted: job.get("shareIdentifier") == wanted,
    "QUOTA_SHARE_NAME": lambda job, wanted: job.get("quotaShareName") == wanted,
}
"""Filters of API_ListJobs and API_ListServiceJobs, botocore 1.44.5."""


@handlers("ListJobs")
@handlers("ListServiceJobs")
def list_jobs(request: Request) -> Mapping[str, Any]:
    """List the jobs of a queue with a status, by default RUNNING; a filter looks at all of them, the newest first."""
    batch = batch_of(request.region)
    settle(batch)
    jobs = batch.jobs if request.operation == "ListJobs" else batch.service_jobs
    named = [key for key in ("jobQueue", "arrayJobId", "multiNodeJobId") if request.parameters.get(key)]
    if len(named) != 1:  # API_ListJobs
        raise client_error(
            "You must specify only one of the following items: jobQueue, arrayJobId, multiNodeJobId"
        )
    shown = _of_parent(jobs, batch, request.parameters)
    conditions = request.parameters.get("filters") or []
    if len(conditions) > 1:
        raise client_error("Only one filter can be used at a time")
    if not conditions or (conditions[0]["name"] in _WITH_STATUS and request.parameters.get("jobStatus")):
        wanted = request.parameters.get("jobStatus", "RUNNING")
        shown = [job for job in shown if job["status"] == wanted]
    for condition in conditions:
        newest_first = _matching(shown[::-1], condition["name"], condition["values"])
        shown = sorted(newest_first, key=lambda job: -int(job["createdAt"]))
    summaries = [_summary(job) for job in shown]
    return page(
        summaries, parameters=request.parameters, key="jobSummaryList", default=1000, cursor="nextToken"
    )


def _of_parent(
    jobs: Mapping[str, dict[str, Any]], batch: Batch, given: Mapping[str, Any]
) -> list[dict[str, Any]]:
    if array := given.get("arrayJobId"):
        return [job for job in jobs.values() if job["jobId"].startswith(f"{array}:")]
    if multi_node := given.get("multiNodeJobId"):
        return [job for job in jobs.values() if job["jobId"].startswith(f"{multi_node}#")]
    queue = get(batch.queues, "jobQueueName", given["jobQueue"])
    return [
        job
        for job in jobs.values()
        if job["jobQueue"] == queue["jobQueueArn"]
        and "index" not in job.get("arrayProperties", {})
        and "nodeDetails" not in job
    ]


def _matching(jobs: list[dict[str, Any]], name: str, wanted: list[str]) -> list[dict[str, Any]]:
    if name not in _FILTERS:
        raise client_error(f"Invalid filter {name}: must be one of {', '.join(_FILTERS)}")
    if name.endswith("CREATED_AT") and not all(one.isdigit() for one in wanted):
        raise client_error(f"The value of the filter {name} must be a time in milliseconds")
    return [job for job in jobs if any(_FILTERS[name](job, one) for one in wanted)]


def _summary(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a list shows of a job (JobSummary, botocore 1.44.5)."""
    shown = {key: job[key] for key in _SUMMARIZED if key in job}
    array = {key: part for key, part in job.get("arrayProperties", {}).items() if key in {"size", "index"}}
    if array:
        shown["arrayProperties"] = array
    nodes = job.get("nodeProperties")
    if nodes:
        shown["nodeProperties"] = {"numNodes": nodes["numNodes"]}
    exit_code = (job.get("container") or {}).get("exitCode")
    if exit_code is not None:
        shown["container"] = {"exitCode": exit_code}
    return shown


@handlers("GetJobQueueSnapshot")
def get_job_queue_snapshot(request: Request) -> Mapping[str, Any]:
    """Return the first jobs that wait in a queue, by priority where it has shares, and by time."""
    batch = batch_of(request.region)
    settle(batch)
    queue = get(batch.queues, "jobQueueName", request.parameters["jobQueue"])
    waiting = _of_parent(batch.jobs | batch.service_jobs, batch, request.parameters)
    jobs = [job for job in waiting if job["status"] == "RUNNABLE"]
    shares = bool(queue.get("schedulingPolicyArn"))
    front = sorted(
        jobs, key=lambda job: (-job.get("schedulingPriority", 0) if shares else 0, job["createdAt"])
    )
    return {
        "frontOfQueue": {
            "jobs": [
                {"jobArn": job["jobArn"], "earliestTimeAtPosition": job["createdAt"]}
                for job in front[:_MOST_AT_FRONT]
            ],
            "lastUpdatedAt": milliseconds(),
        }
    }
