"""Deletion of deployed resources: order, events and failure messages."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_local.cloudformation.errors import ResourceError, ValidationError
from ultracluster_local.cloudformation.providers import Context
from ultracluster_local.cloudformation.resource_types import provider_of
from ultracluster_local.cloudformation.stacks import Stack, StackResource
from ultracluster_local.cloudformation.templates.parsing import creation_order, references
from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.environment import ACCOUNT

__all__ = ["EXPECTED", "context_of", "deletion_order", "failure_reason", "remove", "resource_context"]

EXPECTED = (ClientError, BotoCoreError, ResourceError, ValidationError)
"""Failures of services and providers; anything else is a bug of ours and is logged as such."""


def resource_context(stack: Stack, resource: StackResource, *, clients: Clients) -> Context:
    """Return the provider context of a deployed resource."""
    return context_of(
        stack, resource.logical_id, resource.resource_type, clients=clients, attempt=resource.attempt
    )


def context_of(
    stack: Stack, logical_id: str, resource_type: str, *, clients: Clients, attempt: str
) -> Context:
    """Return the provider context of a resource of a stack."""
    return Context(
        clients=clients,
        region=stack.region,
        account=ACCOUNT,
        stack_name=stack.name,
        stack_id=stack.stack_id,
        logical_id=logical_id,
        resource_type=resource_type,
        attempt=attempt,
    )


def remove(stack: Stack, resource: StackResource, *, clients: Clients) -> None:
    """Delete the physical resource and record the events."""
    kind, name, physical_id = resource.resource_type, resource.logical_id, resource.physical_id
    stack.record(name, kind, "DELETE_IN_PROGRESS", physical_id=physical_id)
    context = resource_context(stack, resource, clients=clients)
    try:
        provider_of(kind).delete(context, physical_id, resource.properties)
    except EXPECTED as error:
        stack.record(name, kind, "DELETE_FAILED", physical_id=physical_id, reason=failure_reason(error))
        raise
    stack.record(name, kind, "DELETE_COMPLETE", physical_id=physical_id)


def failure_reason(error: BaseException) -> str:
    """Format a failure as CloudFormation does: the service's message, error code and request."""
    if isinstance(error, ClientError):
        said = error.response["Error"]
        return f"{said.get('Message') or said['Code']} (Service: {error.operation_name}, Error Code: {said['Code']})"
    return getattr(error, "message", None) or str(error)


def deletion_order(resources: list[StackResource]) -> list[StackResource]:
    """Order resources so that each comes before those it refers to."""
    by_name = {one.logical_id: one for one in resources}
    definitions = {
        name: {
            "Properties": _only(one.definition.get("Properties") or {}, by_name),
            "DependsOn": [need for need in _listed(one.definition.get("DependsOn")) if need in by_name],
        }
        for name, one in by_name.items()
    }
    return [by_name[name] for name in reversed(creation_order({"Resources": definitions}))]


def _listed(value: str | list[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else value or []


def _only(properties: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Reduce properties to their references to `names`."""
    return {"References": [{"Ref": name} for name in references(properties) if name in names]}
