"""Stack policies: which resources of a stack an update may change.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/protect-stack-resources.html; the words are those that AWS
answered to localstack/localstack, test_stack_policies.snapshot.json (2022-11-11).
"""

import fnmatch
import json
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ResourceError, ValidationError
from ultracluster_local.cloudformation.requests import object_at
from ultracluster_local.services.handlers import Request

__all__ = ["policy_of", "refuse_denied"]

_ACTIONS = frozenset({"Update:*", "Update:Delete", "Update:Modify", "Update:Replace"})


def policy_of(request: Request, name: str = "StackPolicy") -> str:
    """Return the stack policy of a request by body or URL; empty if it has none.

    Args:
        request: Request.
        name: Prefix of its parameters. Default: that of the lasting policy.

    Raises:
        ValidationError: If it has both, or the policy is invalid.
    """
    body, url = (request.parameters.get(f"{name}{form}") for form in ("Body", "URL"))
    if body and url:
        raise ValidationError(f"You cannot specify both {name}URL and {name}Body")
    text = str(object_at(url, request.region) if url else body or "")
    if text and not _is_policy(text):
        raise ValidationError("Error validating stack policy: Invalid stack policy")
    return text


def _is_policy(text: str) -> bool:
    try:
        statements = _statements(text)
    except (ValueError, AttributeError):
        return False
    return bool(statements) and all(
        isinstance(one, dict)
        and one.get("Effect") in {"Allow", "Deny"}
        and one.get("Principal") == "*"
        and set(_listed(one.get("Action", one.get("NotAction")))) <= _ACTIONS
        and ("Resource" in one or "NotResource" in one)
        for one in statements
    )


def _statements(text: str) -> list[Any]:
    given = json.loads(text).get("Statement") or []
    return given if isinstance(given, list) else [given]


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def refuse_denied(policy: str, action: str, logical_id: str, resource_type: str) -> None:
    """Refuse an action on a resource that `policy` denies or does not allow.

    Args:
        policy: Stack policy; empty if the stack has none.
        action: ``Update:Modify``, ``Update:Replace`` or ``Update:Delete``.
        logical_id: Logical ID.
        resource_type: Resource type.

    Raises:
        ResourceError: If it does.
    """
    resource = f"LogicalResourceId/{logical_id}"
    allowed = not policy
    for number, one in enumerate(_statements(policy) if policy else [], 1):
        if not (
            _names(one, "Action", action) and _names(one, "Resource", resource) and _is_of(one, resource_type)
        ):
            continue
        if one["Effect"] == "Deny":
            raise ResourceError(
                f"Action denied by stack policy: Statement [#{number}] does not allow [{action}] for resource [{resource}];"
            )
        allowed = True
    if not allowed:
        raise ResourceError("Action not allowed by stack policy")


def _names(statement: Mapping[str, Any], key: str, value: str) -> bool:
    inverted = f"Not{key}" in statement
    patterns = _listed(statement.get(f"Not{key}" if inverted else key))
    return any(fnmatch.fnmatchcase(value, pattern) for pattern in patterns) != inverted


def _is_of(statement: Mapping[str, Any], resource_type: str) -> bool:
    conditions = (statement.get("Condition") or {}).values()
    patterns = [one for condition in conditions for one in _listed(condition.get("ResourceType", "*"))]
    return not patterns or any(fnmatch.fnmatchcase(resource_type, pattern) for pattern in patterns)
