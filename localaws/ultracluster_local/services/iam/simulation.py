"""IAM's SimulatePrincipalPolicy, which moto lacks.

Actions, resources and permissions boundaries are evaluated. As in AWS, a key of a condition that the request does not give is
missing: a condition does not hold, and a negated one does
(https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html). Resource policies and
context in a request are refused by name.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from moto.iam.models import SERVICE_NAME_CONVERSION, iam_backends
from moto.iam.responses import IamResponse

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.handlers import Handlers, Request, ServiceError

__all__ = ["handlers", "install"]

handlers = Handlers(service="iam")

_KNOWN = {"Sid", "Effect", "Action", "NotAction", "Resource", "NotResource", "Condition"}
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
    arns = given.get("ResourceArns") or []
    results = []
    for action in given["ActionNames"]:
        answers = [_answer(action, resource, own, bounds) for resource in arns or ["*"]]
        decisions = {one["EvalResourceDecision"] for one in answers}
        # Of several resources the least that is allowed; botocore 1.44.5, EvaluationResult.
        least = next(one for one in ("explicitDeny", "implicitDeny", "allowed") if one in decisions)
        result = {
            "EvalActionName": action,
            "EvalResourceName": "*",  # AWS gives the form of an ARN, which only its service reference knows
            "EvalDecision": least,
            "MatchedStatements": [],
            "MissingContextValues": sorted({key for one in answers for key in one["MissingContextValues"]}),
        }
        results.append(result | ({"ResourceSpecificResults": answers} if arns else {}))
    return {"EvaluationResults": results, "IsTruncated": False}


def _answer(
    action: str, resource: str, own: list[Mapping[str, Any]], bounds: list[Mapping[str, Any]] | None
) -> dict[str, Any]:
    # AWS lists the keys of all policies, also of statements about other actions (boto/boto3#3111).
    conditions = [one.get("Condition") or {} for one in (*own, *(bounds or ()))]
    return {
        "EvalResourceName": resource,
        "EvalResourceDecision": _decision(action, resource, own, bounds),
        "MatchedStatements": [],
        "MissingContextValues": sorted({key for one in conditions for keys in one.values() for key in keys}),
    }


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
        if _names(one, "Action", action.lower(), str.lower)
        and _names(one, "Resource", resource, str)
        and all(map(_holds_without_keys, (one.get("Condition") or {}).items()))
    }


def _names(statement: Mapping[str, Any], member: str, value: str, read: Callable[[str], str]) -> bool:
    """Return whether a statement names an action or a resource, or leaves it out of what it does not mean."""
    patterns = _list(statement[member] if member in statement else statement[f"Not{member}"])
    return any(_like(read(pattern), value) for pattern in patterns) == (member in statement)


def _holds_without_keys(condition: tuple[str, Mapping[str, Any]]) -> bool:
    """Return whether a condition holds in a request without the keys that it names."""
    operator, keys = condition
    if operator == "Null":
        return all("true" in map(str.lower, map(str, _list(value))) for value in keys.values())
    return operator.endswith("IfExists") or operator.startswith("ForAllValues:") or "Not" in operator


def _like(pattern: str, value: str) -> bool:
    return fnmatchcase(value, pattern.replace("[", "[[]"))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
