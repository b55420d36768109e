"""AWS Batch consumable resources, which moto lacks: jobs wait for more than there is, but use up none."""

from collections.abc import Iterable, Mapping
from typing import Any

from ultracluster_local.services.batch.pending import settle
from ultracluster_local.services.batch.state import (
    Batch,
    batch_of,
    client_error,
    find,
    get,
    is_named,
    milliseconds,
    refused,
    settings_of,
)
from ultracluster_local.services.handlers import Handlers, Request, page

__all__ = ["handlers", "has_consumables"]

handlers = Handlers(service="batch")

_NAME = "consumableResourceName"
_SUMMARIZED = (_NAME, "consumableResourceArn", "totalQuantity", "inUseQuantity", "resourceType")
_OF_JOB = (
    "jobArn",
    "jobName",
    "shareIdentifier",
    "statusReason",
    "startedAt",
    "createdAt",
    "consumableResourceProperties",
)


@handlers("CreateConsumableResource")
def create_consumable_resource(request: Request) -> Mapping[str, Any]:
    """Create a resource."""
    given = settings_of(request)
    name = given[_NAME]
    resources = batch_of(request.region).consumables
    if find(resources, _NAME, name):
        raise client_error("Object already exists")
    arn = request.arn("batch", f"consumable-resource/{name}")
    resources[arn] = {
        _NAME: name,
        "consumableResourceArn": arn,
        "totalQuantity": given.get("totalQuantity", 0),
        "inUseQuantity": 0,
        "availableQuantity": given.get("totalQuantity", 0),
        "resourceType": given.get("resourceType", "REPLENISHABLE"),
        "createdAt": milliseconds(),
        "tags": given.get("tags") or {},
    }
    return {_NAME: name, "consumableResourceArn": arn}


@handlers("DescribeConsumableResource")
def describe_consumable_resource(request: Request) -> Mapping[str, Any]:
    """Describe a resource."""
    return _named(request)


@handlers("UpdateConsumableResource")
def update_consumable_resource(request: Request) -> Mapping[str, Any]:
    """Set, raise or lower the quantity, which nothing uses: API_UpdateConsumableResource."""
    resource, given = _named(request), request.parameters
    before, change = resource["totalQuantity"], given.get("quantity", 0)
    after = {"ADD": before + change, "REMOVE": before - change}.get(given.get("operation", "SET"), change)
    if after < 0:
        raise refused("totalQuantity cannot be a negative number.")
    resource["totalQuantity"] = resource["availableQuantity"] = after
    return {name: resource[name] for name in (_NAME, "consumableResourceArn", "totalQuantity")}


@handlers("ListConsumableResources")
def list_consumable_resources(request: Request) -> Mapping[str, Any]:
    """List resources by name, in any case and also by its beginning."""
    resources = batch_of(request.region).consumables.values()
    shown = [
        {name: one[name] for name in _SUMMARIZED}
        for one in resources
        if _fits(request, {"CONSUMABLE_RESOURCE_NAME": one[_NAME]})
    ]
    return page(shown, parameters=request.parameters, key="consumableResources", cursor="nextToken")


@handlers("ListJobsByConsumableResource")
def list_jobs_by_consumable_resource(request: Request) -> Mapping[str, Any]:
    """List the jobs that need a resource, by status and name: API_ListJobsByConsumableResource."""
    resource, batch = _named(request), batch_of(request.region)
    settle(batch)
    shown = [
        {
            **{name: job[name] for name in _OF_JOB if name in job},
            "jobQueueArn": job["jobQueue"],
            "jobDefinitionArn": job["jobDefinition"],
            "jobStatus": job["status"],
            "quantity": one["quantity"],
        }
        for job in batch.jobs.values()
        for one in _asked(job)
        if one["consumableResource"] in {resource[_NAME], resource["consumableResourceArn"]}
        and _fits(request, {"JOB_STATUS": job["status"], "JOB_NAME": job["jobName"]})
    ]
    return page(shown, parameters=request.parameters, key="jobs", cursor="nextToken")


def _fits(request: Request, values: Mapping[str, str]) -> bool:
    filters = request.parameters.get("filters") or []
    return all(any(is_named(values[one["name"]], wanted) for wanted in one["values"]) for one in filters)


@handlers("DeleteConsumableResource")
def delete_consumable_resource(request: Request) -> Mapping[str, Any]:
    """Delete a resource; jobs that need it wait."""
    del batch_of(request.region).consumables[_named(request)["consumableResourceArn"]]
    return {}


def _asked(job: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    return (job.get("consumableResourceProperties") or {}).get("consumableResourceList") or []


def has_consumables(batch: Batch, job: Mapping[str, Any]) -> bool:
    """Return whether there is as much of each resource as a job asks for.

    Args:
        batch: Resources of the Region.
        job: Job.
    """
    found = ((one, find(batch.consumables, _NAME, one["consumableResource"])) for one in _asked(job))
    return all(resource and one["quantity"] <= resource["availableQuantity"] for one, resource in found)


def _named(request: Request) -> dict[str, Any]:
    return get(batch_of(request.region).consumables, _NAME, request.parameters["consumableResource"])
