"""AWS Batch service environments and quota shares (SageMaker), which moto lacks, stored unchanged.

Source of the rules of quota management: AWS Batch User Guide, Create quota management resources (October 2026).
"""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.state import (
    batch_of,
    client_error,
    described,
    find,
    get,
    refused,
    settings_of,
)
from ultracluster_local.services.handlers import Handlers, Request, page

__all__ = ["check_service_queue", "handlers"]

handlers = Handlers(service="batch")

_ANY_TYPE = "NUM_INSTANCES"


# Service environments


@handlers("CreateServiceEnvironment")
def create_service_environment(request: Request) -> Mapping[str, Any]:
    """Create an environment that is VALID at once."""
    given = settings_of(request)
    name = given["serviceEnvironmentName"]
    environments = batch_of(request.region).service_environments
    if find(environments, "serviceEnvironmentName", name):
        raise client_error(f"Object already exists: {name}")
    _check_limits(given["capacityLimits"])
    arn = request.arn("batch", f"service-environment/{name}")
    environments[arn] = {
        "state": "ENABLED",
        "tags": {},
        **given,
        "serviceEnvironmentArn": arn,
        "status": "VALID",
    }
    return {"serviceEnvironmentName": name, "serviceEnvironmentArn": arn}


def _check_limits(limits: list[dict[str, Any]]) -> None:
    units = [limit.get("capacityUnit") for limit in limits]
    if _ANY_TYPE in units and {*units} != {_ANY_TYPE}:  # badmintoncryer/cdk-preflight, and in what follows
        raise refused("Capacity units must specify either number of instances OR instance type")
    if len(set(units)) < len(units):
        raise client_error(f"capacityLimits must have one limit for each unit; got {units}")


@handlers("DescribeServiceEnvironments")
def describe_service_environments(request: Request) -> Mapping[str, Any]:
    """Describe all service environments, or the named ones."""
    environments = batch_of(request.region).service_environments
    return described(request, environments, "serviceEnvironment", "serviceEnvironments")


@handlers("UpdateServiceEnvironment")
def update_service_environment(request: Request) -> Mapping[str, Any]:
    """Update the state or the limits."""
    given = settings_of(request)
    environments = batch_of(request.region).service_environments
    environment = get(environments, "serviceEnvironmentName", given.pop("serviceEnvironment"))
    if "capacityLimits" in given:
        _check_limits(given["capacityLimits"])
    environment |= given
    return {key: environment[key] for key in ("serviceEnvironmentName", "serviceEnvironmentArn")}


@handlers("DeleteServiceEnvironment")
def delete_service_environment(request: Request) -> Mapping[str, Any]:
    """Delete an environment that no queue uses."""
    batch = batch_of(request.region)
    environment = get(
        batch.service_environments, "serviceEnvironmentName", request.parameters["serviceEnvironment"]
    )
    arn = environment["serviceEnvironmentArn"]
    if environment["state"] != "DISABLED":  # batch/latest/userguide/delete-service-environments.html
        raise client_error("Cannot delete, service environment must be DISABLED")
    for queue in batch.queues.values():
        if arn in _environments_of(queue):
            raise client_error(
                f"Cannot delete, found existing JobQueue relationship: {queue['jobQueueName']}"
            )
    del batch.service_environments[arn]
    return {}


def _environments_of(queue: Mapping[str, Any]) -> list[str]:
    return [entry["serviceEnvironment"] for entry in queue.get("serviceEnvironmentOrder") or []]


def check_service_queue(request: Request, given: dict[str, Any]) -> None:
    """Replace names of service environments with ARNs, and refuse invalid queues of them as Batch does.

    Args:
        request: API request.
        given: Settings of the queue; modified in place.
    """
    batch = batch_of(request.region)
    order = given.get("serviceEnvironmentOrder") or []
    for entry in order:
        environment = get(batch.service_environments, "serviceEnvironmentName", entry["serviceEnvironment"])
        entry["serviceEnvironment"] = environment["serviceEnvironmentArn"]
    if order and given.get("computeEnvironmentOrder"):
        raise client_error("A job queue uses either compute environments or service environments")
    policy = batch.policies.get(given.get("schedulingPolicyArn") or "", {})
    if "quotaSharePolicy" not in policy:
        return
    if len(order) != 1:
        raise client_error("A job queue with quota shares has exactly one service environment")
    arn = order[0]["serviceEnvironment"]
    units = [limit.get("capacityUnit") for limit in batch.service_environments[arn]["capacityLimits"]]
    if _ANY_TYPE in units:
        raise client_error(f"Quota shares need limits by instance type, not {_ANY_TYPE}")
    for queue in batch.queues.values():
        if arn in _environments_of(queue) and queue["jobQueueName"] != given.get("jobQueueName"):
            raise client_error(f"{arn} is connected to {queue['jobQueueName']} already")


# Quota shares


@handlers("CreateQuotaShare")
def create_quota_share(request: Request) -> Mapping[str, Any]:
    """Create a share of a queue whose policy has quota shares."""
    given = settings_of(request)
    batch = batch_of(request.region)
    queue = get(batch.queues, "jobQueueName", given.pop("jobQueue"))
    if "quotaSharePolicy" not in batch.policies.get(queue.get("schedulingPolicyArn") or "", {}):
        raise client_error(f"{queue['jobQueueName']} has no quota share policy")
    arn = f"{queue['jobQueueArn']}/quota-share/{given['quotaShareName']}"
    if arn in batch.quota_shares:
        raise client_error(f"Object already exists: {given['quotaShareName']}")
    batch.quota_shares[arn] = {
        "state": "ENABLED",
        "tags": {},
        **given,
        "quotaShareArn": arn,
        "jobQueueArn": queue["jobQueueArn"],
        "status": "VALID",
    }
    return {"quotaShareName": given["quotaShareName"], "quotaShareArn": arn}


@handlers("DescribeQuotaShare")
def describe_quota_share(request: Request) -> Mapping[str, Any]:
    """Describe a quota share."""
    return _share(request)


@handlers("ListQuotaShares")
def list_quota_shares(request: Request) -> Mapping[str, Any]:
    """List the shares of a queue."""
    batch = batch_of(request.region)
    queue = get(batch.queues, "jobQueueName", request.parameters["jobQueue"])["jobQueueArn"]
    ours = (one for one in batch.quota_shares.values() if one["jobQueueArn"] == queue)
    shown = [{name: part for name, part in one.items() if name != "tags"} for one in ours]
    return page(shown, parameters=request.parameters, key="quotaShares", cursor="nextToken")


@handlers("UpdateQuotaShare")
def update_quota_share(request: Request) -> Mapping[str, Any]:
    """Update the given settings."""
    share = _share(request)
    share |= {key: value for key, value in request.parameters.items() if key != "quotaShareArn"}
    return {key: share[key] for key in ("quotaShareName", "quotaShareArn")}


@handlers("DeleteQuotaShare")
def delete_quota_share(request: Request) -> Mapping[str, Any]:
    """Delete a disabled share: API_DeleteQuotaShare."""
    share = _share(request)
    if share["state"] != "DISABLED":
        raise client_error(f"Cannot delete, quota share must be DISABLED: {share['quotaShareName']}")
    del batch_of(request.region).quota_shares[share["quotaShareArn"]]
    return {}


def _share(request: Request) -> dict[str, Any]:
    return get(batch_of(request.region).quota_shares, "quotaShareArn", request.parameters["quotaShareArn"])
