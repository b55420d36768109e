"""Early validation: a change set whose resources have names that are taken is FAILED before it can be executed.

Since 2025-11: https://aws.amazon.com/about-aws/whats-new/2025/11/cloudformation-dev-test-cycle-validation-troubleshooting/. The
words of the answers are those of aws-cloudformation/rain#744.
"""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ultracluster_local.cloudformation.custom_resources import is_custom
from ultracluster_local.cloudformation.registry import schemas
from ultracluster_local.cloudformation.removal import context_of
from ultracluster_local.cloudformation.resource_types import provider_of
from ultracluster_local.cloudformation.stacks import Stack
from ultracluster_local.cloudformation.templates.intrinsic_functions import UNKNOWN
from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.clock import CLOCK

__all__ = ["EARLY_VALIDATION", "taken_names"]

EARLY_VALIDATION: Final = (
    "The following hook(s)/validation failed: [AWS::EarlyValidation::ResourceExistenceCheck]. To troubleshoot Early Validation "
    "errors, use the DescribeEvents API for detailed failure information."
)


def taken_names(
    stack: Stack, changes: Sequence[Mapping[str, Any]], *, clients: Clients
) -> Iterator[dict[str, Any]]:
    """Yield an event of DescribeEvents for each new resource whose name another resource has.

    Args:
        stack: Stack of the change set.
        changes: Its changes, in the form of DescribeChangeSet.
        clients: Clients of the local AWS.
    """
    operation = str(uuid.uuid4())
    for change in (one["ResourceChange"] for one in changes if one["ResourceChange"]["Action"] == "Add"):
        logical_id, resource_type = change["LogicalResourceId"], change["ResourceType"]
        properties = json.loads(change["AfterContext"])["Properties"]
        key = _name_key(resource_type)
        name = properties.get(key)
        if not isinstance(name, str) or UNKNOWN in name:
            continue
        context = context_of(stack, logical_id, resource_type, clients=clients, attempt="")
        if not provider_of(resource_type).read(context, name, properties):
            continue
        yield {
            "EventId": str(uuid.uuid4()),
            "StackId": stack.stack_id,
            "OperationId": operation,
            "OperationType": "CREATE_CHANGESET",
            "EventType": "VALIDATION_ERROR",
            "LogicalResourceId": logical_id,
            "PhysicalResourceId": "",
            "ResourceType": resource_type,
            "Timestamp": CLOCK.now(),
            "ValidationFailureMode": "FAIL",
            "ValidationName": "NAME_CONFLICT_VALIDATION",
            "ValidationStatus": "FAILED",
            "ValidationStatusReason": f"Resource of type '{resource_type}' with identifier '{name}' already exists.",
            "ValidationPath": f"/Resources/{logical_id}/Properties/{key}",
        }


def _name_key(resource_type: str) -> str:
    """Return the property that is the whole identifier of a type; empty if there is none."""
    if is_custom(resource_type) or not schemas.is_known(resource_type):
        return ""
    identifier = schemas.schema(resource_type).get("primaryIdentifier") or []
    read_only = schemas.schema(resource_type).get("readOnlyProperties") or []
    if len(identifier) != 1 or identifier[0] in read_only:
        return ""
    return str(identifier[0].removeprefix("/properties/"))
