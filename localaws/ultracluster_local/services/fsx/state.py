"""File systems and data repository associations of FSx in a Region."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ultracluster_local.instance.state import region_state
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.leaving import Leaving

__all__ = ["Fsx", "fsx_of"]


@dataclass(slots=True)
class Fsx:
    """Resources of one Region by ID."""

    file_systems: dict[str, dict[str, Any]] = field(default_factory=dict)
    associations: dict[str, dict[str, Any]] = field(default_factory=dict)
    leaving: Leaving = field(default_factory=Leaving)

    def file_system(self, file_system_id: str) -> dict[str, Any]:
        """Return a file system.

        Raises:
            ServiceError: No such ID exists.
        """
        return _get(self.file_systems, file_system_id, "FileSystemNotFound", "File system")

    def association(self, association_id: str) -> dict[str, Any]:
        """Return an association.

        Raises:
            ServiceError: No such ID exists.
        """
        what = "Data repository association"
        return _get(self.associations, association_id, "DataRepositoryAssociationNotFound", what)

    def associations_of(self, file_system_id: str) -> list[dict[str, Any]]:
        """Return the associations of a file system, oldest first."""
        return [each for each in self.associations.values() if each["FileSystemId"] == file_system_id]


def fsx_of(request: Request) -> Fsx:
    """Return the resources in the Region of a call."""
    return region_state("fsx", region=request.region, new=Fsx)


def _get(things: Mapping[str, dict[str, Any]], key: str, code: str, what: str) -> dict[str, Any]:
    try:
        return things[key]
    except KeyError:
        raise ServiceError(code, f"{what} '{key}' does not exist.") from None
