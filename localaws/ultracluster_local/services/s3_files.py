"""Amazon S3 Files, which moto lacks: file systems, available at once, and their mount targets.

Limits are those of the Amazon S3 User Guide (unsupported features, limits, and quotas, 2026-10): one mount target in each zone, and
all in one VPC. No page has the words of its refusals.
"""

from collections.abc import Mapping
from typing import Any

from moto.ec2.models import ec2_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, hex_id

__all__ = ["file_system_of", "handlers"]

handlers = Handlers(service="s3files")

_Things = dict[str, dict[str, Any]]


def _systems(region: str) -> _Things:
    return region_state("s3files-systems", region=region, new=dict)


def _targets(region: str) -> _Things:
    return region_state("s3files-targets", region=region, new=dict)


def file_system_of(arn: str) -> dict[str, Any] | None:
    """Return the file system of an ARN, or of the ARN of an access point; None if there is none."""
    return _systems(arn.split(":")[3]).get(arn.split("/")[1])


def _find(things: _Things, name: str) -> dict[str, Any]:
    try:
        return things[name.rpartition("/")[2]]
    except KeyError:
        raise ServiceError("ResourceNotFoundException", f"{name} does not exist") from None


@handlers("CreateFileSystem")
def _create_file_system(request: Request) -> Mapping[str, Any]:
    name = hex_id("fs")
    given = {
        key: request.parameters[key] for key in ("bucket", "prefix", "roleArn") if key in request.parameters
    }
    system = {
        **given,
        "fileSystemId": name,
        "fileSystemArn": request.arn("s3files", f"file-system/{name}"),
        "ownerId": request.account,
        "status": "available",
        "tags": request.parameters.get("tags", []),
    }
    _systems(request.region)[name] = system
    return system


@handlers("GetFileSystem")
def _get_file_system(request: Request) -> Mapping[str, Any]:
    return _find(_systems(request.region), request.parameters["fileSystemId"])


@handlers("DeleteFileSystem")
def _delete_file_system(request: Request) -> Mapping[str, Any]:
    system = _find(_systems(request.region), request.parameters["fileSystemId"])
    if _targets_of(request.region, system["fileSystemId"]):
        raise ServiceError("ConflictException", f"{system['fileSystemId']} has mount targets")
    del _systems(request.region)[system["fileSystemId"]]
    return {}


def _targets_of(region: str, file_system_id: str) -> list[dict[str, Any]]:
    return [each for each in _targets(region).values() if each["fileSystemId"] == file_system_id]


@handlers("CreateMountTarget")
def _create_mount_target(request: Request) -> Mapping[str, Any]:
    system = _find(_systems(request.region), request.parameters["fileSystemId"])["fileSystemId"]
    subnet = ec2_backends[ACCOUNT][request.region].get_subnet(request.parameters["subnetId"])
    zone = subnet.availability_zone_id
    for other in _targets_of(request.region, system):
        if other["vpcId"] != subnet.vpc_id:
            raise ServiceError("ConflictException", f"{system} has mount targets in {other['vpcId']}")
        if other["availabilityZoneId"] == zone:
            raise ServiceError("ConflictException", f"{system} has a mount target in {zone}")
    target = {
        "mountTargetId": hex_id("fsmt"),
        "ownerId": request.account,
        "fileSystemId": system,
        "subnetId": subnet.id,
        "vpcId": subnet.vpc_id,
        "availabilityZoneId": zone,
        "securityGroups": request.parameters.get("securityGroups", []),
        "status": "available",
    }
    _targets(request.region)[target["mountTargetId"]] = target
    return target


@handlers("GetMountTarget")
def _get_mount_target(request: Request) -> Mapping[str, Any]:
    return _find(_targets(request.region), request.parameters["mountTargetId"])


@handlers("UpdateMountTarget")
def _update_mount_target(request: Request) -> Mapping[str, Any]:
    target = _find(_targets(request.region), request.parameters["mountTargetId"])
    target["securityGroups"] = request.parameters["securityGroups"]
    return target


@handlers("DeleteMountTarget")
def _delete_mount_target(request: Request) -> Mapping[str, Any]:
    target = _find(_targets(request.region), request.parameters["mountTargetId"])
    del _targets(request.region)[target["mountTargetId"]]
    return {}


@handlers("ListMountTargets")
def _list_mount_targets(request: Request) -> Mapping[str, Any]:
    system = _find(_systems(request.region), request.parameters["fileSystemId"])["fileSystemId"]
    keys = {"securityGroups"}
    found = [
        {key: value for key, value in target.items() if key not in keys}
        for target in _targets_of(request.region, system)
    ]
    return {"mountTargets": found}
