"""What FSx holds in a Region, how it is found, and what it refuses.

What FSx refuses is what the catalogue says that it refuses: `ultracluster_rules.lustre` and
`lustre_associations`, which tests hold against the model of FSx.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.lustre.lustre_associations import DataRepositoryAssociation
from ultracluster_local.instance.state import remembered
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_rules.findings import Finding
from ultracluster_rules.lustre import check_associations, check_file_system

__all__ = ["Fsx", "bad_request", "check", "fsx_of"]


@dataclass(slots=True)
class Fsx:
    """What one Region holds, each by its id."""

    file_systems: dict[str, dict[str, Any]] = field(default_factory=dict)
    associations: dict[str, dict[str, Any]] = field(default_factory=dict)
    backups: dict[str, dict[str, Any]] = field(default_factory=dict)

    def file_system(self, file_system_id: str) -> dict[str, Any]:
        """Give a file system.

        Raises:
            ServiceError: There is none of this id.
        """
        return _get(self.file_systems, file_system_id, "FileSystemNotFound", "File system")

    def association(self, association_id: str) -> dict[str, Any]:
        """Give an association.

        Raises:
            ServiceError: There is none of this id.
        """
        what = "Data repository association"
        return _get(self.associations, association_id, "DataRepositoryAssociationNotFound", what)

    def backup(self, backup_id: str) -> dict[str, Any]:
        """Give a backup.

        Raises:
            ServiceError: There is none of this id.
        """
        return _get(self.backups, backup_id, "BackupNotFound", "Backup")

    def associations_of(self, file_system_id: str) -> list[dict[str, Any]]:
        """Give the associations of a file system, oldest first."""
        return [each for each in self.associations.values() if each["FileSystemId"] == file_system_id]


def fsx_of(request: Request) -> Fsx:
    """Give what the Region of a call holds."""
    return remembered("fsx", region=request.region, new=Fsx)


def _get(things: Mapping[str, dict[str, Any]], key: str, code: str, what: str) -> dict[str, Any]:
    try:
        return things[key]
    except KeyError:
        raise ServiceError(code, f"{what} '{key}' does not exist.") from None


def bad_request(message: str) -> ServiceError:
    """The error for what FSx refuses."""
    return ServiceError("BadRequest", message)


def check(file_system: Mapping[str, Any], associations: Iterable[Mapping[str, Any]] = ()) -> None:
    """Refuse a file system, or its associations, as FSx would.

    Args:
        file_system: As DescribeFileSystems shows it.
        associations: As DescribeDataRepositoryAssociations shows them. Default: none.

    Raises:
        ServiceError: FSx would refuse it.
    """
    lustre = file_system["LustreConfiguration"]
    metadata = lustre.get("MetadataConfiguration", {})
    cache = lustre.get("DataReadCacheConfiguration", {})
    settings = LustreSettings(
        deployment_type=lustre["DeploymentType"],
        storage_type=file_system["StorageType"],
        storage_capacity_gib=file_system.get("StorageCapacity"),
        per_unit_storage_throughput=lustre.get("PerUnitStorageThroughput"),
        throughput_capacity=lustre.get("ThroughputCapacity"),
        read_cache=cache.get("SizingMode"),
        read_cache_gib=cache.get("SizeGiB"),
        metadata_iops=metadata.get("Iops"),
        efa_enabled=lustre.get("EfaEnabled", False),
        backup_retention_days=lustre.get("AutomaticBackupRetentionDays", 0),
        copy_tags_to_backups=lustre.get("CopyTagsToBackups", False),
        file_system_type_version=file_system["FileSystemTypeVersion"],
    )
    joined = [
        DataRepositoryAssociation(
            file_system_path=each.get("FileSystemPath", "/"),
            data_repository_path=each["DataRepositoryPath"],
            import_events=_events(each, "AutoImportPolicy"),
            export_events=_events(each, "AutoExportPolicy"),
        )
        for each in associations
    ]
    findings: list[Finding] = [*check_file_system(settings), *check_associations(joined, settings=settings)]
    if lustre.get("EfaEnabled") and not metadata:
        raise bad_request("An EFA-enabled file system needs a MetadataConfiguration")
    if findings:
        raise bad_request("; ".join(str(finding) for finding in findings))


def _events(association: Mapping[str, Any], policy: str) -> tuple[str, ...]:
    return tuple(association.get("S3", {}).get(policy, {}).get("Events", ()))
