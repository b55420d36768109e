"""AWS Batch: environments, queues, policies, multi-node job definitions and jobs, kept word for word.

moto insists on a service role, starts instances for the least vCPUs, loses `nodeProperties` and runs jobs in Docker.
Here nothing runs: a submitted job waits in RUNNABLE, and tests move it by `set_job_status`.
"""

import copy
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ultracluster_local.clock import CLOCK
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, page
from ultracluster_local.state import remembered

__all__ = ["handlers", "set_job_status"]

handlers = Handlers(service="batch")

_FINAL = frozenset({"SUCCEEDED", "FAILED"})


@dataclass(slots=True)
class _Batch:
    """What one Region holds, each by ARN (jobs: by id)."""

    environments: dict[str, dict[str, Any]] = field(default_factory=dict)
    queues: dict[str, dict[str, Any]] = field(default_factory=dict)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    definitions: dict[str, dict[str, Any]] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    revisions: dict[str, int] = field(default_factory=dict)


def _batch(region: str) -> _Batch:
    return remembered("batch", region=region, new=_Batch)


def _client_error(message: str) -> ServiceError:
    return ServiceError("ClientException", message)


def _find(things: Mapping[str, dict[str, Any]], name_field: str, wanted: str) -> dict[str, Any] | None:
    return next((one for arn, one in things.items() if wanted in (arn, one.get(name_field))), None)


def _get(things: Mapping[str, dict[str, Any]], name_field: str, wanted: str) -> dict[str, Any]:
    found = _find(things, name_field, wanted)
    if found is None:
        raise _client_error(f"{wanted} does not exist")
    return found


def _milliseconds() -> int:
    return int(CLOCK.now().timestamp() * 1000)


# Compute environments


@handlers("CreateComputeEnvironment")
def create_compute_environment(request: Request) -> Mapping[str, Any]:
    """Create an environment that is VALID at once; no instance starts."""
    given = copy.deepcopy(dict(request.parameters))
    name = given["computeEnvironmentName"]
    environments = _batch(request.region).environments
    if _find(environments, "computeEnvironmentName", name):
        raise _client_error(f"Object already exists: {name}")
    if given["type"] == "MANAGED" and not given.get("computeResources"):
        raise _client_error("computeResources must be provided for a MANAGED compute environment")
    arn = request.arn("batch", f"compute-environment/{name}")
    environment = {
        "state": "ENABLED",
        "tags": {},
        "serviceRole": f"arn:aws:iam::{request.account}:role/aws-service-role/batch.amazonaws.com/AWSServiceRoleForBatch",
        "containerOrchestrationType": "ECS",
        "uuid": str(uuid.uuid4()),
        "ecsClusterArn": request.arn("ecs", f"cluster/AWSBatch-{name}"),
        **given,
        "computeEnvironmentArn": arn,
        "status": "VALID",
        "statusReason": "ComputeEnvironment Healthy",
    }
    if "computeResources" in environment:
        environment["computeResources"].setdefault("minvCpus", 0)
    environments[arn] = environment
    return {"computeEnvironmentName": name, "computeEnvironmentArn": arn}


@handlers("DescribeComputeEnvironments")
def describe_compute_environments(request: Request) -> Mapping[str, Any]:
    """Show all environments, or those named."""
    return _described(
        request, _batch(request.region).environments, "computeEnvironment", "computeEnvironments"
    )


@handlers("UpdateComputeEnvironment")
def update_compute_environment(request: Request) -> Mapping[str, Any]:
    """Change the parts that are given."""
    given = copy.deepcopy(dict(request.parameters))
    environment = _get(
        _batch(request.region).environments, "computeEnvironmentName", given.pop("computeEnvironment")
    )
    resources = given.pop("computeResources", None)
    if resources:
        resources.pop("updateToLatestImageVersion", None)
        environment["computeResources"] |= resources
    environment |= given
    return {key: environment[key] for key in ("computeEnvironmentName", "computeEnvironmentArn")}


