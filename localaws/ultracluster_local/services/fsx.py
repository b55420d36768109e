"""FSx for Lustre: file systems kept word for word, updates and data repository associations.

moto drops most of a file system's settings, and has neither updates nor associations. Sizes and throughputs are not
judged here: that is the work of the constructs, and of FSx.
"""

import copy
from collections.abc import Mapping
from typing import Any

from ultracluster_local.clock import CLOCK
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, hex_id, page
from ultracluster_local.state import remembered

__all__ = ["handlers"]

handlers = Handlers(service="fsx")

_DEFAULT_LUSTRE_VERSION = {
    "SCRATCH_1": "2.10",
    "SCRATCH_2": "2.10",
    "PERSISTENT_1": "2.10",
    "PERSISTENT_2": "2.12",
}


def _file_systems(request: Request) -> dict[str, dict[str, Any]]:
    return remembered("fsx:file-systems", region=request.region, new=dict)


def _associations(request: Request) -> dict[str, dict[str, Any]]:
    return remembered("fsx:associations", region=request.region, new=dict)


def _file_system(request: Request, file_system_id: str) -> dict[str, Any]:
    try:
        return _file_systems(request)[file_system_id]
    except KeyError:
        raise ServiceError("FileSystemNotFound", f"File system '{file_system_id}' does not exist.") from None


def _association(request: Request, association_id: str) -> dict[str, Any]:
    try:
        return _associations(request)[association_id]
    except KeyError:
        raise ServiceError(
            "DataRepositoryAssociationNotFound",
            f"Data repository association '{association_id}' does not exist.",
        ) from None


@handlers("CreateFileSystem")
def create_file_system(request: Request) -> Mapping[str, Any]:
    """Create a file system that is available at once."""
    given = dict(request.parameters)
    if given["FileSystemType"] != "LUSTRE":
        raise ServiceError("BadRequest", f"The local AWS has Lustre only; got {given['FileSystemType']}")
    file_system_id = hex_id("fs")
    lustre = copy.deepcopy(given.get("LustreConfiguration") or {})
    lustre.setdefault("DeploymentType", "SCRATCH_1")
    lustre["MountName"] = hex_id("m", length=7).replace("-", "")
    file_system: dict[str, Any] = {
        "OwnerId": request.account,
        "CreationTime": CLOCK.now(),
        "FileSystemId": file_system_id,
        "FileSystemType": "LUSTRE",
        "Lifecycle": "AVAILABLE",
        "StorageCapacity": given.get("StorageCapacity"),
        "StorageType": given.get("StorageType", "SSD"),
        "VpcId": "",
        "SubnetIds": given["SubnetIds"],
        "NetworkInterfaceIds": [hex_id("eni")],
        "DNSName": f"{file_system_id}.fsx.{request.region}.amazonaws.com",
        "ResourceARN": request.arn("fsx", f"file-system/{file_system_id}"),
        "Tags": given.get("Tags") or [],
        "LustreConfiguration": lustre,
        "FileSystemTypeVersion": given.get("FileSystemTypeVersion")
        or _DEFAULT_LUSTRE_VERSION[lustre["DeploymentType"]],
    }
    if "KmsKeyId" in given:
        file_system["KmsKeyId"] = given["KmsKeyId"]
    _file_systems(request)[file_system_id] = file_system
    return {"FileSystem": file_system}


@handlers("DescribeFileSystems")
def describe_file_systems(request: Request) -> Mapping[str, Any]:
    """Show all file systems, or those named."""
    ids = request.parameters.get("FileSystemIds")
    shown = [_file_system(request, one) for one in ids] if ids else list(_file_systems(request).values())
    return page(shown, parameters=request.parameters, key="FileSystems")


@handlers("UpdateFileSystem")
def update_file_system(request: Request) -> Mapping[str, Any]:
    """Change the capacity, type version or Lustre settings at once; capacity only grows, as on FSx."""
    file_system = _file_system(request, request.parameters["FileSystemId"])
    capacity = request.parameters.get("StorageCapacity")
    if capacity is not None:
        if capacity < file_system["StorageCapacity"]:
            raise ServiceError(
                "BadRequest",
                f"Storage capacity can only grow: {file_system['StorageCapacity']} GiB now, got {capacity} GiB.",
            )
        file_system["StorageCapacity"] = capacity
    for name in ("StorageType", "FileSystemTypeVersion"):
        if name in request.parameters:
            file_system[name] = request.parameters[name]
    file_system["LustreConfiguration"] |= request.parameters.get("LustreConfiguration") or {}
    return {"FileSystem": file_system}


