"""Tags of AWS Batch resources."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.state import batch_of, get, refused
from ultracluster_local.services.handlers import Handlers, Request

__all__ = ["handlers"]

handlers = Handlers(service="batch")

_MOST_TAGS = 50


@handlers("ListTagsForResource")
def list_tags_for_resource(request: Request) -> Mapping[str, Any]:
    """List the tags of a Batch resource."""
    return {"tags": _by_arn(request)["tags"]}


@handlers("TagResource")
def tag_resource(request: Request) -> Mapping[str, Any]:
    """Add or replace tags."""
    resource = _by_arn(request)
    tags = resource["tags"] | request.parameters["tags"]
    if len(tags) > _MOST_TAGS:
        raise refused(f"A resource can have at most {_MOST_TAGS} tags")
    resource["tags"] = tags
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
    kinds = (batch.environments, batch.queues, batch.policies, batch.definitions, batch.consumables)
    tagged = {
        arn: one
        for kind in (*kinds, batch.service_environments, batch.quota_shares)
        for arn, one in kind.items()
    }
    jobs = (*batch.jobs.values(), *batch.service_jobs.values())
    return get(tagged | {job["jobArn"]: job for job in jobs}, "", arn)