@handlers("DeleteComputeEnvironment")
def delete_compute_environment(request: Request) -> Mapping[str, Any]:
    """Delete an environment that no queue uses."""
    batch = _batch(request.region)
    environment = _get(batch.environments, "computeEnvironmentName", request.parameters["computeEnvironment"])
    for queue in batch.queues.values():
        for entry in queue.get("computeEnvironmentOrder") or []:
            if entry["computeEnvironment"] == environment["computeEnvironmentArn"]:
                raise _client_error(
                    f"Cannot delete, found existing JobQueue relationship: {queue['jobQueueName']}"
                )
    del batch.environments[environment["computeEnvironmentArn"]]
    return {}


# Job queues


@handlers("CreateJobQueue")
def create_job_queue(request: Request) -> Mapping[str, Any]:
    """Create a queue over existing environments."""
    given = copy.deepcopy(dict(request.parameters))
    name = given["jobQueueName"]
    queues = _batch(request.region).queues
    if _find(queues, "jobQueueName", name):
        raise _client_error(f"Object already exists: {name}")
    arn = request.arn("batch", f"job-queue/{name}")
    _check_queue(request, given)
    queues[arn] = {
        "state": "ENABLED",
        "tags": {},
        "jobStateTimeLimitActions": [],
        **given,
        "jobQueueArn": arn,
        "status": "VALID",
        "statusReason": "JobQueue Healthy",
    }
    return {"jobQueueName": name, "jobQueueArn": arn}


def _check_queue(request: Request, given: dict[str, Any]) -> None:
    """Replace names of environments by ARNs, as Batch shows them; refuse what does not exist."""
    batch = _batch(request.region)
    for entry in given.get("computeEnvironmentOrder") or []:
        environment = _get(batch.environments, "computeEnvironmentName", entry["computeEnvironment"])
        entry["computeEnvironment"] = environment["computeEnvironmentArn"]
    if given.get("schedulingPolicyArn"):
        _get(batch.policies, "arn", given["schedulingPolicyArn"])


@handlers("DescribeJobQueues")
def describe_job_queues(request: Request) -> Mapping[str, Any]:
    """Show all queues, or those named."""
    return _described(request, _batch(request.region).queues, "jobQueue", "jobQueues")


@handlers("UpdateJobQueue")
def update_job_queue(request: Request) -> Mapping[str, Any]:
    """Change the parts that are given."""
    given = copy.deepcopy(dict(request.parameters))
    queue = _get(_batch(request.region).queues, "jobQueueName", given.pop("jobQueue"))
    _check_queue(request, given)
    queue |= given
    return {key: queue[key] for key in ("jobQueueName", "jobQueueArn")}


@handlers("DeleteJobQueue")
def delete_job_queue(request: Request) -> Mapping[str, Any]:
    """Delete a queue; its waiting jobs fail, as on Batch."""
    batch = _batch(request.region)
    queue = _get(batch.queues, "jobQueueName", request.parameters["jobQueue"])
    for job in batch.jobs.values():
        if job["jobQueue"] == queue["jobQueueArn"] and job["status"] not in _FINAL:
            _finish(job, reason="Job queue deleted")
    del batch.queues[queue["jobQueueArn"]]
    return {}


# Scheduling policies


@handlers("CreateSchedulingPolicy")
def create_scheduling_policy(request: Request) -> Mapping[str, Any]:
    """Create a policy."""
    given = copy.deepcopy(dict(request.parameters))
    policies = _batch(request.region).policies
    if _find(policies, "name", given["name"]):
        raise _client_error(f"Object already exists: {given['name']}")
    arn = request.arn("batch", f"scheduling-policy/{given['name']}")
    policies[arn] = {"tags": {}, **given, "arn": arn}
    return {"name": given["name"], "arn": arn}


@handlers("DescribeSchedulingPolicies")
def describe_scheduling_policies(request: Request) -> Mapping[str, Any]:
    """Show the policies named."""
    policies = _batch(request.region).policies
    return {"schedulingPolicies": [policies[arn] for arn in request.parameters["arns"] if arn in policies]}


