"""Grammar of event patterns, as Amazon EventBridge checks it.

https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html; the words are those that AWS
answered to localstack/localstack, tests/aws/services/events/test_events_patterns.snapshot.json (2025-10-15).
"""

import ipaddress
import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["problem"]

_BOUNDS = {"<": "<=", ">": ">="}


def problem(text: str) -> str | None:
    """Return the reason for which an event pattern is not valid, or None."""
    try:
        pattern = json.loads(text)
    except ValueError:
        return "Unrecognized token: was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
    if not isinstance(pattern, dict):
        return "Filter is not an object"
    return next(_of_object(pattern), None)


def _of_object(pattern: Mapping[str, Any]) -> Iterator[str]:
    for key, value in pattern.items():
        if key == "$or" and isinstance(value, list):
            for alternative in value:
                yield from _of_object(alternative if isinstance(alternative, dict) else {key: alternative})
        elif isinstance(value, dict):
            yield from _of_object(value)
        elif not isinstance(value, list):
            yield f'"{key}" must be an object or an array'
        elif not value:
            yield "Empty arrays are not allowed"
        else:
            for one in value:
                yield from _of_match(one)


def _of_match(one: Any) -> Iterator[str]:
    if isinstance(one, list):
        yield "Match value must be String, number, true, false, or null"
    if not isinstance(one, dict):
        return
    for operator, operand in one.items():
        check = _OPERATORS.get(operator)
        if check is None:
            yield f"Unrecognized match type {operator}"
        else:
            yield from check(operator, operand)


def _text(operator: str, operand: Any) -> Iterator[str]:
    if (
        isinstance(operand, dict)
        and operator in {"prefix", "suffix"}
        and [*operand] == ["equals-ignore-case"]
    ):
        operand = operand["equals-ignore-case"]
    if not isinstance(operand, str):
        yield f"{operator} match pattern must be a string"
    elif operator == "wildcard":
        yield from _wildcard(operand)


def _wildcard(operand: str) -> Iterator[str]:
    if "**" in operand:
        # The position counts from the opening quote.
        yield f"Consecutive wildcard characters at pos {operand.index('**') + 1}"


def _exists(operator: str, operand: Any) -> Iterator[str]:
    if not isinstance(operand, bool):
        yield f"{operator} match pattern must be either true or false."


def _numeric(operator: str, operand: Any) -> Iterator[str]:
    if not isinstance(operand, list):
        yield f"Value of {operator} must be an array."
        return
    seen: list[str] = []
    for position in range(0, len(operand), 2):
        sign, bound = operand[position], operand[position + 1 : position + 2]
        allowed = (
            {"=", "<", "<=", ">", ">="} if not seen else {"<", "<="} if seen[0] in {">", ">="} else set()
        )
        if sign not in allowed:
            yield f"Bad numeric range operator: {sign}"
            return
        if not bound or isinstance(bound[0], bool) or not isinstance(bound[0], (int, float)):
            yield f"Value of {'equals' if sign == '=' else sign} must be numeric"
            return
        seen.append(sign)


def _cidr(operator: str, operand: Any) -> Iterator[str]:  # noqa: ARG001 - the form of all checks
    if not isinstance(operand, str):
        yield "prefix match pattern must be a string"  # AWS names the wrong operator
        return
    address, slash, bits = operand.partition("/")
    if not slash:
        yield "Malformed CIDR, one '/' required"
        return
    if not bits.isdigit():
        yield "Malformed CIDR, mask bits must be an integer"
        return
    try:
        ipaddress.ip_address(address)
    except ValueError:
        yield f"Nonstandard IP address: {address}"


def _anything_but(operator: str, operand: Any) -> Iterator[str]:
    if isinstance(operand, dict):
        for inner, value in operand.items():
            yield from _anything_but_match(inner, value)
    elif isinstance(operand, list):
        if any(isinstance(one, bool) or not isinstance(one, (str, int, float)) for one in operand):
            yield "Inside anything but list, start|null|boolean is not supported."
    elif isinstance(operand, bool) or not isinstance(operand, (str, int, float)):
        yield f"Value of {operator} must be an array or single string/number value."


def _anything_but_match(inner: str, value: Any) -> Iterator[str]:
    values = value if isinstance(value, list) else [value]
    if inner in {"prefix", "suffix"}:
        if isinstance(value, dict):
            yield "Value of anything-but must be an array or single string/number value."
        elif any(not isinstance(one, str) for one in values):
            yield "prefix/suffix match pattern must be a string"
        elif "" in values:
            yield "Null prefix/suffix not allowed"
    elif inner == "equals-ignore-case":
        if any(not isinstance(one, str) for one in values):
            yield "Inside anything-but/equals-ignore-case list, number|start|null|boolean is not supported."
    elif inner == "wildcard":
        if any(not isinstance(one, str) for one in values):
            yield "wildcard match pattern must be a string"
    else:
        yield f"Unsupported anything-but pattern: {inner}"


_OPERATORS = {
    "prefix": _text,
    "suffix": _text,
    "equals-ignore-case": _text,
    "wildcard": _text,
    "exists": _exists,
    "numeric": _numeric,
    "cidr": _cidr,
    "anything-but": _anything_but,
}
