"""IAM roles as other services see them: whether a role exists, and which services it trusts."""

from datetime import UTC
from typing import Any
from urllib.parse import unquote

from moto.iam.models import iam_backends

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.delays import delays
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.iam.policy_grammar import covers, document, lets_service, statements

__all__ = ["can_assume", "find_role", "may_call"]


def find_role(wanted: str) -> Any | None:
    """Find a role of the account by ARN or name.

    Args:
        wanted: ARN with the role's path, or name with or without the path.
    """
    for role in iam_backends[ACCOUNT]["aws"].roles.values():
        if wanted in (role.arn, role.name, f"{role.path}{role.name}"):
            return role
    return None


def can_assume(service: str, wanted: str) -> bool:
    """Return whether `service` can assume a role: it exists, trusts the service, and has propagated.

    Args:
        service: Service principal, such as ``batch.amazonaws.com``.
        wanted: ARN or name of the role.
    """
    role = find_role(wanted)
    if role is None:
        return False
    created = role.create_date.replace(tzinfo=UTC) if role.create_date.tzinfo is None else role.create_date
    if CLOCK.now() < created + delays().iam:
        return False
    return lets_service(document(unquote(role.assume_role_policy_document)), [service])


def may_call(wanted: str, action: str) -> bool:
    """Return whether a policy of a role allows an action on a resource; conditions count as met.

    Args:
        wanted: ARN or name of the role.
        action: Action, such as ``ec2:CreateNetworkInterface``.
    """
    role = find_role(wanted)
    if role is None:
        return False
    documents = [*role.policies.values()]
    for policy in role.managed_policies.values():
        documents += [version.document for version in policy.versions if version.is_default]
    found = [one for text in documents for one in statements(document(text) or {})]
    return any(one.get("Effect") == "Allow" and covers(one, action) for one in found)
