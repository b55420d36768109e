"""FSx for Lustre file systems, stored unchanged and validated as FSx does.

moto drops most settings of file systems, validates none and has no updates. A file system is available at once and
stores nothing.
"""

import copy
import uuid
from collections.abc import Mapping
from typing import Any

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.services.fsx.associations import check_bucket
from ultracluster_local.services.fsx.network import check_network, vpc_of
from ultracluster_local.services.fsx.state import bad_request, fsx_of
from ultracluster_local.services.fsx.validation import (
    METADATA_CONFIGURATION_VERSION,
    OWN_REPOSITORY,
    least_metadata_iops,
    refuse_backups,
    validate,
)
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, hex_id, page

__all__ = ["back_up", "create_file_system", "handlers"]

handlers = Handlers(service="fsx")


def _default_version(lustre: Mapping[str, Any]) -> str:
    if "MetadataConfiguration" in lustre:
        return METADATA_CONFIGURATION_VERSION
    return "2.12" if lustre["DeploymentType"] == "PERSISTENT_2" else "2.10"


@handlers("CreateFileSystem")
def create_file_system(request: Request) -> Mapping[str, Any]:
    """Create a file system that is available at once."""
    given = request.parameters
    kind, file_system_id = given["FileSystemType"], hex_id("fs")
    if kind != "LUSTRE":
        raise bad_request(f"The local AWS does not simulate file systems of type {kind}")
    _refuse_other_types(given)
    lustre = {**_DEFAULTS, **copy.deepcopy(given.get("LustreConfiguration") or {})}
    scratch_1 = lustre["DeploymentType"] == "SCRATCH_1"  # has a fixed name
    lustre["MountName"] = "fsx" if scratch_1 else hex_id("m", length=7).replace("-", "")
    file_system = {
        "OwnerId": request.account,
        "CreationTime": CLOCK.now(),
        "FileSystemId": file_system_id,
        "FileSystemType": kind,
        "Lifecycle": "AVAILABLE",
        "StorageType": given.get("StorageType", "SSD"),
        "VpcId": vpc_of(request),
        "SubnetIds": given["SubnetIds"],
        "NetworkInterfaceIds": [
            hex_id("eni") for _ in range(_interfaces(lustre, given.get("StorageCapacity") or 0))
        ],
        "DNSName": f"{file_system_id}.fsx.{request.region}.amazonaws.com",
        "ResourceARN": request.arn("fsx", f"file-system/{file_system_id}"),
        "Tags": given.get("Tags") or [],
        **{name: given[name] for name in ("KmsKeyId", "NetworkType", "StorageCapacity") if name in given},
        "LustreConfiguration": lustre,
        "FileSystemTypeVersion": given.get("FileSystemTypeVersion") or _default_version(lustre),
    }
    validate(file_system)
    check_network(request)
    link = {name: lustre.pop(name) for name in OWN_REPOSITORY if name in lustre}
    if link:
        check_bucket(link["ImportPath"], region=request.region)
        lustre["DataRepositoryConfiguration"] = {"Lifecycle": "AVAILABLE", **_LINK_DEFAULTS, **link}
        lustre["DataRepositoryConfiguration"].setdefault("ExportPath", _export_path(link["ImportPath"]))
    if not lustre["DeploymentType"].startswith("SCRATCH"):  # API_FileSystem, KmsKeyId: that of the account
        own = uuid.uuid5(uuid.NAMESPACE_URL, f"aws/fsx:{request.region}")
        lustre.setdefault("AutomaticBackupRetentionDays", 0)
        file_system.setdefault("KmsKeyId", request.arn("kms", f"key/{own}"))
    fsx_of(request).file_systems[file_system_id] = file_system
    return {"FileSystem": {**file_system, "Lifecycle": "CREATING"}}


def _refuse_other_types(given: Mapping[str, Any]) -> None:
    for name in given:
        if name in {"OntapConfiguration", "OpenZFSConfiguration", "WindowsConfiguration"}:
            raise bad_request(f"{name} is not supported for file systems of type LUSTRE")


_DEFAULTS: Mapping[str, Any] = {
    "DeploymentType": "SCRATCH_1",
    "DataCompressionType": "NONE",
    "CopyTagsToBackups": False,
    "LogConfiguration": {"Level": "DISABLED"},
    "WeeklyMaintenanceStartTime": "1:05:00",
}
"""What CreateFileSystem sets: the tests of Terraform's provider read it back (internal/service/fsx, lustre_file_system_test.go)."""
_LINK_DEFAULTS: Mapping[str, Any] = {"AutoImportPolicy": "NONE", "ImportedFileChunkSize": 1024}
_GIB_PER_SERVER = 2400
"""One file server beside that of the metadata serves so much of SSD storage: LustreGuide, performance, "Example"."""


