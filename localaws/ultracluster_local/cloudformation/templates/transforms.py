"""Transforms: AWS::LanguageExtensions for `Fn::Length` and `Fn::ToJsonString`, which are evaluated like every other function.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/transform-aws-languageextensions.html (read 2026-11-22).
"""

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
    macros = [one["Fn::Transform"] for one in _objects(template) if "Fn::Transform" in one]
    names += [one["Name"] if isinstance(one, dict) and "Name" in one else None for one in macros]
    known = [name for name in names if isinstance(name, str)]
    if len(known) < len(names):
        raise ValidationError("Key Name of transform definition must be a string.")
    return known


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield all objects within a value, itself included."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from _objects(part)


def expanded(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return `template` as its transforms leave it.

    Args:
        template: Parsed template.

    Raises:
        TransformError: If a transform is unknown or fails.
    """
    for name in transforms(template):
        if name.startswith("AWS::") and name != LANGUAGE_EXTENSIONS:
            raise TransformError(f"The local AWS does not run the transform {name}.")
        if name != LANGUAGE_EXTENSIONS:
            raise TransformError(f"No transform named {ACCOUNT}::{name} found.")
    _refuse_what_is_not_simulated(template)
    for section in ("Resources", "Outputs"):
        for name, member in (template.get(section) or {}).items():
            if any(is_intrinsic(one) and "Condition" in one for one in _jsons(member)):
                raise TransformError(
                    f"Transform {LANGUAGE_EXTENSIONS} failed with: Fn::ToJsonString does not support Condition intrinsic "
                    f"function for resource {name}"
                )
    return {key: part for key, part in template.items() if key != "Transform"}


def _refuse_what_is_not_simulated(template: Mapping[str, Any]) -> None:
    for one in _objects(template):
        if any(str(key).startswith(_LOOP) for key in one):
            raise _unsupported("Fn::ForEach")
    for resource in template["Resources"].values():
        for policy in _POLICIES if isinstance(resource, dict) else ():
            if isinstance(resource.get(policy), dict):
                raise _unsupported(f"functions in {policy}")


def _unsupported(what: str) -> TransformError:
    return TransformError(f"The local AWS does not simulate {what}; see `ultracluster docs local-aws`.")


def _jsons(value: Any) -> Iterator[Any]:
    """Yield the objects within the arguments of `Fn::ToJsonString`."""
    for one in _objects(value):
        yield from _objects(one.get("Fn::ToJsonString"))
