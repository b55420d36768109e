"""File systems, data repository associations and backups of FSx in a Region."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ultracluster_local.instance.state import region_state
from ultracluster_local.services.handlers import Request, ServiceError, page
from ultracluster_local.services.leaving import Leaving

__all__ = ["Fsx", "bad_request", "described", "fsx_of"]

_ABSENT = {
    "association": ("DataRepositoryAssociationNotFound", "Data repository association"),
    "backup": ("BackupNotFound", "Backup"),
    "file_system": ("FileSystemNotFound", "File system"),
}


@dataclass(slots=True)
class Fsx:
    """Resources of one Region by ID."""

    file_systems: dict[str, dict[str, Any]] = field(default_factory=dict)
    associations: dict[str, dict[str, Any]] = field(default_factory=dict)
    backups: dict[str, dict[str, Any]] = field(default_factory=dict)
    leaving: Leaving = field(default_factory=Leaving)

    def all(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the resources of a kind: ``association``, ``backup`` or ``file_system``."""
        kinds = {
            "association": self.associations,
            "backup": self.backups,
            "file_system": self.file_systems,
        }
        return kinds[kind]

    def one(self, kind: str, key: str) -> dict[str, Any]:
        """Return a resource of a kind.

        Raises:
            ServiceError: No such ID exists.
        """
        if key not in self.all(kind):
            code, what = _ABSENT[kind]
            raise ServiceError(code, f"{what} '{key}' does not exist.")
        return self.all(kind)[key]

    def associations_of(self, file_system_id: str) -> list[dict[str, Any]]:
        """Return the associations of a file system, oldest first."""
        return [each for each in self.associations.values() if each["FileSystemId"] == file_system_id]


def fsx_of(request: Request) -> Fsx:
    """Return the resources in the Region of a call."""
    return region_state("fsx", region=request.region, new=Fsx)


def bad_request(message: str) -> ServiceError:
    """Return the error that FSx answers with to a request it refuses."""
    return ServiceError("BadRequest", message)


def described(
    request: Request, kind: str, *, ids: str, key: str, fields: Mapping[str, str]
) -> Mapping[str, Any]:
    """Return the page of all resources of a kind, the named ones, or those that match the filters of a request.

    Args:
        request: Request.
        kind: Kind, such as ``backup``.
        ids: Parameter with the named ones.
        key: Member of the answer.
        fields: Member that each filter compares, ``FileSystem.FileSystemId`` for one in another.

    Raises:
        ServiceError: If a named one does not exist, or the local AWS lacks a filter.
    """
    named = request.parameters.get(ids)
    shown = (
        [fsx_of(request).one(kind, one) for one in named] if named else [*fsx_of(request).all(kind).values()]
    )
    for condition in request.parameters.get("Filters") or []:
        if condition["Name"] not in fields:
            raise bad_request(f"The local AWS does not support the filter {condition['Name']}")
        outer, _, inner = fields[condition["Name"]].partition(".")
        shown = [
            one for one in shown if (one[outer][inner] if inner else one.get(outer)) in condition["Values"]
        ]
    return page(shown, parameters=request.parameters, key=key)
