"""Schemas of the CloudFormation registry: properties of resource types, and which of them require replacement.

The schemas are those of cfn-lint, read as data: an independent check of our
providers and templates.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ultracluster_local.cloudformation.registry.constraints import violations
from ultracluster_local.cloudformation.templates.parsing import is_intrinsic
from ultracluster_local.instance.cfn_lint_data import data_directory

__all__ = ["create_only", "has_attribute", "is_known", "problems", "read_only", "schema", "type_names"]

_INDEX_REGION = "us-east-1"  # the Region with the most types


@cache
def _index() -> Mapping[str, str]:
    text = (data_directory() / "schemas" / "providers" / f"{_INDEX_REGION}.json").read_text("utf-8")
    index: dict[str, str] = json.loads(text)
    return index


def is_known(resource_type: str) -> bool:
    """Return whether CloudFormation has a resource type."""
    return resource_type in _index()


def type_names() -> list[str]:
    """Return the names of all types, sorted."""
    return sorted(_index())


@cache
def schema(resource_type: str) -> Mapping[str, Any]:
    """Return the registry schema of a type.

    Raises:
        KeyError: If there is no such type.
    """
    path = data_directory() / "schemas" / "resources" / f"{_index()[resource_type]}.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


@cache
def create_only(resource_type: str, *, conditional: bool = False) -> frozenset[tuple[str, ...]]:
    """Return the paths of properties whose change requires replacement.

    Args:
        resource_type: Resource type, such as ``AWS::EC2::Subnet``.
        conditional: Return those that only sometimes require it. Default: those that always do.
    """
    key = "conditionalCreateOnlyProperties" if conditional else "createOnlyProperties"
    paths = schema(resource_type).get(key) or []
    return frozenset(tuple(path.removeprefix("/properties/").split("/")) for path in paths)


@cache
def read_only(resource_type: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the read-only properties of a type, and those that identify a resource."""
    found = schema(resource_type)
    paths = (path.removeprefix("/properties/") for path in found.get("readOnlyProperties") or [])
    identifier = (path.removeprefix("/properties/") for path in found.get("primaryIdentifier") or [])
    return tuple(path for path in paths if "/" not in path), frozenset(identifier)


def has_attribute(resource_type: str, attribute: str) -> bool:
    """Return whether a type may have an attribute: its outputs, or anything that its schema describes."""
    if not is_known(resource_type) or resource_type.startswith(
        ("AWS::CloudFormation::", "AWS::ServiceCatalog::")
    ):
        return True
    found = schema(resource_type)
    return attribute.partition(".")[0] in {*found["properties"], *read_only(resource_type)[0]}


def problems(resource_type: str, properties: Mapping[str, Any], *, patterns: bool = False) -> list[str]:
    """Return unknown, missing and invalid properties, resolved or not, according to the schema.

    Args:
        resource_type: Resource type.
        properties: Properties.
        patterns: Whether the patterns of the schema count. Default: no.
    """
    found = schema(resource_type)
    given = sorted(set(read_only(resource_type)[0]) & set(properties))
    said = [f"#: extraneous key [{key}] is not permitted" for key in given]
    return said + list(_compare(properties, found, found, "#", patterns=patterns))


def _compare(
    value: Any, shape: Mapping[str, Any], root: Mapping[str, Any], path: str, *, patterns: bool
) -> Iterator[str]:
    if is_intrinsic(value):
        return
    shape = _followed(shape, root)
    yield from violations(value, shape, path, patterns=patterns)
    if isinstance(value, list) and isinstance(shape.get("items"), dict):
        for index, part in enumerate(value):
            yield from _compare(part, shape["items"], root, f"{path}/{index}", patterns=patterns)
    elif isinstance(value, dict):
        yield from _compare_members(value, shape, root, path, patterns=patterns)


def _compare_members(
    value: Mapping[str, Any], shape: Mapping[str, Any], root: Mapping[str, Any], path: str, *, patterns: bool
) -> Iterator[str]:
    known = _members(shape, root)
    if not known or shape.get("patternProperties"):
        return
    for key, part in value.items():
        if key in known:
            yield from _compare(part, known[key], root, f"{path}/{key}", patterns=patterns)
        elif shape.get("additionalProperties") is False:
            yield f"{path}: extraneous key [{key}] is not permitted"
    for key in shape.get("required") or []:
        if key not in value:
            yield f"{path}: required key [{key}] not found"


def _followed(shape: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in shape:
        target: Any = root
        for part in shape["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        shape = target
    return shape


def _members(shape: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """Return all members of a shape, those of its alternatives as well."""
    members = dict(shape.get("properties") or {})
    for word in ("oneOf", "anyOf", "allOf"):
        for alternative in shape.get(word) or []:
            members |= {
                key: part
                for key, part in _members(_followed(alternative, root), root).items()
                if key not in members
            }
    return members
