"""Property values: differences, and conversion from CloudFormation's form to the API's."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ResourceError

__all__ = ["Properties", "changed_keys", "tag_changes", "to_api"]

Properties = Mapping[str, Any]


def changed_keys(old: Properties, new: Properties) -> list[str]:
    """Return the names of the top-level properties that differ."""
    return sorted(key for key in {*old, *new} if old.get(key) != new.get(key))


def to_api(shape: Any, value: Any, *, path: str = "") -> Any:
    """Convert a CloudFormation value to API parameters: names ignoring case, strings to numbers, maps to lists.

    Raises:
        ResourceError: If the API has no such member; nothing is dropped silently.
    """
    kind = shape.type_name
    if kind == "structure":
        members = {name.lower(): name for name in shape.members}
        result = {}
        for key, part in value.items():
            name = members.get(key.lower())
            if name is None:
                raise ResourceError(
                    f"The local AWS does not support {path}{key} to {shape.name}; see `ultracluster docs local-aws`."
                )
            result[name] = to_api(shape.members[name], part, path=f"{path}{key}.")
        return result
    if kind == "list":
        if isinstance(value, dict):  # tags are a map in some schemas and a list in their API
            first = "Tag" if "TagKey" in getattr(shape.member, "members", ()) else ""  # as KMS calls them
            value = [{f"{first}Key": key, f"{first}Value": part} for key, part in value.items()]
        return [
            to_api(shape.member, part, path=path) for part in (value if isinstance(value, list) else [value])
        ]
    if kind == "map":
        if isinstance(value, list):
            value = {tag["Key"]: tag["Value"] for tag in value}
        return {key: to_api(shape.value, part, path=path) for key, part in value.items()}
    return _SCALARS.get(kind, _as_text)(value)


def _as_text(value: Any) -> Any:
    if isinstance(value, (dict, list)):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


_SCALARS: dict[str, Callable[[Any], Any]] = {
    "integer": int,
    "long": int,
    "float": float,
    "double": float,
    "boolean": lambda value: value if isinstance(value, bool) else str(value).lower() == "true",
    "timestamp": lambda value: value,
    "blob": lambda value: value,
}


def tag_changes(old: Any, new: Any) -> tuple[dict[str, str], list[str]]:
    """Return the tags to set and the keys to remove between two values of a ``Tags`` property."""
    before, after = _tag_map(old), _tag_map(new)
    return {key: part for key, part in after.items() if before.get(key) != part}, sorted(
        set(before) - set(after)
    )


def _tag_map(tags: Any) -> dict[str, str]:
    if isinstance(tags, dict):
        return {key: str(part) for key, part in tags.items()}
    return {tag["Key"]: str(tag["Value"]) for tag in tags or []}
