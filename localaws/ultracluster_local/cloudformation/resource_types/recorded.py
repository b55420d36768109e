"""Resource types of the CloudFormation registry without a provider: their properties are checked and kept, nothing else.

So that a template deploys whose other resources matter here. Events say of each that it is only recorded.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import Context, Provider
from ultracluster_local.cloudformation.registry import schemas
from ultracluster_local.cloudformation.values import Properties
from ultracluster_local.instance.state import region_state

__all__ = ["RECORDED_ONLY", "Recorded"]

RECORDED_ONLY = "Recorded only: the local AWS does not simulate this resource type."

_PREFIXES = {
    "FileSystemId": "fs",
    "AccessPointId": "fsap",
    "InstanceId": "i",
    "VolumeId": "vol",
    "MountTargetId": "fsmt",
}
"""Prefix of identifiers whose form other types check."""

_Kept = dict[tuple[str, str], Properties]
_OF_TYPE: Mapping[str, Any] = {"integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}


def _kept(context: Context) -> _Kept:
    return region_state("cloudformation:recorded", region=context.region, new=dict)


def _name(pointer: str) -> str:
    return pointer.removeprefix("/properties/").replace("/", ".")


class Recorded(Provider):
    """A type whose resources are only recorded."""

    def create(self, context: Context, properties: Properties) -> str:
        """Record the resource under its primary identifier, generated where the service would generate it."""
        kind = context.resource_type
        identifier = [_name(pointer) for pointer in schemas.schema(kind).get("primaryIdentifier") or []]
        physical_id = "|".join(self._identifier(context, name, properties) for name in identifier)
        physical_id = physical_id or context.generated_name()
        if (kind, physical_id) in _kept(context):
            name = kind.rsplit("::", 1)[-1]
            raise ResourceError(
                f"Resource of type '{kind}' with identifier '{physical_id}' already exists. ({name}, HandlerErrorCode: "
                "AlreadyExists)"
            )
        _kept(context)[kind, physical_id] = properties
        return physical_id

    @staticmethod
    def _identifier(context: Context, name: str, properties: Properties) -> str:
        if isinstance(properties.get(name), (str, int)):
            return str(properties[name])
        return _generated(context, name)

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:
        """Return a value for each read-only property: its identifier, an ARN, or an empty one of its type."""
        found = schemas.schema(context.resource_type)
        identifier = [_name(pointer) for pointer in found.get("primaryIdentifier") or []]
        values = {}
        for pointer in found.get("readOnlyProperties") or []:
            name = _name(pointer)
            if "*" in name:
                continue
            shape = (found["properties"].get(name) or {}) if "." not in name else {}
            kind = shape.get("type")
            empty = _OF_TYPE.get(kind) if isinstance(kind, str) else None
            value = _generated(context, name) if empty is None else empty
            values[name] = physical_id if identifier == [name] else value
        return {
            **{key: part for key, part in properties.items() if isinstance(part, (str, int, bool))},
            **values,
        }

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:  # noqa: ARG002 - what was recorded
        """Return the recorded properties."""
        return _kept(context).get((context.resource_type, physical_id))

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:  # noqa: ARG002 - all of it is recorded
        """Record the new properties."""
        _kept(context)[context.resource_type, physical_id] = new
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - likewise
        """Delete the record of the resource."""
        _kept(context).pop((context.resource_type, physical_id), None)


def _generated(context: Context, name: str) -> str:
    """Generate a value that has the form of its property: an ARN, an address or a name."""
    stem = context.generated_name(limit=63, lower=True)
    last = name.rsplit(".", 1)[-1]
    if last in _PREFIXES:
        return f"{_PREFIXES[last]}-{hashlib.sha256(stem.encode()).hexdigest()[:17]}"
    if last.lower().endswith("arn"):
        service, kind = context.resource_type.split("::")[1:3]
        return context.arn(service.lower(), f"{kind.lower()}/{stem}")
    return (
        f"{stem}.{context.region}.amazonaws.com"
        if last in {"Address", "DNSName", "Endpoint", "Url"}
        else stem
    )
