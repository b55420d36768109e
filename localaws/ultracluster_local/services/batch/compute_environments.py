"""AWS Batch compute environments, job queues and scheduling policies, stored unchanged.

moto requires a service role, starts instances for minvCpus and drops scheduling policies.
"""

import copy
import uuid
from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.service_jobs import check_service_queue
from ultracluster_local.services.batch.state import (
    FINAL_STATES,
    batch_of,
    client_error,
    described,
    find,
    finish_job,
    get,
)
from ultracluster_local.services.ec2.launch_templates import template_data
from ultracluster_local.services.handlers import Handlers, Request

__all__ = ["handlers"]

handlers = Handlers(service="batch")

_LAUNCH_TEMPLATE = ("launchTemplateId", "launchTemplateName", "version")
_MOST_ENVIRONMENTS = 3  # per queue: CreateJobQueue, API Reference, botocore 1.44.5


# Compute environments


@handlers("CreateComputeEnvironment")
def create_compute_environment(request: Request) -> Mapping[str, Any]:
    """Create an environment that is VALID at once; no instance starts."""
    given = copy.deepcopy(dict(request.parameters))
    name = given["computeEnvironmentName"]
    environments = batch_of(request.region).environments
    if find(environments, "computeEnvironmentName", name):
        raise client_error(f"Object already exists: {name}")
    if given["type"] == "MANAGED" and not given.get("computeResources"):
        raise client_error("computeResources must be provided for a MANAGED compute environment")
    _check_security_groups(request, given)
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


def _check_security_groups(request: Request, environment: Mapping[str, Any]) -> None:
    resources = environment.get("computeResources")
    if environment["type"] != "MANAGED" or not resources:
        return
    template: Mapping[str, Any] = {}
    if resources.get("launchTemplate"):
        wanted = resources["launchTemplate"]
        specification = {
            f"{key[0].upper()}{key[1:]}": wanted[key] for key in _LAUNCH_TEMPLATE if wanted.get(key)
        }
        template = template_data(request.region, specification)
    groups = resources.get("securityGroupIds")
    # AWS's answer, from aws/aws-cdk#21577.
    if groups and template.get("NetworkInterfaces"):
        raise client_error(
            "Error executing request, Exception : Either compute environment Security Groups or Network Interfaces in "
            "Launch template are exclusively allowed."
        )
    # API_ComputeResource, securityGroupIds; the words are those of the reference, since no answer has been published.
    if not (groups or template.get("NetworkInterfaces") or template.get("SecurityGroupIds")):
        raise client_error(
            "One or more security groups must be specified, either in securityGroupIds or using a launch template "
            "referenced in launchTemplate."
        )


@handlers("DescribeComputeEnvironments")
def describe_compute_environments(request: Request) -> Mapping[str, Any]:
    """Describe all compute environments, or the named ones."""
    return described(
        request, batch_of(request.region).environments, "computeEnvironment", "computeEnvironments"
    )


@handlers("UpdateComputeEnvironment")
def update_compute_environment(request: Request) -> Mapping[str, Any]:
    """Update the given settings."""
    given = copy.deepcopy(dict(request.parameters))
    environment = get(
        batch_of(request.region).environments, "computeEnvironmentName", given.pop("computeEnvironment")
    )
    resources = given.pop("computeResources", None)
    if resources:
        resources.pop("updateToLatestImageVersion", None)
        _check_security_groups(
            request, {**environment, "computeResources": environment["computeResources"] | resources}
        )
        environment["computeResources"] |= resources
    environment |= given
    return {key: environment[key] for key in ("computeEnvironmentName", "computeEnvironmentArn")}


