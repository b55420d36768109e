"""Whether IAM policies of a template allow a request: the rules of the IAM User Guide, as far as our policies need them.

Identity policies of one principal only. Deny wins, nothing said means no. An operator, a qualifier or an element
that is not known here raises an error instead of being passed over. Conditions as the User Guide says ("Condition
operators", read 2026-11): a key that is not in the request makes a condition false, a negated one true; with IfExists
it is true.
"""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import aws_cdk as cdk

Context = Mapping[str, str | int | Sequence[str]]

ACCOUNT = "123456789012"
_PSEUDO = {"AWS::Partition": "aws", "AWS::AccountId": ACCOUNT, "AWS::URLSuffix": "amazonaws.com"}
_ELEMENTS = {"Sid", "Effect", "Action", "Resource", "Condition"}


def _like(pattern: str, value: str) -> bool:
    return fnmatchcase(value, pattern.replace("[", "[[]"))


_OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "StringEquals": lambda wanted, got: wanted == got,
    "StringLike": _like,
    "ArnLike": _like,
    "Bool": lambda wanted, got: wanted.lower() == got.lower(),
    "NumericLessThanEquals": lambda wanted, got: float(got) <= float(wanted),
}
_NEGATED: dict[str, Callable[[str, str], bool]] = {
    "StringNotEquals": lambda wanted, got: wanted == got,
    "ArnNotEquals": _like,  # the same as ArnNotLike, says the User Guide
    "ArnNotLike": _like,
}


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _holds(operator: str, wanted: list[Any], got: Any) -> bool:
    if operator == "Null":
        return all((got is None) == (str(each).lower() == "true") for each in wanted)
    qualifier, _, name = operator.rpartition(":")
    if name.endswith("IfExists"):
        name = name.removesuffix("IfExists")
        if got is None:
            return True
    values = [str(each) for each in as_list(got)] if got is not None else []
    if name in _NEGATED and not qualifier:
        return not any(_NEGATED[name](str(each), value) for each in wanted for value in values)
    matches = [any(_OPERATORS[name](str(each), value) for each in wanted) for value in values]
    if qualifier == "ForAllValues":
        return all(matches)
    if qualifier not in {"", "ForAnyValue"}:
        raise ValueError(f"unknown qualifier: {operator}")
    return any(matches)


def _applies(statement: Mapping[str, Any], action: str, resource: str, context: Context) -> bool:
    if unknown := statement.keys() - _ELEMENTS - {"Principal"}:
        raise ValueError(f"unknown elements of a statement: {unknown}")
    given = {key.lower(): value for key, value in context.items()}
    return (
        any(_like(each.lower(), action.lower()) for each in as_list(statement["Action"]))
        and any(_like(each, resource) for each in as_list(statement["Resource"]))
        and all(
            _holds(operator, as_list(wanted), given.get(key.lower()))
            for operator, keys in statement.get("Condition", {}).items()
            for key, wanted in keys.items()
        )
    )


def allows(
    statements: Sequence[Mapping[str, Any]],
    action: str,
    resource: str = "*",
    context: Context | None = None,
) -> bool:
    """Whether these statements of identity policies, together, allow a request."""
    effects = {each["Effect"] for each in statements if _applies(each, action, resource, context or {})}
    return effects == {"Allow"}


def resolve(value: Any, region: str) -> Any:
    """The intrinsic functions that our policies use, as an account of ours would see them."""
    if isinstance(value, list):
        return [resolve(each, region) for each in value]
    match value:
        case {"Ref": name}:
            return region if name == "AWS::Region" else _PSEUDO.get(name, name)
        case {"Fn::GetAtt": [name, "Arn"]}:
            return f"arn:aws:test:::{name}"
        case {"Fn::Join": [separator, parts]}:
            return separator.join(resolve(part, region) for part in parts)
        case dict():
            return {key: resolve(each, region) for key, each in value.items()}
    return value


def identity_statements(stack: "cdk.Stack", role_id: str) -> list[dict[str, Any]]:
    """Statements of all policies in a stack's template that are attached to a role."""
    from aws_cdk import assertions  # slow; policies that stand in a file are judged without it

    template = assertions.Template.from_stack(stack)
    found: list[dict[str, Any]] = []
    for policy in template.find_resources("AWS::IAM::Policy").values():
        if {"Ref": role_id} in policy["Properties"]["Roles"]:
            found += policy["Properties"]["PolicyDocument"]["Statement"]
    resolved = resolve(found, stack.region)
    assert isinstance(resolved, list)
    assert resolved
    return resolved
