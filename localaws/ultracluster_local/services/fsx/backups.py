"""FSx for Lustre user-initiated backups. Automatic ones are never taken."""

import copy
from collections.abc import Mapping
from typing import Any

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.services.fsx.state import fsx_of
from ultracluster_local.services.fsx.validation import bad_request
from ultracluster_local.services.handlers import Handlers, Request, hex_id, page

__all__ = ["handlers"]

handlers = Handlers(service="fsx")


@handlers("CreateBackup")
def create_backup(request: Request) -> Mapping[str, Any]:
    """Create a backup that is available at once, with the file system's tags if CopyTagsToBackups is set."""
    fsx = fsx_of(request)
    given = request.parameters
    if "FileSystemId" not in given:
        raise bad_request("The local AWS backs up Lustre file systems only")
    file_system = fsx.file_system(given["FileSystemId"])
    lustre = file_system["LustreConfiguration"]
    if lustre["DeploymentType"].startswith("SCRATCH"):
        raise bad_request(f"Backups are not supported on {lustre['DeploymentType']} file systems.")
    if fsx.associations_of(given["FileSystemId"]):
        raise bad_request("Backups are not supported on file systems linked to a data repository.")
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
    """Describe all backups, the named ones, or those of file systems."""
    fsx = fsx_of(request)
    ids = request.parameters.get("BackupIds")
    shown = [fsx.backup(one) for one in ids] if ids else list(fsx.backups.values())
    for condition in request.parameters.get("Filters") or []:
        if condition["Name"] != "file-system-id":
            raise bad_request(f"The local AWS does not support the filter {condition['Name']}")
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
