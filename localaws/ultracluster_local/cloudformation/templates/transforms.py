"""The transform AWS::LanguageExtensions: `Fn::ForEach`, and functions in places where templates have none without it.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/transform-aws-languageextensions.html (read 2026-11-22).
`Fn::Length` and `Fn::ToJsonString` are evaluated like every other function.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.templates.parsing import is_intrinsic
from ultracluster_local.instance.environment import ACCOUNT

__all__ = ["LANGUAGE_EXTENSIONS", "TransformError", "expanded", "transforms"]

LANGUAGE_EXTENSIONS = "AWS::LanguageExtensions"

_LOOP = "Fn::ForEach::"
_POLICIES = ("DeletionPolicy", "UpdateReplacePolicy")


class TransformError(ValidationError):
    """A transform that failed; a change set says so in its status."""


def transforms(template: Mapping[str, Any]) -> list[str]:
    """Return the names of the transforms of a template.

    Raises:
        ValidationError: If one is no string.
    """
    given = template.get("Transform") or []
    names = [
        one.get("Name") if isinstance(one, dict) else one
        for one in (given if isinstance(given, list) else [given])
    ]
    names += [one["Name"] if isinstance(one, dict) and "Name" in one else None for one in _macros(template)]
    known = [name for name in names if isinstance(name, str)]
    if len(known) < len(names):
        raise ValidationError("Key Name of transform definition must be a string.")
    return known


def _macros(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if "Fn::Transform" in value:
            yield value["Fn::Transform"]
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from _macros(part)


def expanded(template: Mapping[str, Any], parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return `template` as its transforms leave it.

    Args:
        template: Parsed template.
        parameters: Parameter values as strings.

    Raises:
        TransformError: If a transform is unknown or fails.
    """
    for name in transforms(template):
        if name.startswith("AWS::") and name != LANGUAGE_EXTENSIONS:
            raise TransformError(f"The local AWS does not run the transform {name}.")
        if name != LANGUAGE_EXTENSIONS:
            raise TransformError(f"No transform named {ACCOUNT}::{name} found.")
    for section in ("Resources", "Outputs"):
        for name, member in (template.get(section) or {}).items():
            if any(is_intrinsic(one) and "Condition" in one for one in _jsons(member)):
                raise _failure(
                    f"Fn::ToJsonString does not support Condition intrinsic function for resource {name}"
                )
    known = _Known(template, parameters)
    result: dict[str, Any] = {
        key: _looped(part, known) if key in {"Conditions", "Resources", "Outputs"} else part
        for key, part in template.items()
        if key != "Transform"
    }
    for resource in result["Resources"].values():
        for policy in _POLICIES if isinstance(resource, dict) else ():
            if isinstance(resource.get(policy), dict):
                resource[policy] = known.value(resource[policy])
    return result


def _failure(message: str) -> TransformError:
    return TransformError(f"Transform {LANGUAGE_EXTENSIONS} failed with: {message}")


class _Known:
    """Values that are known before a deployment: parameters and mappings."""

    def __init__(self, template: Mapping[str, Any], parameters: Mapping[str, str]) -> None:
        self._mappings = template.get("Mappings") or {}
        self._parameters = {
            name: [part.strip() for part in parameters[name].split(",")]
            if one.get("Type") == "CommaDelimitedList" or str(one.get("Type")).startswith("List<")
            else parameters[name]
            for name, one in (template.get("Parameters") or {}).items()
        }

    def value(self, given: Any) -> Any:
        """Return the value of a reference; other values unchanged."""
        if isinstance(given, list):
            return [self.value(part) for part in given]
        if isinstance(given, dict) and given.get("Ref") in self._parameters:
            return self._parameters[given["Ref"]]
        if isinstance(given, dict) and "Fn::FindInMap" in given:
            found: Any = self._mappings
            for part in self.value(given["Fn::FindInMap"])[:3]:
                found = found.get(part) if isinstance(found, dict) else None
            return found
        return given


def _looped(value: Any, known: _Known) -> Any:
    if isinstance(value, list):
        return [_looped(part, known) for part in value]
    if not isinstance(value, dict):
        return value
    result: dict[str, Any] = {}
    for key, part in value.items():
        members = _members(key, part, known) if str(key).startswith(_LOOP) else {key: _looped(part, known)}
        if twice := sorted(result.keys() & members.keys()):
            raise _failure(f"Duplicate keys found: [{', '.join(twice)}] in {key}")
        result |= members
    return result


def _members(loop: str, argument: Any, known: _Known) -> dict[str, Any]:
    parts = argument if isinstance(argument, list) else []
    if len(parts) != 3 or not isinstance(parts[0], str) or not isinstance(parts[2], dict):  # noqa: PLR2004 - identifier, collection, body
        raise _failure(f"{loop} layout is incorrect")
    identifier, collection, body = parts[0], known.value(parts[1]), parts[2]
    if not isinstance(collection, list) or not all(isinstance(one, (str, int)) for one in collection):
        raise _failure(f"{loop} could not resolve its collection")
    result: dict[str, Any] = {}
    for one in collection:
        result |= _looped(_substituted(body, identifier, str(one)), known)
    return result


def _substituted(value: Any, identifier: str, text: str) -> Any:
    if isinstance(value, dict):
        if value == {"Ref": identifier}:
            return text
        return {
            _substituted(key, identifier, text): _substituted(part, identifier, text)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_substituted(part, identifier, text) for part in value]
    if isinstance(value, str):
        plain = re.sub(r"[^A-Za-z0-9]", "", text)
        return value.replace(f"${{{identifier}}}", text).replace(f"&{{{identifier}}}", plain)
    return value


def _jsons(value: Any) -> Iterator[Any]:
    """Return the objects within the arguments of `Fn::ToJsonString`."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _objects(part) if key == "Fn::ToJsonString" else _jsons(part)
    elif isinstance(value, list):
        for part in value:
            yield from _jsons(part)


def _objects(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from _objects(part)
