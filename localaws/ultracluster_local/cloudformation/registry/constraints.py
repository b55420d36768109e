"""Constraints of single values in registry schemas, with the messages of CloudFormation's validator."""

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["violations"]

_DYNAMIC = "{{resolve:"


def violations(value: Any, shape: Mapping[str, Any], path: str, *, patterns: bool) -> Iterator[str]:
    """Return the violations of a schema by a resolved value; those of its parts are found elsewhere.

    Args:
        value: Value of a property.
        shape: Schema of the property.
        path: Path of the property, such as ``#/Timeout``.
        patterns: Whether patterns count. cfn-lint adds some that CloudFormation lacks, so that the service answers.
    """
    if isinstance(value, list):
        least, most = shape.get("minItems"), shape.get("maxItems")
        if not any(isinstance(part, dict) and any(key.startswith("Fn::") for key in part) for part in value):
            if least is not None and len(value) < least:
                yield f"{path}: expected minimum item count: {least}, found: {len(value)}"
            if most is not None and len(value) > most:
                yield f"{path}: expected maximum item count: {most}, found: {len(value)}"
    elif isinstance(value, (str, int, float)) and not (isinstance(value, str) and _DYNAMIC in value):
        yield from _of_scalar(value, shape, path, patterns=patterns)


def _of_scalar(value: str | float, shape: Mapping[str, Any], path: str, *, patterns: bool) -> Iterator[str]:
    kinds = shape.get("type")
    kind = kinds if isinstance(kinds, str) else ""
    if kind == "boolean" and _text(value).lower() not in {"true", "false"}:
        yield f"{path}: expected type: Boolean, found: String"
        return
    if "enum" in shape and _text(value) not in {_text(one) for one in shape["enum"]}:
        yield f"{path}: {_text(value)} is not a valid enum value"
    if kind in {"integer", "number"}:
        yield from _of_number(value, shape, path)
    elif kind == "string":
        text = _text(value)
        if len(text) < shape.get("minLength", 0):
            yield f"{path}: expected minLength: {shape['minLength']}, actual: {len(text)}"
        if len(text) > shape.get("maxLength", len(text)):
            yield f"{path}: expected maxLength: {shape['maxLength']}, actual: {len(text)}"
        compiled = _compiled(shape["pattern"]) if isinstance(shape.get("pattern"), str) else None
        if patterns and compiled and not compiled.search(text):
            yield f"{path}: failed validation constraint for keyword [pattern]"


def _of_number(value: str | float, shape: Mapping[str, Any], path: str) -> Iterator[str]:
    try:
        number = float(value)
    except ValueError:
        yield f"{path}: expected type: Number, found: String"
        return
    if "minimum" in shape and number < shape["minimum"]:
        yield f"{path}: {number} is not greater or equal to {shape['minimum']}"
    if "maximum" in shape and number > shape["maximum"]:
        yield f"{path}: {number} is not less or equal to {shape['maximum']}"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Compile a JavaScript pattern of a schema; None if Python does not support it."""
    try:
        return re.compile(pattern)
    except re.error:
        return None
