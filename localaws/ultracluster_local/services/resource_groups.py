"""Resource Groups: members of groups with a configuration, which moto lacks."""

from collections.abc import Mapping
from typing import Any

from moto.resourcegroups.models import resourcegroups_backends

from ultracluster_local.instance.state import region_state
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, page

__all__ = ["handlers"]

handlers = Handlers(service="resource-groups")


def _members(request: Request) -> list[str]:
    named = request.parameters.get("Group") or request.parameters.get("GroupName") or ""
    for group in resourcegroups_backends[request.account][request.region].groups.by_name.values():
        if named in (group.name, group.arn):
            return region_state("resource-groups", region=request.region, new=_Members).setdefault(
                group.arn, []
            )
    raise ServiceError("NotFoundException", f"The group {named} does not exist")


class _Members(dict[str, list[str]]):
    """ARNs of members by ARN of their group."""


@handlers("GroupResources")
def group_resources(request: Request) -> Mapping[str, Any]:
    """Add members."""
    members, wanted = _members(request), request.parameters["ResourceArns"]
    members += [arn for arn in wanted if arn not in members]
    return {"Succeeded": wanted}


@handlers("UngroupResources")
def ungroup_resources(request: Request) -> Mapping[str, Any]:
    """Remove members."""
    members, wanted = _members(request), request.parameters["ResourceArns"]
    members[:] = [arn for arn in members if arn not in wanted]
    return {"Succeeded": wanted}


@handlers("ListGroupResources")
def list_group_resources(request: Request) -> Mapping[str, Any]:
    """List the members."""
    if request.parameters.get("Filters"):
        raise ServiceError("BadRequestException", "The local AWS does not support filters here")
    shown = [{"Identifier": {"ResourceArn": arn}} for arn in _members(request)]
    return page(shown, parameters=request.parameters, key="Resources")
