"""IAM's SimulatePrincipalPolicy and SimulateCustomPolicy, which moto lacks.

Actions, resources, permissions boundaries, and conditions on texts and ARNs are evaluated. As in AWS, a key of a condition that
the request does not give is missing: a condition does not hold, and a negated one does
(https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html). Resource policies in a
request, and other operators for a key that it gives, are refused by name.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from moto.iam.models import iam_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.handlers import Handlers, Request, ServiceError
from ultracluster_local.services.iam.policy_grammar import as_list

__all__ = ["decide", "handlers"]

handlers = Handlers(service="iam")

_OPERATORS = {
    f"{kind}{negation}{how}": bool(negation)
    for kind in ("String", "Arn")
    for negation in ("", "Not")
    for how in ("Equals", "Like")
}
"""Whether an operator is negated. ArnEquals takes wildcards as ArnLike does."""

_KNOWN = {"Sid", "Effect", "Action", "NotAction", "Resource", "NotResource", "Condition"}
_UNKNOWN_PARAMETERS = ("PolicyInputList", "ResourcePolicy", "CallerArn", "ResourceHandlingOption")


@handlers("SimulateCustomPolicy")
@handlers("SimulatePrincipalPolicy")
def simulate_policy(request: Request) -> Mapping[str, Any]:
    """Evaluate the policies of a role or user, or given ones, for actions."""
    given, limits = request.parameters, request.parameters.get("PermissionsBoundaryPolicyInputList")
    custom = given.get("PolicySourceArn") is None
    if unknown := [name for name in _UNKNOWN_PARAMETERS[custom:] if given.get(name)]:
        raise ServiceError("InvalidInput", f"The local AWS does not simulate {', '.join(unknown)}")
    own, bounds = (
        (list(_statements(given["PolicyInputList"])), list(_statements(limits)) if limits else None)
        if custom
        else _held(_principal(given["PolicySourceArn"]))
    )
    context = {
        one["ContextKeyName"].lower(): one.get("ContextKeyValues") or []
        for one in given.get("ContextEntries") or []
    }
    arns = given.get("ResourceArns") or []
    results = []
    for action in given["ActionNames"]:
        answers = [_answer(action, resource, own, bounds, context) for resource in arns or ["*"]]
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


def decide(
    principal: Any, action: str, resource: str, context: Mapping[str, list[str]], *, strict: bool = True
) -> str:
    """Evaluate the policies of moto's role or user, as the result of a simulation names it.

    Args:
        principal: Role or user of moto.
        action: Action, such as ``batch:SubmitJob``.
        resource: ARN; empty if it is not known, which counts for the caller.
        context: Values of keys of conditions.
        strict: Whether `context` has all keys that the request has; otherwise a missing one counts for the caller.

    Raises:
        ServiceError: If a statement has what is not simulated.
    """
    return _decision(action, resource, *_held(principal), context, strict=strict)


def _held(principal: Any) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]] | None]:
    """Return the statements of a principal, and those of its boundary if it has one."""
    boundary = getattr(principal, "permissions_boundary", None)
    bounds = list(_statements([_managed(boundary["PermissionsBoundaryArn"])])) if boundary else None
    return list(_statements(_policies(principal))), bounds


def _answer(
    action: str,
    resource: str,
    own: list[Mapping[str, Any]],
    bounds: list[Mapping[str, Any]] | None,
    context: Mapping[str, list[str]],
) -> dict[str, Any]:
    # AWS lists the keys of all policies, also of statements about other actions (boto/boto3#3111).
    conditions = [one.get("Condition") or {} for one in (*own, *(bounds or ()))]
    return {
        "EvalResourceName": resource,
        "EvalResourceDecision": _decision(action, resource, own, bounds, context),
        "MatchedStatements": [],
        "MissingContextValues": sorted(
            {key for one in conditions for keys in one.values() for key in keys if key.lower() not in context}
        ),
    }


def _principal(arn: str) -> Any:
    backend = iam_backends[ACCOUNT]["aws"]
    for one in (*backend.roles.values(), *backend.users.values()):
        if one.arn == arn:
            return one
    raise ServiceError("NoSuchEntity", "Unable to retrieve specified IAM entity.")


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
        for statement in as_list(parsed["Statement"]):
            if unknown := sorted(statement.keys() - _KNOWN):
                raise ServiceError("InvalidInput", f"The local AWS does not simulate {', '.join(unknown)}")
            yield statement


def _decision(
    action: str,
    resource: str,
    own: list[Mapping[str, Any]],
    bounds: list[Mapping[str, Any]] | None,
    context: Mapping[str, list[str]],
    *,
    strict: bool = True,
) -> str:
    effects = _effects(action, resource, own, context, strict=strict)
    limited = {"Allow"} if bounds is None else _effects(action, resource, bounds, context, strict=strict)
    if "Deny" in effects | limited:
        return "explicitDeny"
    return "allowed" if "Allow" in effects and "Allow" in limited else "implicitDeny"


def _effects(
    action: str,
    resource: str,
    statements: list[Mapping[str, Any]],
    context: Mapping[str, list[str]],
    *,
    strict: bool,
) -> set[str]:
    return {
        one["Effect"]
        for one in statements
        if _names(one, "Action", action.lower(), str.lower)
        and ((not resource and one["Effect"] == "Allow") or _names(one, "Resource", resource or "*", str))
        and all(
            one["Effect"] == "Allow"
            if not strict and key.lower() not in context
            else _holds(operator, as_list(wanted), context.get(key.lower()))
            for operator, keys in (one.get("Condition") or {}).items()
            for key, wanted in keys.items()
        )
    }


def _names(statement: Mapping[str, Any], member: str, value: str, read: Callable[[str], str]) -> bool:
    """Return whether a statement names an action or a resource, or leaves it out of what it does not mean."""
    patterns = as_list(statement[member] if member in statement else statement[f"Not{member}"])
    return any(_like(read(pattern), value) for pattern in patterns) == (member in statement)


def _holds(operator: str, wanted: list[str], given: list[str] | None) -> bool:
    """Return whether a condition on a key holds; without a value the request lacks the key."""
    if operator == "Null":
        return (str(wanted[0]).lower() == "true") == (given is None)
    if given is None:
        return operator.endswith("IfExists") or operator.startswith("ForAllValues:") or "Not" in operator
    name = operator.removesuffix("IfExists")
    if name not in _OPERATORS:
        raise ServiceError("InvalidInput", f"The local AWS does not simulate {operator} with a value")
    same = any(
        _like(one, value) if name.startswith("Arn") or name.endswith("Like") else one == value
        for one in wanted
        for value in given
    )
    return same != _OPERATORS[name]


def _like(pattern: str, value: str) -> bool:
    return fnmatchcase(value, pattern.replace("[", "[[]"))