@handlers("DeleteComputeEnvironment")
def delete_compute_environment(request: Request) -> Mapping[str, Any]:
    """Delete an environment that no queue uses."""
    batch = batch_of(request.region)
    environment = get(batch.environments, "computeEnvironmentName", request.parameters["computeEnvironment"])
    for queue in batch.queues.values():
        for entry in queue.get("computeEnvironmentOrder") or []:
            if entry["computeEnvironment"] == environment["computeEnvironmentArn"]:
                raise client_error(
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
    queues = batch_of(request.region).queues
    if find(queues, "jobQueueName", name):
        raise client_error(f"Object already exists: {name}")
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
    """Replace names of compute environments with ARNs, as Batch reports them; refuse unknown ones."""
    batch = batch_of(request.region)
    order = given.get("computeEnvironmentOrder") or []
    if len(order) > _MOST_ENVIRONMENTS:
        raise client_error(
            f"A job queue takes at most {_MOST_ENVIRONMENTS} compute environments, got {len(order)}"
        )
    for entry in order:
        environment = get(batch.environments, "computeEnvironmentName", entry["computeEnvironment"])
        entry["computeEnvironment"] = environment["computeEnvironmentArn"]
    if given.get("schedulingPolicyArn"):
        get(batch.policies, "arn", given["schedulingPolicyArn"])
    check_service_queue(request, given)


@handlers("DescribeJobQueues")
def describe_job_queues(request: Request) -> Mapping[str, Any]:
    """Describe all job queues, or the named ones."""
    return described(request, batch_of(request.region).queues, "jobQueue", "jobQueues")


@handlers("UpdateJobQueue")
def update_job_queue(request: Request) -> Mapping[str, Any]:
    """Update the given settings."""
    given = copy.deepcopy(dict(request.parameters))
    queue = get(batch_of(request.region).queues, "jobQueueName", given.pop("jobQueue"))
    _check_queue(request, given)
    queue |= given
    return {key: queue[key] for key in ("jobQueueName", "jobQueueArn")}


@handlers("DeleteJobQueue")
def delete_job_queue(request: Request) -> Mapping[str, Any]:
    """Delete a queue; its waiting jobs fail, as on Batch."""
    batch = batch_of(request.region)
    queue = get(batch.queues, "jobQueueName", request.parameters["jobQueue"])
    for share in batch.quota_shares.values():
        if share["jobQueueArn"] == queue["jobQueueArn"]:
            raise client_error(f"Cannot delete, found existing quota share: {share['quotaShareName']}")
    for job in batch.jobs.values():
        if job["jobQueue"] == queue["jobQueueArn"] and job["status"] not in FINAL_STATES:
            finish_job(job, reason="Job queue deleted")
    del batch.queues[queue["jobQueueArn"]]
    return {}


# Scheduling policies


@handlers("CreateSchedulingPolicy")
def create_scheduling_policy(request: Request) -> Mapping[str, Any]:
    """Create a policy."""
    given = copy.deepcopy(dict(request.parameters))
    policies = batch_of(request.region).policies
    if find(policies, "name", given["name"]):
        raise client_error(f"Object already exists: {given['name']}")
    arn = request.arn("batch", f"scheduling-policy/{given['name']}")
    policies[arn] = {"tags": {}, **given, "arn": arn}
    return {"name": given["name"], "arn": arn}


@handlers("DescribeSchedulingPolicies")
def describe_scheduling_policies(request: Request) -> Mapping[str, Any]:
    """Describe the named scheduling policies."""
    policies = batch_of(request.region).policies
    return {"schedulingPolicies": [policies[arn] for arn in request.parameters["arns"] if arn in policies]}


@handlers("ListSchedulingPolicies")
def list_scheduling_policies(request: Request) -> Mapping[str, Any]:
    """List all scheduling policies."""
    return {"schedulingPolicies": [{"arn": arn} for arn in batch_of(request.region).policies]}


@handlers("UpdateSchedulingPolicy")
def update_scheduling_policy(request: Request) -> Mapping[str, Any]:
    """Update the fair share policy."""
    given = copy.deepcopy(dict(request.parameters))
    policy = get(batch_of(request.region).policies, "arn", given.pop("arn"))
    policy |= given
    return {}


@handlers("DeleteSchedulingPolicy")
def delete_scheduling_policy(request: Request) -> Mapping[str, Any]:
    """Delete a policy that no queue uses."""
    batch = batch_of(request.region)
    policy = get(batch.policies, "arn", request.parameters["arn"])
    for queue in batch.queues.values():
        if queue.get("schedulingPolicyArn") == policy["arn"]:
            raise client_error(f"Scheduling policy is in use by {queue['jobQueueName']}")
    del batch.policies[policy["arn"]]
    return {}


# Tags


@handlers("ListTagsForResource")
def list_tags_for_resource(request: Request) -> Mapping[str, Any]:
    """List the tags of a Batch resource."""
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
    batch = batch_of(request.region)
    arn = request.parameters["resourceArn"]
    for things in (
        batch.environments,
        batch.queues,
        batch.policies,
        batch.definitions,
        batch.service_environments,
        batch.quota_shares,
    ):
        if arn in things:
            return things[arn]
    raise client_error(f"{arn} does not exist")
