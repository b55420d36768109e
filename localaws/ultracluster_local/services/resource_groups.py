"""Resource Groups: the members of a group that has a configuration, which moto lacks."""

from collections.abc import Mapping
from typing import Any

from moto.resourcegroups.models import resourcegroups_backends
from moto.resourcegroups.responses import ResourceGroupsResponse
from moto.resourcegroups.urls import url_paths

from ultracluster_local.instance.state import remembered
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, page

__all__ = ["handlers", "install"]

handlers = Handlers(service="resource-groups")


def install() -> None:
    """Let moto's service answer these calls, whose addresses it does not know."""
    handlers.install(ResourceGroupsResponse)
    for name in ("group-resources", "list-group-resources", "ungroup-resources"):
        url_paths[f"{{0}}/{name}$"] = ResourceGroupsResponse.dispatch


def _members(request: Request) -> list[str]:
    named = request.parameters.get("Group") or request.parameters.get("GroupName") or ""
    for group in resourcegroups_backends[request.account][request.region].groups.by_name.values():
        if named in (group.name, group.arn):
            return remembered("resource-groups", region=request.region, new=_Members).setdefault(
                group.arn, []
            )
    raise ServiceError("NotFoundException", f"There is no group {named}")


class _Members(dict[str, list[str]]):
    """ARNs of members by the ARN of their group."""


@handlers("GroupResources")
def group_resources(request: Request) -> Mapping[str, Any]:
    """Add members."""
    members, wanted = _members(request), request.parameters["ResourceArns"]
    members += [arn for arn in wanted if arn not in members]
    return {"Succeeded": wanted}


@handlers("UngroupResources")
def ungroup_resources(request: Request) -> Mapping[str, Any]:
    """Take members out."""
    members, wanted = _members(request), request.parameters["ResourceArns"]
    members[:] = [arn for arn in members if arn not in wanted]
    return {"Succeeded": wanted}


@handlers("ListGroupResources")
def list_group_resources(request: Request) -> Mapping[str, Any]:
    """Show the members."""
    if request.parameters.get("Filters"):
        raise ServiceError("BadRequestException", "The local AWS has no filters here")
    shown = [{"Identifier": {"ResourceArn": arn}} for arn in _members(request)]
    return page(shown, parameters=request.parameters, key="Resources")