@handlers("DeleteFileSystem")
def delete_file_system(request: Request) -> Mapping[str, Any]:
    """Delete a file system and its associations."""
    file_system_id = request.parameters["FileSystemId"]
    _file_system(request, file_system_id)
    del _file_systems(request)[file_system_id]
    associations = _associations(request)
    for one in [key for key, value in associations.items() if value["FileSystemId"] == file_system_id]:
        del associations[one]
    return {"FileSystemId": file_system_id, "Lifecycle": "DELETING"}


@handlers("CreateDataRepositoryAssociation")
def create_data_repository_association(request: Request) -> Mapping[str, Any]:
    """Link a directory of a file system to an S3 prefix."""
    given = {key: value for key, value in request.parameters.items() if key != "ClientRequestToken"}
    _file_system(request, given["FileSystemId"])
    for other in _associations(request).values():
        if other["FileSystemId"] == given["FileSystemId"] and other.get("FileSystemPath") == given.get(
            "FileSystemPath"
        ):
            raise ServiceError(
                "BadRequest",
                f"{given.get('FileSystemPath')} of {given['FileSystemId']} is linked to S3 already.",
            )
    association_id = hex_id("dra")
    association = copy.deepcopy(given) | {
        "AssociationId": association_id,
        "ResourceARN": request.arn("fsx", f"association/{given['FileSystemId']}/{association_id}"),
        "Lifecycle": "AVAILABLE",
        "CreationTime": CLOCK.now(),
        "Tags": given.get("Tags") or [],
    }
    _associations(request)[association_id] = association
    return {"Association": association}


@handlers("DescribeDataRepositoryAssociations")
def describe_data_repository_associations(request: Request) -> Mapping[str, Any]:
    """Show all associations, those named, or those that pass the filters."""
    ids = request.parameters.get("AssociationIds")
    shown = [_association(request, one) for one in ids] if ids else list(_associations(request).values())
    fields = {"file-system-id": "FileSystemId", "data-repository-path": "DataRepositoryPath"}
    for condition in request.parameters.get("Filters") or []:
        field = fields.get(condition["Name"])
        if field is None:
            raise ServiceError("BadRequest", f"The local AWS has no filter {condition['Name']}")
        shown = [one for one in shown if one.get(field) in condition["Values"]]
    return page(shown, parameters=request.parameters, key="Associations")


@handlers("UpdateDataRepositoryAssociation")
def update_data_repository_association(request: Request) -> Mapping[str, Any]:
    """Change the chunk size or the policies."""
    association = _association(request, request.parameters["AssociationId"])
    for name in ("ImportedFileChunkSize", "S3"):
        if name in request.parameters:
            association[name] = request.parameters[name]
    return {"Association": association}


@handlers("DeleteDataRepositoryAssociation")
def delete_data_repository_association(request: Request) -> Mapping[str, Any]:
    """Remove a link; the data in S3 stays."""
    association_id = request.parameters["AssociationId"]
    _association(request, association_id)
    del _associations(request)[association_id]
    return {"AssociationId": association_id, "Lifecycle": "DELETING"}


@handlers("ListTagsForResource")
def list_tags_for_resource(request: Request) -> Mapping[str, Any]:
    """Show the tags of a file system or association."""
    return {"Tags": _by_arn(request)["Tags"]}


@handlers("TagResource")
def tag_resource(request: Request) -> Mapping[str, Any]:
    """Add or replace tags."""
    resource = _by_arn(request)
    given = {tag["Key"]: tag["Value"] for tag in request.parameters["Tags"]}
    resource["Tags"] = [tag for tag in resource["Tags"] if tag["Key"] not in given] + request.parameters[
        "Tags"
    ]
    return {}


@handlers("UntagResource")
def untag_resource(request: Request) -> Mapping[str, Any]:
    """Remove tags."""
    resource = _by_arn(request)
    resource["Tags"] = [tag for tag in resource["Tags"] if tag["Key"] not in request.parameters["TagKeys"]]
    return {}


def _by_arn(request: Request) -> dict[str, Any]:
    arn = request.parameters["ResourceARN"]
    for one in (*_file_systems(request).values(), *_associations(request).values()):
        if one["ResourceARN"] == arn:
            return one
    raise ServiceError("ResourceNotFound", f"{arn} does not exist.")
