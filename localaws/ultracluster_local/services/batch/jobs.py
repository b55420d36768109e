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
from ultracluster_local.services.batch.pending import add_children, check_array, check_dependencies, settle
from ultracluster_local.services.batch.state import (
    FINAL_STATES,
    batch_of,
    finish_job,
    get,
    milliseconds,
    settings_of,
)
from ultracluster_local.services.batch.submission import check_submission
from ultracluster_local.services.handlers import Handlers, Request

__all__ = ["handlers", "set_job_status"]

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
    if array:
        check_array(array["size"], multi_node="nodeProperties" in definition)
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
def cancel_job(request: Request) -> Mapping[str, Any]:
    """Fail a job that has not started."""
    job = _job(request)
    if job["status"] in {"SUBMITTED", "PENDING", "RUNNABLE"}:
        job["isCancelled"] = True
        finish_job(job, reason=request.parameters["reason"])
    return {}


@handlers("TerminateJob")
def terminate_job(request: Request) -> Mapping[str, Any]:
    """Fail a job in any state."""
    job = _job(request)
    if job["status"] not in FINAL_STATES:
        job["isTerminated"] = True
        if job["jobId"] in batch_of(request.region).started:  # it fails when its containers have stopped
            job["statusReason"] = request.parameters["reason"]
        else:
            finish_job(job, reason=request.parameters["reason"])
    return {}


def _job(request: Request) -> dict[str, Any]:
    return get(batch_of(request.region).jobs, "jobId", request.parameters["jobId"].rsplit("/", 1)[-1])


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
