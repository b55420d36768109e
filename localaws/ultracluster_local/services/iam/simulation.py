"""IAM's SimulatePrincipalPolicy, which moto lacks.

Effect, Action and Resource are evaluated, and permissions boundaries apply. Everything else is refused by name: conditions,
NotAction, NotResource, and resource policies or context in a request.
"""

import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from moto.iam.models import SERVICE_NAME_CONVERSION, iam_backends
from moto.iam.responses import IamResponse

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.handlers import Handlers, Request, ServiceError

__all__ = ["handlers", "install"]

handlers = Handlers(service="iam")

_KNOWN = {"Sid", "Effect", "Action", "Resource"}
_UNKNOWN_PARAMETERS = (
    "PolicyInputList",
    "ResourcePolicy",
    "ContextEntries",
    "CallerArn",
    "ResourceHandlingOption",
)


# Names of service-linked roles that moto lacks.
_ROLE_NAMES = {"batch": "Batch", "fsx": "AmazonFSx", "spot": "EC2Spot"}


def install() -> None:
    """Install the operation and names of service-linked roles into moto's IAM."""
    handlers.install(IamResponse)
    SERVICE_NAME_CONVERSION.update(_ROLE_NAMES)


@handlers("SimulatePrincipalPolicy")
def simulate_principal_policy(request: Request) -> Mapping[str, Any]:
    """Evaluate the policies of a role or user for actions."""
    given = request.parameters
    if unknown := [name for name in _UNKNOWN_PARAMETERS if given.get(name)]:
        raise ServiceError("InvalidInput", f"The local AWS does not simulate {', '.join(unknown)}")
    principal = _principal(given["PolicySourceArn"])
    own = list(_statements(_policies(principal)))
    boundary = getattr(principal, "permissions_boundary", None)
    bounds = list(_statements([_managed(boundary["PermissionsBoundaryArn"])])) if boundary else None
    results = [
        {
            "EvalActionName": action,
            "EvalResourceName": resource,
            "EvalDecision": _decision(action, resource, own, bounds),
            "MatchedStatements": [],
            "MissingContextValues": [],
        }
        for action in given["ActionNames"]
        for resource in given.get("ResourceArns") or ["*"]
    ]
    return {"EvaluationResults": results, "IsTruncated": False}


def _principal(arn: str) -> Any:
    backend = iam_backends[ACCOUNT]["aws"]
    for one in (*backend.roles.values(), *backend.users.values()):
        if one.arn == arn:
            return one
    raise ServiceError("NoSuchEntity", f"The entity {arn} cannot be found")


def _policies(principal: Any) -> Iterable[str]:
    inline = principal.policies
    yield from inline.values() if isinstance(inline, Mapping) else (one["policy_document"] for one in inline)
    yield from (_document(one) for one in principal.managed_policies.values())


def _managed(arn: str) -> str:
    policy = iam_backends[ACCOUNT]["aws"].managed_policies.get(arn)
    if policy is None:
        raise ServiceError("InvalidInput", f"The local AWS has no policy {arn}")
    return _document(policy)


def _document(policy: Any) -> str:
    return str(next(version.document for version in policy.versions if version.is_default))


def _statements(documents: Iterable[str]) -> Iterable[Mapping[str, Any]]:
    for document in documents:
        parsed = json.loads(document) if isinstance(document, str) else document
        for statement in _list(parsed["Statement"]):
            if unknown := sorted(statement.keys() - _KNOWN):
                raise ServiceError("InvalidInput", f"The local AWS does not simulate {', '.join(unknown)}")
            yield statement


def _decision(
    action: str, resource: str, own: list[Mapping[str, Any]], bounds: list[Mapping[str, Any]] | None
) -> str:
    effects = _effects(action, resource, own)
    limited = {"Allow"} if bounds is None else _effects(action, resource, bounds)
    if "Deny" in effects | limited:
        return "explicitDeny"
    return "allowed" if "Allow" in effects and "Allow" in limited else "implicitDeny"


def _effects(action: str, resource: str, statements: list[Mapping[str, Any]]) -> set[str]:
    return {
        one["Effect"]
        for one in statements
        if any(_like(pattern.lower(), action.lower()) for pattern in _list(one["Action"]))
        and any(_like(pattern, resource) for pattern in _list(one["Resource"]))
    }


def _like(pattern: str, value: str) -> bool:
    return fnmatchcase(value, pattern.replace("[", "[[]"))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
