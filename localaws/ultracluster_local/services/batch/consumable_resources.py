"""AWS Batch consumable resources, which moto lacks: jobs wait for more than there is, but use up none."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.state import (
    Batch,
    batch_of,
    client_error,
    find,
    get,
    milliseconds,
    settings_of,
)
from ultracluster_local.services.handlers import Handlers, Request

__all__ = ["handlers", "has_consumables"]

handlers = Handlers(service="batch")

_NAME = "consumableResourceName"


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
