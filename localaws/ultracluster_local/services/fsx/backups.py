"""FSx for Lustre: backups that a user makes. Automatic ones are a setting of their file system only."""

import copy
from collections.abc import Mapping
from typing import Any

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.services.fsx.state import bad_request, fsx_of
from ultracluster_local.services.handlers import Handlers, Request, hex_id, page

__all__ = ["handlers"]

handlers = Handlers(service="fsx")


@handlers("CreateBackup")
def create_backup(request: Request) -> Mapping[str, Any]:
    """Make a backup that is available at once, with the tags of its file system where that asks for it."""
    fsx = fsx_of(request)
    given = request.parameters
    if "FileSystemId" not in given:
        raise bad_request("The local AWS backs up file systems of Lustre only")
    file_system = fsx.file_system(given["FileSystemId"])
    lustre = file_system["LustreConfiguration"]
    if lustre["DeploymentType"].startswith("SCRATCH"):
        raise bad_request(f"A file system of type {lustre['DeploymentType']} takes no backups")
    if fsx.associations_of(given["FileSystemId"]):
        raise bad_request("A file system that is linked to S3 takes no backups")
    copied = file_system["Tags"] if lustre.get("CopyTagsToBackups") else []
    backup_id = hex_id("backup")
    fsx.backups[backup_id] = {
        "BackupId": backup_id,
        "Lifecycle": "AVAILABLE",
        "Type": "USER_INITIATED",
        "CreationTime": CLOCK.now(),
        "ResourceARN": request.arn("fsx", f"backup/{backup_id}"),
        "Tags": list(given.get("Tags") or copied),
        "FileSystem": copy.deepcopy(file_system),
    }
    return {"Backup": fsx.backups[backup_id]}


@handlers("DescribeBackups")
def describe_backups(request: Request) -> Mapping[str, Any]:
    """Show all backups, those named, or those of file systems."""
    fsx = fsx_of(request)
    ids = request.parameters.get("BackupIds")
    shown = [fsx.backup(one) for one in ids] if ids else list(fsx.backups.values())
    for condition in request.parameters.get("Filters") or []:
        if condition["Name"] != "file-system-id":
            raise bad_request(f"The local AWS has no filter {condition['Name']}")
        shown = [one for one in shown if one["FileSystem"]["FileSystemId"] in condition["Values"]]
    return page(shown, parameters=request.parameters, key="Backups")


@handlers("DeleteBackup")
def delete_backup(request: Request) -> Mapping[str, Any]:
    """Delete a backup."""
    fsx = fsx_of(request)
    backup_id = request.parameters["BackupId"]
    fsx.backup(backup_id)
    del fsx.backups[backup_id]
    return {"BackupId": backup_id, "Lifecycle": "DELETED"}