def _interfaces(lustre: Mapping[str, Any], capacity: int) -> int:
    """Return the number of network interfaces: one for the metadata, one for each other file server."""
    step = 1200 if lustre["DeploymentType"] == "PERSISTENT_1" else _GIB_PER_SERVER
    return 1 + max(1, -(-capacity // step))


def _export_path(import_path: str) -> str:
    """Return the default export path: below the bucket, with the time (API_CreateFileSystemLustreConfiguration)."""
    return f"s3://{import_path.split('/')[2]}/FSxLustre{CLOCK.now():%Y%m%dT%H%M%SZ}"


@handlers("DescribeFileSystems")
def describe_file_systems(request: Request) -> Mapping[str, Any]:
    """Describe all file systems, or the named ones."""
    ids = request.parameters.get("FileSystemIds")
    fsx = fsx_of(request)
    leaving = fsx.leaving.take(lambda one: not ids or one["FileSystemId"] in ids)
    found = {**fsx.file_systems, **{one["FileSystemId"]: one for one in leaving}}
    shown = [found.get(one) or fsx.one("file_system", one) for one in ids] if ids else list(found.values())
    return page(shown, parameters=request.parameters, key="FileSystems")


@handlers("DescribeVolumes")
def describe_volumes(request: Request) -> Mapping[str, Any]:
    """Describe no volume, which file systems of other types have."""
    for wanted in request.parameters.get("VolumeIds") or []:
        raise ServiceError("VolumeNotFound", f"Volume '{wanted}' does not exist.")
    return {"Volumes": []}


@handlers("UpdateFileSystem")
def update_file_system(request: Request) -> Mapping[str, Any]:
    """Update the capacity, Lustre version or settings at once."""
    fsx = fsx_of(request)
    file_system = fsx.one("file_system", request.parameters["FileSystemId"])
    _refuse_other_types(request.parameters)
    changed = copy.deepcopy(file_system)
    names = ("StorageCapacity", "StorageType", "FileSystemTypeVersion", "NetworkType")
    changed |= {name: request.parameters[name] for name in names if name in request.parameters}
    # API_UpdateFileSystem, StorageCapacity
    if "StorageCapacity" in request.parameters and file_system == changed:
        raise bad_request("The storage capacity must be greater than the current one.")
    lustre = changed["LustreConfiguration"]
    given = dict(request.parameters.get("LustreConfiguration") or {})
    if "AutoImportPolicy" in given:
        if "DataRepositoryConfiguration" not in lustre:
            raise bad_request(
                "AutoImportPolicy cannot be specified: the file system is not linked to a data repository."
            )
        lustre["DataRepositoryConfiguration"]["AutoImportPolicy"] = given.pop("AutoImportPolicy")
    lustre |= given
    _check_change(file_system, changed)
    validate(changed, fsx.associations_of(file_system["FileSystemId"]))
    file_system |= changed
    return {"FileSystem": file_system}


def _check_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse changes of create-only settings, and decreases."""
    old, new = before["LustreConfiguration"], after["LustreConfiguration"]
    for name, one, other in (
        ("Storage capacity", before.get("StorageCapacity"), after.get("StorageCapacity")),
        ("Throughput capacity", old.get("ThroughputCapacity"), new.get("ThroughputCapacity")),
        ("Metadata IOPS", _iops(old), _iops(new)),
    ):
        if (one is None) != (other is None) and name != "Metadata IOPS":
            raise bad_request(f"{name} belongs to another storage type.")
        if one is not None and other is not None and other < one:
            raise bad_request(f"{name} can only grow: {one} now, got {other}.")
    automatic = least_metadata_iops(after.get("StorageCapacity") or 0)
    if (_mode(old), _mode(new)) == ("USER_PROVISIONED", "AUTOMATIC") and (_iops(old) or 0) > automatic:
        raise bad_request(f"Metadata IOPS can only grow: {_iops(old)} now, AUTOMATIC would set {automatic}.")
    grows = before.get("StorageCapacity") != after.get("StorageCapacity")
    if (
        grows
        and _mode(old) == "USER_PROVISIONED"
        and (_iops(old) or 0) < least_metadata_iops(after.get("StorageCapacity") or 0)
    ):
        # hashicorp/terraform-provider-aws#44456: the IOPS grow before the storage, in a request of their own
        raise bad_request(
            f"Metadata IOPS must be at least {least_metadata_iops(after['StorageCapacity'])} for a storage capacity of "
            f"{after['StorageCapacity']} GiB; increase them first."
        )
    if grows and old["DeploymentType"] == "SCRATCH_1":
        raise bad_request("The storage capacity of SCRATCH_1 file systems cannot be increased.")
    if after["FileSystemTypeVersion"] < before["FileSystemTypeVersion"]:
        raise bad_request("The Lustre version must be newer than the current one of the file system.")
    throughput = "PerUnitStorageThroughput"
    if old.get("EfaEnabled") and old.get(throughput) != new.get(throughput):
        raise bad_request("The throughput tier of an EFA-enabled file system cannot change.")
    if ("MetadataConfiguration" in old) != ("MetadataConfiguration" in new):
        raise bad_request("A metadata configuration can only be specified at creation.")


def _mode(lustre: Mapping[str, Any]) -> str:
    return str((lustre.get("MetadataConfiguration") or {}).get("Mode", ""))


def _iops(lustre: Mapping[str, Any]) -> int | None:
    iops: int | None = lustre.get("MetadataConfiguration", {}).get("Iops")
    return iops


@handlers("DeleteFileSystem")
def delete_file_system(request: Request) -> Mapping[str, Any]:
    """Delete a file system with its associations."""
    fsx = fsx_of(request)
    file_system_id = request.parameters["FileSystemId"]
    fsx.one("file_system", file_system_id)
    final = request.parameters.get("LustreConfiguration") or {}
    answer: dict[str, Any] = {"FileSystemId": file_system_id, "Lifecycle": "DELETING"}
    if final.get("SkipFinalBackup") is False:
        backup = back_up(request, final.get("FinalBackupTags"))
        answer["LustreResponse"] = {"FinalBackupId": backup["BackupId"], "FinalBackupTags": backup["Tags"]}
    fsx.leaving.add({**fsx.file_systems.pop(file_system_id), "Lifecycle": "DELETING"})
    for one in fsx.associations_of(file_system_id):
        del fsx.associations[one["AssociationId"]]
    return answer


def back_up(request: Request, tags: list[dict[str, str]] | None) -> dict[str, Any]:
    """Return a new backup of the file system of a request: API_CreateBackup says of which.

    Raises:
        ServiceError: If the file system does not exist, is a scratch one, or is linked to a data repository.
    """
    fsx, backup_id = fsx_of(request), hex_id("backup")
    file_system = copy.deepcopy(fsx.one("file_system", request.parameters["FileSystemId"]))
    lustre = file_system["LustreConfiguration"]
    refuse_backups(lustre, linked=bool(fsx.associations_of(file_system["FileSystemId"])))
    fsx.backups[backup_id] = {
        "BackupId": backup_id,
        "Lifecycle": "AVAILABLE",
        "Type": "USER_INITIATED",
        "ProgressPercent": 100,
        "CreationTime": CLOCK.now(),
        "KmsKeyId": file_system["KmsKeyId"],
        "ResourceARN": request.arn("fsx", f"backup/{backup_id}"),
        "Tags": tags or (file_system["Tags"] if lustre["CopyTagsToBackups"] else []),
        "FileSystem": file_system,
        "OwnerId": request.account,
        "ResourceType": "FILE_SYSTEM",
    }
    return fsx.backups[backup_id]


@handlers("ListTagsForResource")
def list_tags_for_resource(request: Request) -> Mapping[str, Any]:
    """List the tags of a file system or association."""
    return {"Tags": _by_arn(request)["Tags"]}


@handlers("TagResource")
def tag_resource(request: Request) -> Mapping[str, Any]:
    """Add or replace tags."""
    resource = _by_arn(request)
    kept = {tag["Key"]: tag for tag in (*resource["Tags"], *request.parameters["Tags"])}
    resource["Tags"] = list(kept.values())
    return {}


@handlers("UntagResource")
def untag_resource(request: Request) -> Mapping[str, Any]:
    """Remove tags."""
    resource = _by_arn(request)
    resource["Tags"] = [tag for tag in resource["Tags"] if tag["Key"] not in request.parameters["TagKeys"]]
    return {}


def _by_arn(request: Request) -> dict[str, Any]:
    arn = request.parameters["ResourceARN"]
    fsx = fsx_of(request)
    for one in (*fsx.file_systems.values(), *fsx.associations.values(), *fsx.backups.values()):
        if one["ResourceARN"] == arn:
            return one
    raise ServiceError("ResourceNotFound", f"{arn} does not exist.")
