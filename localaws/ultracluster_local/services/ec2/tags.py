"""Tags of resources that moto lacks: launch templates, placement groups, reservations and Capacity Blocks.

moto tags everything else.
"""

from collections.abc import Callable, Mapping
from typing import Any

from moto.ec2.models import ec2_backends, validate_resource_ids

from ultracluster_local.services.ec2.capacity import refuse_dry_run, tag_list
from ultracluster_local.services.ec2.capacity_market import capacity_market
from ultracluster_local.services.ec2.launch_templates import launch_templates
from ultracluster_local.services.ec2.placement_groups import placement_groups
from ultracluster_local.services.handlers import Handlers, Request

__all__ = ["handlers"]

handlers = Handlers(service="ec2")

_Change = Callable[[dict[str, str]], dict[str, str]]


def _change_ours(region: str, resource_id: str, change: _Change) -> bool:
    """Change the tags of a resource that moto lacks; return whether it is one."""
    documents = {
        **launch_templates(region),
        **{one["GroupId"]: one for one in placement_groups(region).values()},
    }
    if resource_id in documents:
        before = {tag["Key"]: tag["Value"] for tag in documents[resource_id]["Tags"]}
        documents[resource_id]["Tags"] = tag_list(change(before))
        return True
    for reservation in capacity_market(region).reservations.values():
        if resource_id == reservation.reservation_id:
            reservation.tags = change(reservation.tags)
            return True
        if resource_id == reservation.block_id:
            reservation.block_tags = change(reservation.block_tags)
            return True
    return False


def _change_all(request: Request, change: _Change, by_moto: Callable[[Any, list[str]], None]) -> None:
    refuse_dry_run(request)
    theirs = [one for one in request.parameters["Resources"] if not _change_ours(request.region, one, change)]
    if theirs:
        validate_resource_ids(theirs)
        backend = ec2_backends[request.account][request.region]
        backend.do_resources_exist(theirs)
        by_moto(backend, theirs)


@handlers("CreateTags")
def create_tags(request: Request) -> Mapping[str, Any]:
    """Add or replace tags."""
    tags = {tag["Key"]: tag.get("Value", "") for tag in request.parameters["Tags"]}
    _change_all(request, lambda before: before | tags, lambda backend, ids: backend.create_tags(ids, tags))
    return {}


@handlers("DeleteTags")
def delete_tags(request: Request) -> Mapping[str, Any]:
    """Remove tags; a tag given with a value only if the value matches."""
    tags = {tag["Key"]: tag.get("Value") for tag in request.parameters.get("Tags") or []}

    def without(before: dict[str, str]) -> dict[str, str]:
        return {
            key: value for key, value in before.items() if key not in tags or tags[key] not in {None, value}
        }

    _change_all(request, without, lambda backend, ids: backend.delete_tags(ids, tags))
    return {}
