"""AWS Batch job definitions and jobs, stored unchanged.

moto drops `nodeProperties` and runs jobs in Docker. Here nothing runs: a submitted job waits in RUNNABLE, and tests move it
with `set_job_status`.
"""

import copy
import uuid
from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.pending import (
    add_children,
    check_array,
    check_dependencies,
    settle,
)
from ultracluster_local.services.batch.state import (
    FINAL_STATES,
    batch_of,
    client_error,
    finish_job,
    get,
    milliseconds,
)
from ultracluster_local.services.handlers import Handlers, Request, page

__all__ = ["handlers", "set_job_status"]

handlers = Handlers(service="batch")


# Job definitions


@handlers("RegisterJobDefinition")
def register_job_definition(request: Request) -> Mapping[str, Any]:
    """Register a revision of a job definition."""
    given = copy.deepcopy(dict(request.parameters))
    if given["type"] == "multinode":
        nodes = given.get("nodeProperties")
        if not nodes:
            raise client_error("nodeProperties must be provided for a multinode job definition")
        if not 0 <= nodes["mainNode"] < nodes["numNodes"]:
            raise client_error(f"mainNode {nodes['mainNode']} must be below numNodes {nodes['numNodes']}")
    elif not (given.get("containerProperties") or given.get("ecsProperties")):
        raise client_error("containerProperties must be provided for a container job definition")
    batch = batch_of(request.region)
    name = given["jobDefinitionName"]
    revision = batch.revisions[name] = batch.revisions.get(name, 0) + 1
    arn = request.arn("batch", f"job-definition/{name}:{revision}")
    batch.definitions[arn] = {
        "tags": {},
        "parameters": {},
        "containerOrchestrationType": "ECS",
        **given,
        "jobDefinitionArn": arn,
        "revision": revision,
        "status": "ACTIVE",
    }
    return {"jobDefinitionName": name, "jobDefinitionArn": arn, "revision": revision}


def _definition(request: Request, wanted: str) -> dict[str, Any]:
    """Find a job definition by ARN, ``name:revision``, or name (the latest active revision)."""
    definitions = batch_of(request.region).definitions
    if wanted in definitions:
        return definitions[wanted]
    matches = [
        one
        for one in definitions.values()
        if wanted in (one["jobDefinitionName"], f"{one['jobDefinitionName']}:{one['revision']}")
    ]
    active = [one for one in matches if one["status"] == "ACTIVE"]
    if not active:
        raise client_error(f"Job definition {wanted} does not exist or is not active")
    return max(active, key=lambda one: int(one["revision"]))


@handlers("DescribeJobDefinitions")
def describe_job_definitions(request: Request) -> Mapping[str, Any]:
    """Describe job definitions by ARN, name and status."""
    shown = list(batch_of(request.region).definitions.values())
    wanted = request.parameters.get("jobDefinitions")
    if wanted:
        shown = [
            one
            for one in shown
            if one["jobDefinitionArn"] in wanted or f"{one['jobDefinitionName']}:{one['revision']}" in wanted
        ]
    if request.parameters.get("jobDefinitionName"):
        shown = [one for one in shown if one["jobDefinitionName"] == request.parameters["jobDefinitionName"]]
    if request.parameters.get("status"):
        shown = [one for one in shown if one["status"] == request.parameters["status"]]
    return page(shown, parameters=request.parameters, key="jobDefinitions", cursor="nextToken")


@handlers("DeregisterJobDefinition")
def deregister_job_definition(request: Request) -> Mapping[str, Any]:
    """Make a revision INACTIVE; it stays visible, as in AWS for 180 days."""
    _definition(request, request.parameters["jobDefinition"])["status"] = "INACTIVE"
    return {}


# Jobs


@handlers("SubmitJob")
def submit_job(request: Request) -> Mapping[str, Any]:
    """Queue a job. It never runs: it waits in RUNNABLE, or in PENDING for others, until a test moves it or them."""
    given = copy.deepcopy(dict(request.parameters))
    batch = batch_of(request.region)
    queue = get(batch.queues, "jobQueueName", given["jobQueue"])
    if queue["state"] != "ENABLED":
        raise client_error(f"Job queue {queue['jobQueueName']} is not enabled")
    definition = _definition(request, given["jobDefinition"])
    _check_priority(queue, definition, given)
    dependencies = given.get("dependsOn") or []
    check_dependencies(batch, dependencies)
    array = given.get("arrayProperties")
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
    for key in ("nodeProperties", "retryStrategy", "timeout"):
        value = given.get(key, definition.get(key))
        if value is not None:
            job[key] = value
    if "containerProperties" in definition:
        job["container"] = {**definition["containerProperties"], **(given.get("containerOverrides") or {})}
    for key in ("shareIdentifier", "schedulingPriorityOverride"):
        if key in given:
            job["schedulingPriority" if key == "schedulingPriorityOverride" else key] = given[key]
    batch.jobs[job_id] = job
    if array:
        add_children(batch, job, array["size"])
    return {"jobArn": job["jobArn"], "jobName": job["jobName"], "jobId": job_id}


def _check_priority(
    queue: Mapping[str, Any], definition: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    priority = given.get("schedulingPriorityOverride", definition.get("schedulingPriority"))
    if queue.get("schedulingPolicyArn"):
        if priority is None:  # AWS's answer, from nextflow-io/nextflow#3505
            raise client_error(
                "Either schedulingPriority in job definition or schedulingPriorityOverride should be specified."
            )
    elif priority is not None or given.get("shareIdentifier"):
        # AWS's answer, from volcengine.com/article/1154372.
        raise client_error(
            "Job with shareIdentifier or schedulingPriority can only be submitted to job queue with fair share "
            "scheduling policy"
        )


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


@handlers("ListJobs")
def list_jobs(request: Request) -> Mapping[str, Any]:
    """List the jobs of a queue with a status, by default RUNNING."""
    batch = batch_of(request.region)
    settle(batch)
    shown = [job for job in batch.jobs.values() if "index" not in job.get("arrayProperties", {})]
    if array := request.parameters.get("arrayJobId"):
        shown = [job for job in batch.jobs.values() if job["jobId"].startswith(f"{array}:")]
    if "jobQueue" in request.parameters:
        queue = get(batch.queues, "jobQueueName", request.parameters["jobQueue"])
        shown = [job for job in shown if job["jobQueue"] == queue["jobQueueArn"]]
    if not request.parameters.get("filters"):
        wanted = request.parameters.get("jobStatus", "RUNNING")
        shown = [job for job in shown if job["status"] == wanted]
    for condition in request.parameters.get("filters") or []:
        if condition["name"] != "JOB_NAME":
            raise client_error(f"The local AWS does not support the filter {condition['name']}")
        shown = [job for job in shown if job["jobName"] in condition["values"]]
    fields = (
        "jobArn",
        "jobId",
        "jobName",
        "createdAt",
        "status",
        "statusReason",
        "startedAt",
        "stoppedAt",
        "jobDefinition",
    )
    summaries = [{key: job[key] for key in fields if key in job} for job in shown]
    return page(summaries, parameters=request.parameters, key="jobSummaryList", cursor="nextToken")


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
        finish_job(job, reason=request.parameters["reason"])
    return {}


def _job(request: Request) -> dict[str, Any]:
    return get(batch_of(request.region).jobs, "jobId", request.parameters["jobId"].rsplit("/", 1)[-1])


def set_job_status(*, region: str, job_id: str, status: str, reason: str = "") -> None:
    """Set the status of a job; nothing else moves jobs here.

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
