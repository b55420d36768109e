"""AWS Batch jobs. moto runs them in Docker; here they wait in RUNNABLE until `ultracluster_local.jobs` runs them.

It does so only if the local AWS was told to run jobs. Without it, tests move jobs with `set_job_status`.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from ultracluster_local.instance.clients import service_model
from ultracluster_local.services.batch.containers import with_lists
from ultracluster_local.services.batch.job_definitions import find_definition
from ultracluster_local.services.batch.overrides import are_too_long, with_overrides
from ultracluster_local.services.batch.pending import add_children, check_dependencies, settle
from ultracluster_local.services.batch.state import (
    FINAL_STATES,
    batch_of,
    client_error,
    finish_job,
    get,
    milliseconds,
    settings_of,
)
from ultracluster_local.services.batch.submission import check_submission
from ultracluster_local.services.handlers import Handlers, Request

__all__ = ["handlers", "set_job_status"]

_NOT_STARTED = frozenset({"SUBMITTED", "PENDING", "RUNNABLE"})

handlers = Handlers(service="batch")


@handlers("SubmitJob")
def submit_job(request: Request) -> Mapping[str, Any]:
    """Queue a job, in RUNNABLE, or in PENDING until other jobs have succeeded."""
    given = settings_of(request)
    batch = batch_of(request.region)
    queue = get(batch.queues, "jobQueueName", given["jobQueue"])
    definition = find_definition(request, given["jobDefinition"])
    check_submission(batch, queue, definition, given)
    shape = service_model("batch").operation_model(request.operation).input_shape
    given = with_lists(given, shape)
    dependencies = given.get("dependsOn") or []
    array = given.get("arrayProperties")
    check_dependencies(batch, dependencies, size=(array or {}).get("size", 0))
    if array and "nodeProperties" in definition:
        raise client_error("Array properties are not supported for multi-node parallel jobs")
    job_id = str(uuid.uuid4())
    job: dict[str, Any] = {
        "jobArn": request.arn("batch", f"job/{job_id}"),
        "jobId": job_id,
        "jobName": given["jobName"],
        "jobQueue": queue["jobQueueArn"],
        "jobDefinition": definition["jobDefinitionArn"],
        # An array job stays PENDING while its child jobs progress.
        "status": "PENDING" if array or dependencies else "RUNNABLE",
        "createdAt": milliseconds(),
        "dependsOn": dependencies,
        "parameters": definition["parameters"] | (given.get("parameters") or {}),
        "tags": given.get("tags") or {},
        # What else AWS answers for a job on instances was recorded in public logs (2025-05-27, 2025-10-23).
        "attempts": [],
        "eksAttempts": [],
        "platformCapabilities": [],
    }
    for key in ("retryStrategy", "timeout", "schedulingPriority", "propagateTags", "platformCapabilities"):
        value = given.get(key, definition.get(key))
        if value is not None:
            job[key] = value
    asked = given.get("consumableResourcePropertiesOverride") or definition.get(
        "consumableResourceProperties"
    )
    if asked:
        job["consumableResourceProperties"] = asked
    job |= with_overrides(definition, given)
    for key in ("shareIdentifier", "schedulingPriorityOverride"):
        if key in given:
            job["schedulingPriority" if key == "schedulingPriorityOverride" else key] = given[key]
    batch.jobs[job_id] = job
    if are_too_long(given):
        batch.oversized.add(job_id)
    if array:
        add_children(batch, job, array["size"])
    return {"jobArn": job["jobArn"], "jobName": job["jobName"], "jobId": job_id}


@handlers("DescribeJobs")
def describe_jobs(request: Request) -> Mapping[str, Any]:
    """Describe the named jobs; as in AWS, unknown IDs are omitted."""
    settle(batch_of(request.region))
    jobs = batch_of(request.region).jobs
    return {
        "jobs": [
            jobs[one.rsplit("/", 1)[-1]]
            for one in request.parameters["jobs"]
            if one.rsplit("/", 1)[-1] in jobs
        ]
    }


@handlers("CancelJob")
@handlers("CancelJobs")
@handlers("TerminateJob")
@handlers("TerminateJobs")
@handlers("TerminateServiceJob")
@handlers("TerminateServiceJobs")
def end_jobs(request: Request) -> Mapping[str, Any]:
    """Fail jobs, canceled ones only if they have not started; an unknown one is no error (aws/aws-cli#2551, 2017-04-14)."""
    given, batch = request.parameters, batch_of(request.region)
    canceled, wanted = request.operation.startswith("Cancel"), given.get("jobs") or [given.get("jobId")]
    jobs = batch.service_jobs if "Service" in request.operation else batch.jobs
    for job_id in wanted:
        job = jobs.get(str(job_id).rsplit("/", 1)[-1])
        if job is None or job["status"] in FINAL_STATES or (canceled and job["status"] not in _NOT_STARTED):
            continue
        job["isCancelled" if canceled else "isTerminated"] = True
        if not canceled and job["jobId"] in batch.started:  # it fails when its containers have stopped
            job["statusReason"] = given["reason"]
        else:
            finish_job(job, reason=given["reason"])
    return {"successful": wanted, "errors": []} if "jobs" in given else {}


def set_job_status(*, region: str, job_id: str, status: str, reason: str = "") -> None:
    """Set the status of a job, which changes in no other way here.

    Args:
        region: Region of the job.
        job_id: Job ID of SubmitJob.
        status: Job status, such as ``RUNNING``.
        reason: Status reason. Default: none.

    Raises:
        KeyError: If there is no such job.
    """
    job = batch_of(region).jobs[job_id]
    job["status"] = status
    job["statusReason"] = reason
    if status == "RUNNING":
        job["startedAt"] = milliseconds()
    if status in FINAL_STATES:
        job["stoppedAt"] = milliseconds()
