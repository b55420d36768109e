"""Backups of FSx for Lustre file systems, which are there at once and hold the settings only."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ultracluster_local.services.fsx.file_systems import back_up, create_file_system
from ultracluster_local.services.fsx.state import described, fsx_of
from ultracluster_local.services.handlers import Handlers, Request

__all__: list[str] = []

handlers = Handlers(service="fsx")


@handlers("CreateBackup")
def create_backup(request: Request) -> Mapping[str, Any]:
    """Back up a file system."""
    return {"Backup": back_up(request, request.parameters.get("Tags")) | {"Lifecycle": "CREATING"}}


@handlers("DescribeBackups")
def describe_backups(request: Request) -> Mapping[str, Any]:
    """Describe all backups, the named ones, or those that match the filters."""
    fields = {
        "backup-type": "Type",
        "file-system-id": "FileSystem.FileSystemId",
        "file-system-type": "FileSystem.FileSystemType",
    }
    return described(request, "backup", ids="BackupIds", key="Backups", fields=fields)


@handlers("DeleteBackup")
def delete_backup(request: Request) -> Mapping[str, Any]:
    """Delete a backup."""
    backup_id = request.parameters["BackupId"]
    fsx_of(request).one("backup", backup_id)
    del fsx_of(request).backups[backup_id]
    return {"BackupId": backup_id, "Lifecycle": "DELETED"}


@handlers("CreateFileSystemFromBackup")
def create_file_system_from_backup(request: Request) -> Mapping[str, Any]:
    """Create a file system with the settings of one that was backed up, as far as the request leaves them out."""
    given = dict(request.parameters)
    saved = fsx_of(request).one("backup", given.pop("BackupId"))["FileSystem"]
    names = ("FileSystemType", "FileSystemTypeVersion", "KmsKeyId", "StorageCapacity", "StorageType")
    lustre = {key: part for key, part in saved["LustreConfiguration"].items() if key != "MountName"}
    wanted = {
        **{name: saved[name] for name in names if name in saved},
        **given,
        "LustreConfiguration": {**lustre, **(given.get("LustreConfiguration") or {})},
    }
    return create_file_system(replace(request, parameters=wanted))