@handlers("ListSchedulingPolicies")
def list_scheduling_policies(request: Request) -> Mapping[str, Any]:
    """Name all policies."""
    return {"schedulingPolicies": [{"arn": arn} for arn in _batch(request.region).policies]}


@handlers("UpdateSchedulingPolicy")
def update_scheduling_policy(request: Request) -> Mapping[str, Any]:
    """Change the fair share."""
    given = copy.deepcopy(dict(request.parameters))
    policy = _get(_batch(request.region).policies, "arn", given.pop("arn"))
    policy |= given
    return {}


@handlers("DeleteSchedulingPolicy")
def delete_scheduling_policy(request: Request) -> Mapping[str, Any]:
    """Delete a policy that no queue uses."""
    batch = _batch(request.region)
    policy = _get(batch.policies, "arn", request.parameters["arn"])
    for queue in batch.queues.values():
        if queue.get("schedulingPolicyArn") == policy["arn"]:
            raise _client_error(f"Scheduling policy is in use by {queue['jobQueueName']}")
    del batch.policies[policy["arn"]]
    return {}


# Job definitions


@handlers("RegisterJobDefinition")
def register_job_definition(request: Request) -> Mapping[str, Any]:
    """Register the next revision of a definition."""
    given = copy.deepcopy(dict(request.parameters))
    if given["type"] == "multinode":
        nodes = given.get("nodeProperties")
        if not nodes:
            raise _client_error("nodeProperties must be provided for a multinode job definition")
        if not 0 <= nodes["mainNode"] < nodes["numNodes"]:
            raise _client_error(f"mainNode {nodes['mainNode']} must be below numNodes {nodes['numNodes']}")
    elif not (given.get("containerProperties") or given.get("ecsProperties")):
        raise _client_error("containerProperties must be provided for a container job definition")
    batch = _batch(request.region)
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
    """Find by ARN, ``name:revision`` or name (the newest active revision)."""
    definitions = _batch(request.region).definitions
    if wanted in definitions:
        return definitions[wanted]
    matches = [
        one
        for one in definitions.values()
        if wanted in (one["jobDefinitionName"], f"{one['jobDefinitionName']}:{one['revision']}")
    ]
    active = [one for one in matches if one["status"] == "ACTIVE"]
    if not active:
        raise _client_error(f"Job definition {wanted} does not exist or is not active")
    return max(active, key=lambda one: int(one["revision"]))


@handlers("DescribeJobDefinitions")
def describe_job_definitions(request: Request) -> Mapping[str, Any]:
    """Show definitions by ARN, name and status."""
    shown = list(_batch(request.region).definitions.values())
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
    """Make a revision INACTIVE; it stays visible, as on Batch for 180 days."""
    _definition(request, request.parameters["jobDefinition"])["status"] = "INACTIVE"
    return {}


# Jobs


