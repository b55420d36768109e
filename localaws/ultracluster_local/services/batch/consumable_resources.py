"""AWS Batch consumable resources, which moto lacks: stored, and asked for by jobs that wait for more than there is, but use up none.

Constraints: API_CreateConsumableResource and API_UpdateConsumableResource, botocore 1.44.5.
"""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.names import check_name, check_tags
from ultracluster_local.services.batch.state import (
    Batch,
    batch_of,
    client_error,
    find,
    get,
    milliseconds,
    refused,
    settings_of,
)
from ultracluster_local.services.handlers import Handlers, Request, page

__all__ = ["handlers", "has_consumables"]

handlers = Handlers(service="batch")

_NAME = "consumableResourceName"
_TYPES = frozenset({"REPLENISHABLE", "NON_REPLENISHABLE"})
_NOT_SUMMARIZED = frozenset({"availableQuantity", "createdAt", "tags"})
_SIGNS = {"SET": 0, "ADD": 1, "REMOVE": -1}


@handlers("CreateConsumableResource")
def create_consumable_resource(request: Request) -> Mapping[str, Any]:
    """Create a resource."""
    given = settings_of(request)
    name = given[_NAME]
    resources = batch_of(request.region).consumables
    check_name(name, "Consumable resource name")
    check_tags(given)
    if find(resources, _NAME, name):
        raise client_error("Object already exists")
    kind = given.get("resourceType", "REPLENISHABLE")
    if kind not in _TYPES:
        raise refused(f"resourceType must be one of [{', '.join(sorted(_TYPES))}]")
    arn = request.arn("batch", f"consumable-resource/{name}")
    resources[arn] = {
        _NAME: name,
        "consumableResourceArn": arn,
        "totalQuantity": given.get("totalQuantity", 0),
        "inUseQuantity": 0,
        "availableQuantity": given.get("totalQuantity", 0),
        "resourceType": kind,
        "createdAt": milliseconds(),
        "tags": given.get("tags") or {},
    }
    return {_NAME: name, "consumableResourceArn": arn}


@handlers("DescribeConsumableResource")
def describe_consumable_resource(request: Request) -> Mapping[str, Any]:
    """Describe a resource."""
    return _named(request)


@handlers("ListConsumableResources")
def list_consumable_resources(request: Request) -> Mapping[str, Any]:
    """List all resources, or those whose names match."""
    shown = list(batch_of(request.region).consumables.values())
    for condition in request.parameters.get("filters") or []:
        if condition["name"] != "CONSUMABLE_RESOURCE_NAME":
            raise client_error(f"{condition['name']} is not a filter of ListConsumableResources")
        shown = [
            one
            for one in shown
            if any(
                one[_NAME].lower().startswith(name[:-1].lower())
                if name.endswith("*")
                else one[_NAME].lower() == name.lower()
                for name in condition["values"]
            )
        ]
    summaries = [{key: part for key, part in one.items() if key not in _NOT_SUMMARIZED} for one in shown]
    return page(summaries, parameters=request.parameters, key="consumableResources", cursor="nextToken")


@handlers("UpdateConsumableResource")
def update_consumable_resource(request: Request) -> Mapping[str, Any]:
    """Set, add to or take from the quantity."""
    resource, given = _named(request), settings_of(request)
    if "quantity" in given:
        sign = _SIGNS.get(given.get("operation", ""))
        if sign is None:
            raise refused(f"operation must be one of [{', '.join(_SIGNS)}]")
        total = given["quantity"] if sign == 0 else resource["totalQuantity"] + sign * given["quantity"]
        if total < 0:
            raise refused(f"The total quantity of {resource[_NAME]} must not be negative")
        resource |= {"totalQuantity": total, "availableQuantity": total - resource["inUseQuantity"]}
    return {key: resource[key] for key in (_NAME, "consumableResourceArn", "totalQuantity")}


@handlers("DeleteConsumableResource")
def delete_consumable_resource(request: Request) -> Mapping[str, Any]:
    """Delete a resource."""
    del batch_of(request.region).consumables[_named(request)["consumableResourceArn"]]
    return {}


@handlers("ListJobsByConsumableResource")
def list_jobs_by_consumable_resource(request: Request) -> Mapping[str, Any]:
    """List the jobs that ask for a resource."""
    resource = _named(request)
    names = {resource[_NAME], resource["consumableResourceArn"]}
    batch = batch_of(request.region)
    shown = [
        {
            "jobArn": job["jobArn"],
            "jobName": job["jobName"],
            "jobQueueArn": job["jobQueue"],
            "jobStatus": job["status"],
            "jobDefinitionArn": job["jobDefinition"],
            "quantity": wanted["quantity"],
            "createdAt": job["createdAt"],
            "consumableResourceProperties": job["consumableResourceProperties"],
        }
        for job in batch.jobs.values()
        for wanted in (job.get("consumableResourceProperties") or {}).get("consumableResourceList") or []
        if wanted["consumableResource"] in names
    ]
    for condition in request.parameters.get("filters") or []:
        raise client_error(f"The local AWS does not support the filter {condition['name']}")
    return page(shown, parameters=request.parameters, key="jobs", cursor="nextToken")


def has_consumables(batch: Batch, job: Mapping[str, Any]) -> bool:
    """Return whether there is as much of each resource as a job asks for.

    Args:
        batch: Resources of the Region.
        job: Job.
    """
    asked = (job.get("consumableResourceProperties") or {}).get("consumableResourceList") or []
    found = ((one, find(batch.consumables, _NAME, one["consumableResource"])) for one in asked)
    return all(resource and one["quantity"] <= resource["availableQuantity"] for one, resource in found)


def _named(request: Request) -> dict[str, Any]:
    return get(batch_of(request.region).consumables, _NAME, request.parameters["consumableResource"])
