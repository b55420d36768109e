"""Deleting deployed resources: in which order, and what is said of it."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_local.cloudformation.errors import ResourceError, ValidationError
from ultracluster_local.cloudformation.providers import Context
from ultracluster_local.cloudformation.resource_types import provider_of
from ultracluster_local.cloudformation.stacks import Stack, StackResource
from ultracluster_local.cloudformation.template import creation_order, references
from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.environment import ACCOUNT

__all__ = ["EXPECTED", "context_of", "deletion_order", "remove", "resource_context", "said_by"]

EXPECTED = (ClientError, BotoCoreError, ResourceError, ValidationError)
"""How services and providers fail; anything else is a defect of ours, and is logged as one."""


def resource_context(stack: Stack, resource: StackResource, *, clients: Clients) -> Context:
    """Return the context in which the provider of a deployed resource works."""
    return context_of(
        stack, resource.logical_id, resource.resource_type, clients=clients, attempt=resource.attempt
    )


def context_of(
    stack: Stack, logical_id: str, resource_type: str, *, clients: Clients, attempt: str
) -> Context:
    """Return the context in which a provider works on one resource of a stack."""
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
    """Delete the real thing behind a resource, with the events of it."""
    kind, name, physical_id = resource.resource_type, resource.logical_id, resource.physical_id
    stack.record(name, kind, "DELETE_IN_PROGRESS", physical_id=physical_id)
    context = resource_context(stack, resource, clients=clients)
    try:
        provider_of(kind).delete(context, physical_id, resource.properties)
    except EXPECTED as error:
        stack.record(name, kind, "DELETE_FAILED", physical_id=physical_id, reason=said_by(error))
        raise
    stack.record(name, kind, "DELETE_COMPLETE", physical_id=physical_id)


def said_by(error: BaseException) -> str:
    """Say what went wrong as CloudFormation does: the service's message, its code, the request."""
    if isinstance(error, ClientError):
        said = error.response["Error"]
        return f"{said.get('Message') or said['Code']} (Service: {error.operation_name}, Error Code: {said['Code']})"
    return getattr(error, "message", None) or str(error)


def deletion_order(resources: list[StackResource]) -> list[StackResource]:
    """Order so that what refers to others goes before them."""
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