@handlers("SubmitJob")
def submit_job(request: Request) -> Mapping[str, Any]:
    """Queue a job. It is never run: it waits in RUNNABLE until a test moves it."""
    given = copy.deepcopy(dict(request.parameters))
    batch = _batch(request.region)
    queue = _get(batch.queues, "jobQueueName", given["jobQueue"])
    if queue["state"] != "ENABLED":
        raise _client_error(f"Job queue {queue['jobQueueName']} is not enabled")
    definition = _definition(request, given["jobDefinition"])
    job_id = str(uuid.uuid4())
    job: dict[str, Any] = {
        "jobArn": request.arn("batch", f"job/{job_id}"),
        "jobId": job_id,
        "jobName": given["jobName"],
        "jobQueue": queue["jobQueueArn"],
        "jobDefinition": definition["jobDefinitionArn"],
        "status": "RUNNABLE",
        "createdAt": _milliseconds(),
        "dependsOn": given.get("dependsOn") or [],
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
    return {"jobArn": job["jobArn"], "jobName": job["jobName"], "jobId": job_id}


@handlers("DescribeJobs")
def describe_jobs(request: Request) -> Mapping[str, Any]:
    """Show the jobs named; unknown ids are left out, as on Batch."""
    jobs = _batch(request.region).jobs
    return {
        "jobs": [
            jobs[one.rsplit("/", 1)[-1]]
            for one in request.parameters["jobs"]
            if one.rsplit("/", 1)[-1] in jobs
        ]
    }


@handlers("ListJobs")
def list_jobs(request: Request) -> Mapping[str, Any]:
    """Name the jobs of a queue: the RUNNING ones, unless another status is asked for."""
    batch = _batch(request.region)
    shown = list(batch.jobs.values())
    if "jobQueue" in request.parameters:
        queue = _get(batch.queues, "jobQueueName", request.parameters["jobQueue"])
        shown = [job for job in shown if job["jobQueue"] == queue["jobQueueArn"]]
    if not request.parameters.get("filters"):
        wanted = request.parameters.get("jobStatus", "RUNNING")
        shown = [job for job in shown if job["status"] == wanted]
    for condition in request.parameters.get("filters") or []:
        if condition["name"] != "JOB_NAME":
            raise _client_error(f"The local AWS has no filter {condition['name']}")
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
        _finish(job, reason=request.parameters["reason"])
    return {}


@handlers("TerminateJob")
def terminate_job(request: Request) -> Mapping[str, Any]:
    """Fail a job in any state."""
    job = _job(request)
    if job["status"] not in _FINAL:
        job["isTerminated"] = True
        _finish(job, reason=request.parameters["reason"])
    return {}


def _job(request: Request) -> dict[str, Any]:
    return _get(_batch(request.region).jobs, "jobId", request.parameters["jobId"].rsplit("/", 1)[-1])


def _finish(job: dict[str, Any], *, reason: str) -> None:
    job["status"] = "FAILED"
    job["statusReason"] = reason
    job["stoppedAt"] = _milliseconds()


def set_job_status(*, region: str, job_id: str, status: str, reason: str = "") -> None:
    """Move a job, which nothing else here does.

    Args:
        region: Region of the job.
        job_id: Id that SubmitJob gave.
        status: One of Batch's states, such as ``RUNNING``.
        reason: Reason to show. Default: none.

    Raises:
        KeyError: If there is no such job.
    """
    job = _batch(region).jobs[job_id]
    job["status"] = status
    job["statusReason"] = reason
    if status == "RUNNING":
        job["startedAt"] = _milliseconds()
    if status in _FINAL:
        job["stoppedAt"] = _milliseconds()


# Tags


@handlers("ListTagsForResource")
def list_tags_for_resource(request: Request) -> Mapping[str, Any]:
    """Show the tags of anything of Batch."""
    return {"tags": _by_arn(request)["tags"]}


@handlers("TagResource")
def tag_resource(request: Request) -> Mapping[str, Any]:
    """Add or replace tags."""
    _by_arn(request)["tags"] |= request.parameters["tags"]
    return {}


@handlers("UntagResource")
def untag_resource(request: Request) -> Mapping[str, Any]:
    """Remove tags."""
    tags = _by_arn(request)["tags"]
    for key in request.parameters["tagKeys"]:
        tags.pop(key, None)
    return {}


def _by_arn(request: Request) -> dict[str, Any]:
    batch = _batch(request.region)
    arn = request.parameters["resourceArn"]
    for things in (batch.environments, batch.queues, batch.policies, batch.definitions):
        if arn in things:
            return things[arn]
    raise _client_error(f"{arn} does not exist")


def _described(
    request: Request, things: Mapping[str, dict[str, Any]], kind: str, key: str
) -> Mapping[str, Any]:
    wanted = request.parameters.get(key)
    shown = [
        one for arn, one in things.items() if not wanted or arn in wanted or one[f"{kind}Name"] in wanted
    ]
    return page(shown, parameters=request.parameters, key=key, cursor="nextToken")
