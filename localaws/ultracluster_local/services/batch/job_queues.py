"""AWS Batch job queues. Their constraints are those of API_CreateJobQueue and API_UpdateJobQueue, botocore 1.44.5.

The words are those that AWS answered to badmintoncryer/cdk-preflight, rules/batch (2026-09), where it did.
"""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.instance_types import architectures
from ultracluster_local.services.batch.service_environments import check_service_queue
from ultracluster_local.services.batch.state import (
    FINAL_STATES,
    batch_of,
    begin_change,
    client_error,
    described,
    find,
    finish_job,
    get,
    platform_of,
    refuse_changing,
    refused,
    settings_of,
)
from ultracluster_local.services.handlers import Handlers, Request

__all__ = ["handlers"]

handlers = Handlers(service="batch")

_MOST_QUEUES = 50  # AWS Batch quotas: https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html
_SAGEMAKER = "SAGEMAKER_TRAINING"
_HEALTHY = {"status": "VALID", "statusReason": "JobQueue Healthy"}


@handlers("CreateJobQueue")
def create_job_queue(request: Request) -> Mapping[str, Any]:
    """Create a queue over existing environments."""
    given = settings_of(request)
    name = given["jobQueueName"]
    batch = batch_of(request.region)
    if find(batch.queues, "jobQueueName", name):
        raise client_error("Object already exists")
    if len(batch.queues) >= _MOST_QUEUES:
        raise client_error(f"Job queue limit of {_MOST_QUEUES} exceeded")
    _check_kind(given)
    arn = request.arn("batch", f"job-queue/{name}")
    _check(request, given)
    batch.queues[arn] = {
        "state": "ENABLED",
        "tags": {},
        "jobStateTimeLimitActions": [],
        **given,
        "jobQueueArn": arn,
    }
    begin_change(batch, arn, "CREATING", _HEALTHY)
    return {"jobQueueName": name, "jobQueueArn": arn}


def _check_kind(given: Mapping[str, Any]) -> None:
    kind, services = given.get("jobQueueType"), given.get("serviceEnvironmentOrder")
    if kind == _SAGEMAKER and not services:
        raise refused(f"Job queues of type {_SAGEMAKER} must have serviceEnvironmentOrder.")
    if services and kind not in {None, _SAGEMAKER}:
        problem = "which is incompatible with the provided serviceEnvironmentOrder."
        raise refused(f"The jobQueueType provided is {kind}, {problem}")
    if not given.get("computeEnvironmentOrder") and not services:
        raise refused("computeEnvironmentOrder must contain at least one compute environment")


def _check(request: Request, given: dict[str, Any]) -> None:
    """Check settings; replace names of compute environments with ARNs, as Batch reports them."""
    batch = batch_of(request.region)
    order = given.get("computeEnvironmentOrder") or []
    environments = [
        find(batch.environments, "computeEnvironmentName", one["computeEnvironment"]) or {} for one in order
    ]
    if any(
        one.get("status") in {None, "INVALID"} or one["computeEnvironmentArn"] in batch.changing
        for one in environments
    ):
        raise refused("Compute Environments must be created and valid before attaching them to a job queue")
    for entry, environment in zip(order, environments, strict=True):
        entry["computeEnvironment"] = environment["computeEnvironmentArn"]
    _check_mix(environments)
    actions = given.get("jobStateTimeLimitActions") or []
    states = [(one["state"], one["reason"]) for one in actions]
    if len({*states}) < len(states):
        raise refused("Duplicate job state limit actions are not allowed.")
    if given.get("schedulingPolicyArn"):
        get(batch.policies, "arn", given["schedulingPolicyArn"])
    supported = "TERMINATE" if given.get("serviceEnvironmentOrder") else "CANCEL"
    if any(one["action"] != supported for one in actions):
        raise refused(f"Invalid job action. Valid job actions: [{supported}]")
    check_service_queue(request, given)


def _check_mix(environments: list[dict[str, Any]]) -> None:
    if len({platform_of(one) for one in environments}) > 1:  # API_CreateJobQueue, computeEnvironmentOrder
        raise refused("Fargate and EC2 compute environments can not be mixed.")
    managed = [one["computeResources"] for one in environments if one.get("computeResources")]
    found = frozenset().union(*(architectures(one.get("instanceTypes") or []) for one in managed))
    if len(found) > 1:
        raise refused(
            "All compute environments that are associated with a job queue must share the same architecture"
        )


@handlers("DescribeJobQueues")
def describe_job_queues(request: Request) -> Mapping[str, Any]:
    """Describe all job queues, or the named ones."""
    return described(request, batch_of(request.region).queues, "jobQueue", "jobQueues")


@handlers("UpdateJobQueue")
def update_job_queue(request: Request) -> Mapping[str, Any]:
    """Update the given settings."""
    given = settings_of(request)
    batch = batch_of(request.region)
    queue = get(batch.queues, "jobQueueName", given.pop("jobQueue"))
    refuse_changing(batch, queue["jobQueueArn"], "update")
    if "schedulingPolicyArn" in given and bool(queue.get("schedulingPolicyArn")) != bool(
        given["schedulingPolicyArn"]
    ):
        raise refused(
            "A job queue without a fair-share scheduling policy is scheduled as a FIFO job queue and can't have a fair-share "
            "scheduling policy added"
            if given["schedulingPolicyArn"]
            else "The fair-share scheduling policy can be replaced but not removed"
        )
    _check(request, given)
    queue |= given
    begin_change(batch, queue["jobQueueArn"], "UPDATING", _HEALTHY)
    return {key: queue[key] for key in ("jobQueueName", "jobQueueArn")}


@handlers("DeleteJobQueue")
def delete_job_queue(request: Request) -> Mapping[str, Any]:
    """Delete a disabled queue; its waiting jobs fail, as on Batch."""
    batch = batch_of(request.region)
    queue = find(batch.queues, "jobQueueName", request.parameters["jobQueue"])
    if queue is None:
        return {}  # AWS reports no error for a missing resource: floci-io/floci#2857
    if queue["state"] != "DISABLED":  # API_DeleteJobQueue, which has this text
        raise client_error(
            "Cannot delete, job queue must be DISABLED: you must first disable submissions for a queue with the "
            "UpdateJobQueue operation"
        )
    refuse_changing(batch, queue["jobQueueArn"], "delete")
    for share in batch.quota_shares.values():
        if share["jobQueueArn"] == queue["jobQueueArn"]:
            raise client_error(f"Cannot delete, found existing quota share: {share['quotaShareName']}")
    for job in (*batch.jobs.values(), *batch.service_jobs.values()):
        if job["jobQueue"] == queue["jobQueueArn"] and job["status"] not in FINAL_STATES:
            finish_job(job, reason="Job queue deleted")
    begin_change(batch, queue["jobQueueArn"], "DELETING", {})
    return {}
