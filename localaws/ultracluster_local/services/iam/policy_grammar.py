"""Grammar of policy documents, as IAM and the services with resource policies check it.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from moto.iam.models import iam_backends

from ultracluster_local.instance.environment import ACCOUNT

__all__ = [
    "as_list",
    "covers",
    "document",
    "lets_service",
    "missing_principal",
    "principals",
    "statements",
]

_ROLE_OR_USER = re.compile(r"arn:[\w-]+:iam::(\d{12}):(role|user)/(?:.*/)?([^/]+)")


def as_list(value: Any) -> list[Any]:
    """Return a value, or a list of values, as a list."""
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def document(text: str | bytes) -> Mapping[str, Any] | None:
    """Return a policy document; None if it is not a JSON object."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def statements(policy: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the statements of a policy document."""
    return [one for one in as_list(policy.get("Statement")) if isinstance(one, dict)]


def principals(statement: Mapping[str, Any], kind: str) -> list[str]:
    """Return the principals of a statement of one kind, such as ``Service``; ``*`` stands for all kinds."""
    principal = statement.get("Principal")
    if principal == "*":
        return ["*"]
    return as_list(principal.get(kind)) if isinstance(principal, dict) else []


def lets_service(
    policy: Mapping[str, Any] | None,
    services: Collection[str],
    action: str = "",
    *,
    when: Callable[[Mapping[str, Any]], bool] = bool,
) -> bool:
    """Return whether a policy of a resource lets a service in.

    Args:
        policy: Policy document; None allows nothing.
        services: Service principals, any of which is enough.
        action: Action that it must allow. Default: any.
        when: Whether a statement counts. Default: each does.
    """
    return any(
        one.get("Effect") == "Allow"
        and {"*", *services} & {*principals(one, "Service")}
        and (not action or covers(one, action))
        for one in statements(policy or {})
        if when(one)
    )


def covers(statement: Mapping[str, Any], action: str) -> bool:
    """Return whether the actions of a statement include one."""
    inverted = "NotAction" in statement
    patterns = as_list(statement.get("NotAction" if inverted else "Action"))
    return any(fnmatchcase(action.lower(), str(pattern).lower()) for pattern in patterns) != inverted


def missing_principal(policy: Mapping[str, Any]) -> str | None:
    """Return the first role or user of this account that a policy names and that does not exist."""
    for statement in statements(policy):
        for arn in principals(statement, "AWS"):
            if isinstance(arn, str) and _is_missing(arn):
                return arn
    return None


def _is_missing(arn: str) -> bool:
    named = _ROLE_OR_USER.fullmatch(arn)
    if named is None or named[1] != ACCOUNT:
        return False
    backend = iam_backends[ACCOUNT]["aws"]
    kept: Iterator[Any] = iter(backend.roles.values() if named[2] == "role" else backend.users.values())
    return all(one.name != named[3] for one in kept)
