"""Constraints of EBS volumes at the launch of an instance.

The sizes, IOPS and throughput are those of
https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html (read 2026-11). The messages are AWS's answers:
rocicorp/mono#4410 (ratio), scylladb/scylla-cluster-tests#2484 (snapshot), kubernetes-sigs/aws-ebs-csi-driver#582 (range).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from moto.ec2.models.elastic_block_store import EBSBackend, VolumeAttachment

from ultracluster_local.services.checks import Checks
from ultracluster_local.services.ec2.errors import invalid_combination, invalid_value
from ultracluster_local.services.ec2.networks import backend_of
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.replacing import instead_of

__all__ = ["check_mapping"]

_check = Checks(service="ec2")

VolumeAttachment.delete_on_termination = property(
    lambda one: getattr(one.instance.block_device_mapping.get(one.device), "delete_on_termination", False)
)


@dataclass(frozen=True, kw_only=True)
class _Kind:
    sizes: tuple[int, int]
    iops: tuple[int, int] | None = None
    most_iops_per_gib: int = 0
    throughput: tuple[int, int] | None = None


_KINDS: Final = {
    "standard": _Kind(sizes=(1, 1024)),
    "gp2": _Kind(sizes=(1, 16_384)),
    "gp3": _Kind(sizes=(1, 65_536), iops=(3000, 80_000), most_iops_per_gib=500, throughput=(125, 2000)),
    "io1": _Kind(sizes=(4, 16_384), iops=(100, 64_000), most_iops_per_gib=50),
    "io2": _Kind(sizes=(4, 65_536), iops=(100, 256_000), most_iops_per_gib=1000),
    "st1": _Kind(sizes=(125, 16_384)),
    "sc1": _Kind(sizes=(125, 16_384)),
}
_NEED_IOPS: Final = frozenset({"io1", "io2"})
_MOST_THROUGHPUT_PER_IOPS: Final = 0.25


@_check("CreateVolume")
def check_create_volume(request: Request) -> None:
    """Refuse a volume in no zone (EC2's errors-overview.html), or whose settings do not fit its type."""
    zone = request.parameters.get("AvailabilityZone")
    zones = backend_of(request.region).describe_availability_zones()
    if zone and all(one.name != zone for one in zones):
        raise ServiceError("InvalidZone.NotFound", f"The zone '{zone}' does not exist.")
    check_volume(request.parameters, size=request.parameters.get("Size"))


@instead_of(EBSBackend, "create_volume")
def _with_performance(original: Any, backend: Any, *given: Any, **named: Any) -> Any:
    """Answer what a volume performs without being told to: the types' page of the user guide."""
    volume = original(backend, *given, **named)
    if volume.volume_type == "gp2":
        volume.iops = min(max(3 * int(volume.size), 100), 16_000)
    elif volume.volume_type == "gp3":
        volume.throughput = volume.throughput or 125
    return volume


@_check("AttachVolume", "DetachVolume")
def check_attachment(request: Request) -> None:
    """Refuse a volume that is attached or in another zone, a device that is taken, and to detach what is not attached.

    The codes are those of EC2's errors-overview.html.
    """
    given, backend = request.parameters, backend_of(request.region)
    volume = backend.volumes.get(given["VolumeId"])
    if volume is not None and not volume.attachment and request.operation == "DetachVolume":
        raise ServiceError("IncorrectState", f"Volume '{volume.id}' is in the 'available' state.")
    instance = backend.get_instance_by_id(given.get("InstanceId"))
    if volume is None or instance is None or request.operation == "DetachVolume":
        return  # moto says so
    if volume.attachment:
        raise ServiceError("VolumeInUse", f"{volume.id} is already attached to an instance")
    if volume.zone.name != instance.placement.zone:
        problem = f"The volume '{volume.id}' is not in the same availability zone as instance '{instance.id}'"
        raise ServiceError("InvalidVolume.ZoneMismatch", problem)
    if given["Device"] in instance.block_device_mapping:
        problem = f"Attachment point {given['Device']} is already in use"
        raise invalid_value(f"Invalid value '{given['Device']}' for unixDevice. {problem}")


@instead_of(EBSBackend, "detach_volume")
def _from_its_instance(original: Any, backend: Any, volume: str, instance: Any, device: Any) -> Any:
    """Detach a volume from the instance that it is attached to, which a request need not name: API_DetachVolume."""
    attached = getattr(backend.volumes.get(volume), "attachment", None)
    return original(backend, volume, instance or (attached and attached.instance.id), device)


@_check("DeleteSnapshot", "DescribeSnapshots")
def check_snapshots(request: Request) -> None:
    """Refuse a snapshot that does not exist with words, which moto lacks."""
    for one in request.parameters.get("SnapshotIds") or [request.parameters.get("SnapshotId")]:
        if one and one not in backend_of(request.region).snapshots:
            raise ServiceError("InvalidSnapshot.NotFound", f"The snapshot '{one}' does not exist.")


def check_volume(volume: Mapping[str, Any], *, size: int | None) -> None:
    """Refuse a volume whose settings do not fit its type.

    Args:
        volume: Volume, or the EBS settings of a block device.
        size: Its size in GiB, if it is known.

    Raises:
        ServiceError: If it is invalid.
    """
    name, iops = volume.get("VolumeType") or "gp2", volume.get("Iops")
    throughput = volume.get("Throughput")
    kind = _KINDS.get(name)
    if kind is None:
        raise invalid_value(f"Invalid value '{name}' for VolumeType.")
    if name in _NEED_IOPS and iops is None:
        raise ServiceError("MissingParameter", f"The parameter iops must be specified for {name} volumes.")
    if iops is not None and kind.iops is None:
        raise invalid_combination(f"The parameter iops is not supported for {name} volumes.")
    if throughput is not None and kind.throughput is None:
        raise invalid_combination(f"The parameter throughput is not supported for {name} volumes.")
    if volume.get("KmsKeyId") and str(volume.get("Encrypted")).lower() != "true":
        raise ServiceError(
            "InvalidParameterDependency", "The parameter KmsKeyId requires the parameter Encrypted to be set."
        )
    _check_range("size", f"{name} volumes", size, kind.sizes, "GiB")
    _check_range("iops", f"{name} volumes", iops, kind.iops, "IOPS")
    _check_range("throughput", f"{name} volumes", throughput, kind.throughput, "MiB/s")
    _check_ratios(kind, size, iops, throughput)


def _check_range(what: str, of: str, value: Any, bounds: tuple[int, int] | None, unit: str) -> None:
    if value is None or bounds is None or bounds[0] <= int(value) <= bounds[1]:
        return
    which, bound = ("at least", bounds[0]) if int(value) < bounds[0] else ("at most", bounds[1])
    raise invalid_value(f"Volume {what} of {value} {unit} is invalid; {of} must have {which} {bound} {unit}.")


def _check_ratios(kind: _Kind, size: Any, iops: Any, throughput: Any) -> None:
    if iops is None:
        return
    free = kind.iops[0] if kind.iops else 0
    if size is not None and int(iops) > free and (ratio := int(iops) / int(size)) > kind.most_iops_per_gib:
        raise invalid_value(
            f"Iops to volume size ratio of {ratio:f} is too high; maximum is {kind.most_iops_per_gib}"
        )
    if throughput is not None and (ratio := int(throughput) / int(iops)) > _MOST_THROUGHPUT_PER_IOPS:
        raise invalid_value(
            f"Throughput (MiBps) to iops ratio of {ratio:f} is too high; maximum is "
            f"{_MOST_THROUGHPUT_PER_IOPS:f} MiBps per iops"
        )


def check_mapping(request: Request, mapping: Mapping[str, Any], image: str) -> None:
    """Refuse a block device that an instance cannot have.

    Args:
        request: API request.
        mapping: Block device mapping of a launch.
        image: ID of the image that is launched.

    Raises:
        ServiceError: If it is invalid.
    """
    volume = mapping.get("Ebs") or {}
    if not volume:
        return
    backend = backend_of(request.region)
    snapshot = backend.snapshots.get(volume.get("SnapshotId") or "")
    root = backend.amis.get(image)
    if snapshot is None and root is not None and root.root_device_name == mapping.get("DeviceName"):
        snapshot = root.ebs_snapshot
    size = None if volume.get("VolumeSize") is None else int(volume["VolumeSize"])
    if snapshot is not None and size is not None and size < (least := int(snapshot.volume.size)):
        raise ServiceError(
            "InvalidBlockDeviceMapping",
            f"Volume of size {size}GB is smaller than snapshot '{snapshot.id}', expect size >= {least}GB",
        )
    check_volume(volume, size=size)
