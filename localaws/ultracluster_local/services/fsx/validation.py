"""What FSx for Lustre refuses of a file system and of its data repository associations.

Limits that botocore's model of FSx lacks come from the texts of CreateFileSystem and
CreateDataRepositoryAssociation in that model, and from the FSx for Lustre User Guide (read October 2026):

- https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
- https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html (deployment and storage types)
- https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html
- https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html

Messages for storage capacity and throughput follow those that FSx is known to send.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

from ultracluster_local.services.fsx.state import bad_request
from ultracluster_local.services.handlers import ServiceError

__all__ = [
    "METADATA_CONFIGURATION_VERSION",
    "OWN_REPOSITORY",
    "least_metadata_iops",
    "refuse_backups",
    "validate",
]

METADATA_CONFIGURATION_VERSION: Final = "2.15"
"""Lustre version that a metadata configuration, and so EFA, requires."""

_TIERED: Final = "INTELLIGENT_TIERING"
_PER_THROUGHPUT_STEP: Final = 4000  # MB/s per step of Intelligent-Tiering, by which its read cache is sized
_READ_CACHE_GIB: Final = (32, 131_072)  # per 4,000 MB/s
_METADATA_IOPS: Final = (1500, 3000, 6000, *range(12_000, 192_001, 12_000))
_TIERED_METADATA_IOPS: Final = (6000, 12_000)
_MOST_ASSOCIATIONS: Final = 8


class _Sizes(NamedTuple):
    """Storage capacities in GiB: `small` ones, then multiples of `step`; with EFA, multiples of `efa_step`."""

    small: tuple[int, ...]
    step: int
    efa_step: int | None = None


_SSD: Final = _Sizes((1200,), 2400)

# By deployment type, storage type, and throughput in MB/s per TiB.
_SIZES: Final[Mapping[tuple[str, str], Mapping[int | None, _Sizes]]] = {
    ("SCRATCH_1", "SSD"): {None: _Sizes((1200, 2400), 3600)},
    ("SCRATCH_2", "SSD"): {None: _SSD},
    ("PERSISTENT_1", "HDD"): {12: _Sizes((), 6000), 40: _Sizes((), 1800)},
    ("PERSISTENT_1", "SSD"): {50: _SSD, 100: _SSD, 200: _SSD},
    ("PERSISTENT_2", "SSD"): {
        throughput: _Sizes((1200,), 2400, efa_step)
        for throughput, efa_step in ((125, 38_400), (250, 19_200), (500, 9600), (1000, 4800))
    },
}


def least_metadata_iops(capacity: int) -> int:
    """Return the least metadata IOPS of a file system of `capacity` GiB that has provisioned ones.

    Those that AUTOMATIC would set: https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-metadata-performance.html; that they
    are asked for when storage grows: hashicorp/terraform-provider-aws#44456.
    """
    small = next(
        (iops for most, iops in ((1200, 1500), (2400, 3000), (9600, 6000)) if capacity <= most), None
    )
    return small or max(1, capacity // 24_000) * 12_000


def validate(file_system: Mapping[str, Any], associations: Sequence[Mapping[str, Any]] = ()) -> None:
    """Refuse a file system, or its data repository associations, as FSx does.

    Args:
        file_system: Description as returned by DescribeFileSystems.
        associations: Descriptions as returned by DescribeDataRepositoryAssociations. Default: none.

    Raises:
        ServiceError: FSx would refuse it.
    """
    lustre = file_system["LustreConfiguration"]
    for problem in (
        *_type_problems(file_system, lustre),
        *_repository_problems(lustre),
        *_log_problems(lustre),
    ):
        raise bad_request(problem)
    if file_system["StorageType"] == _TIERED and lustre["DeploymentType"] == "PERSISTENT_2":
        _validate_tiered_storage(file_system, lustre)
    else:
        _validate_storage(file_system, lustre)
    for problem in (
        *_version_problems(file_system, lustre),
        *_association_problems(file_system, associations),
    ):
        raise bad_request(problem)
    if lustre.get("AutomaticBackupRetentionDays") or lustre.get("CopyTagsToBackups"):
        refuse_backups(lustre, linked=bool(associations))


OWN_REPOSITORY: Final = ("ImportPath", "ExportPath", "AutoImportPolicy", "ImportedFileChunkSize")
"""Settings of a file system that is linked to S3 without an association, which PERSISTENT_2 cannot be."""


def _type_problems(file_system: Mapping[str, Any], lustre: Mapping[str, Any]) -> Iterator[str]:
    """Yield settings that the deployment type or the storage type does not have.

    The guide's sentences on KmsKeyId, DriveCacheType and data repositories: API_CreateFileSystem.html and
    API_CreateFileSystemLustreConfiguration.html.
    """
    deployment_type, storage_type = lustre["DeploymentType"], file_system["StorageType"]
    if "KmsKeyId" in file_system and deployment_type.startswith("SCRATCH"):
        yield f"KmsKeyId is supported for PERSISTENT_1 and PERSISTENT_2 deployment types only; got {deployment_type}."
    if ("DriveCacheType" in lustre) != (storage_type == "HDD"):
        rule = "is required when" if storage_type == "HDD" else "is supported only when"
        yield f"DriveCacheType {rule} StorageType is HDD."


def _repository_problems(lustre: Mapping[str, Any]) -> Iterator[str]:
    """Yield settings of S3 that do not fit together."""
    deployment_type = lustre["DeploymentType"]
    if deployment_type == "PERSISTENT_2" and not lustre.keys().isdisjoint(OWN_REPOSITORY):
        # kubernetes-sigs/aws-fsx-csi-driver#412 (2025-04-20)
        yield (
            "Linking a Persistent 2 file system to an S3 bucket using the LustreConfiguration is not supported. Create a "
            "file system and then create a data repository association to link S3 buckets to the file system. For more "
            "details, visit https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html"
        )
    for name in OWN_REPOSITORY:
        if name in lustre and "ImportPath" not in lustre:
            yield f"{name} cannot be specified without ImportPath."
    buckets = {lustre[name].split("/")[2] for name in ("ExportPath", "ImportPath") if name in lustre}
    if len(buckets) > 1:
        yield "The Amazon S3 export bucket must be the same as the import bucket specified by ImportPath."


def _log_problems(lustre: Mapping[str, Any]) -> Iterator[str]:
    logs = lustre.get("LogConfiguration") or {}
    group = logs.get("Destination", "").partition(":log-group:")[2]
    if group and not group.startswith("/aws/fsx"):  # API_LustreLogCreateConfiguration
        yield f"The name of the log group {group} must begin with the /aws/fsx prefix."
    if logs.get("Destination") and logs.get("Level") == "DISABLED":
        yield "If Level is set to DISABLED, you cannot specify a destination in Destination."


def _validate_storage(file_system: Mapping[str, Any], lustre: Mapping[str, Any]) -> None:
    deployment_type, storage_type = lustre["DeploymentType"], file_system["StorageType"]
    tiers = _SIZES.get((deployment_type, storage_type))
    if tiers is None:
        raise bad_request(f"{storage_type} storage is not supported for deployment type {deployment_type}.")
    throughput = lustre.get("PerUnitStorageThroughput")
    if throughput not in tiers:
        if None in tiers:
            raise bad_request(f"PerUnitStorageThroughput is not supported for {deployment_type}.")
        offered = ",".join(str(each) for each in tiers)
        raise ServiceError(
            "InvalidPerUnitStorageThroughput",
            f"The storage throughput (MB/s/TiB) value should be one of [{offered}].",
        )
    _validate_capacity(
        file_system.get("StorageCapacity"), tiers[throughput], efa=lustre.get("EfaEnabled", False)
    )
    for name in ("ThroughputCapacity", "DataReadCacheConfiguration"):
        if name in lustre:
            raise bad_request(f"{name} is only supported for the {_TIERED} storage type.")


def _validate_capacity(capacity: int | None, sizes: _Sizes, *, efa: bool) -> None:
    small, step = ((), sizes.efa_step) if efa and sizes.efa_step else (sizes.small, sizes.step)
    if capacity is None or capacity <= 0 or (capacity not in small and capacity % step):
        allowed = " or ".join([*map(str, small), f"a multiple of {step}"])
        raise bad_request(f"Invalid Lustre FS storage capacity: {capacity}. Must be {allowed}.")


def _validate_tiered_storage(file_system: Mapping[str, Any], lustre: Mapping[str, Any]) -> None:
    for name, container in (("StorageCapacity", file_system), ("PerUnitStorageThroughput", lustre)):
        if name in container:
            raise bad_request(f"{name} is not supported for the {_TIERED} storage type.")
    throughput = lustre.get("ThroughputCapacity", 0)
    if throughput % _PER_THROUGHPUT_STEP or not throughput:
        raise bad_request(
            f"Invalid ThroughputCapacity: {throughput}. Must be a multiple of {_PER_THROUGHPUT_STEP}."
        )
    cache_settings = lustre.get("DataReadCacheConfiguration", {})
    mode, size = cache_settings.get("SizingMode"), cache_settings.get("SizeGiB")
    if mode is None:
        raise bad_request(f"DataReadCacheConfiguration is required for the {_TIERED} storage type.")
    if mode != "USER_PROVISIONED":
        if size is not None:
            raise bad_request(f"SizeGiB of DataReadCacheConfiguration is not supported for {mode}.")
        return
    least, most = (bound * (throughput // _PER_THROUGHPUT_STEP) for bound in _READ_CACHE_GIB)
    if size is None or not least <= size <= most:
        raise bad_request(
            f"Invalid SizeGiB of DataReadCacheConfiguration: {size}. Must be between {least} and {most}."
        )


def _version_problems(file_system: Mapping[str, Any], lustre: Mapping[str, Any]) -> Iterator[str]:
    deployment_type, version = lustre["DeploymentType"], file_system["FileSystemTypeVersion"]
    # The texts of CreateFileSystem: 2.12 and 2.15 are supported by all deployment types, 2.10 not by PERSISTENT_2.
    if version not in {"2.12", "2.15"} and (version != "2.10" or deployment_type == "PERSISTENT_2"):
        yield f"FileSystemTypeVersion {version} is not supported for {deployment_type}."
    metadata = lustre.get("MetadataConfiguration")
    if lustre.get("EfaEnabled") and metadata is None:
        yield "An EFA-enabled file system needs a MetadataConfiguration."
    iops, mode = (metadata or {}).get("Iops"), (metadata or {}).get("Mode")
    if mode == "AUTOMATIC" and iops is not None:
        yield "Iops cannot be specified when the Mode of the MetadataConfiguration is AUTOMATIC."
    if (lustre.get("EfaEnabled") or metadata is not None) and (deployment_type, version) != (
        "PERSISTENT_2",
        METADATA_CONFIGURATION_VERSION,
    ):
        rule = f"PERSISTENT_2 file systems with Lustre version {METADATA_CONFIGURATION_VERSION} or newer"
        yield f"MetadataConfiguration is supported on {rule}; got {deployment_type} with {version}."
    tiered = file_system["StorageType"] == _TIERED
    allowed = _TIERED_METADATA_IOPS if tiered else _METADATA_IOPS
    if iops not in allowed and (tiered or iops is not None):
        yield f"Invalid metadata IOPS: {iops}. Must be one of {', '.join(map(str, allowed))}."


def refuse_backups(lustre: Mapping[str, Any], *, linked: bool) -> None:
    """Refuse backups of a scratch file system, and of one that is linked to a data repository.

    Raises:
        ServiceError: FSx would refuse them.
    """
    scratch = lustre["DeploymentType"].startswith("SCRATCH")
    if scratch or linked or "DataRepositoryConfiguration" in lustre:
        kind = "scratch file systems" if scratch else "file systems linked to a data repository"
        raise bad_request(f"Backups are not supported on {kind}.")


def _association_problems(
    file_system: Mapping[str, Any], associations: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    if not associations:
        return
    refused = (
        file_system["LustreConfiguration"]["DeploymentType"] == "SCRATCH_1"
        or file_system["StorageType"] == _TIERED
        or file_system["FileSystemTypeVersion"] == "2.10"
    )
    if refused:
        kind = f"{file_system['LustreConfiguration']['DeploymentType']} with {file_system['StorageType']} storage"
        version = file_system["FileSystemTypeVersion"]
        yield f"Data repository associations are not supported on {kind} and Lustre version {version}."
    if len(associations) > _MOST_ASSOCIATIONS:
        yield f"A file system can have at most {_MOST_ASSOCIATIONS} data repository associations."
    for association in associations:
        yield from _path_problems(association)
        yield from _event_problems(association)
    for name in ("FileSystemPath", "DataRepositoryPath"):
        paths = [association.get(name, "/").rstrip("/") + "/" for association in associations]
        for one, other in combinations(paths, 2):
            if one.startswith(other) or other.startswith(one):
                yield f"{name} {other} overlaps {one} of another data repository association."


def _path_problems(association: Mapping[str, Any]) -> Iterator[str]:
    folder = association.get("FileSystemPath", "/")
    relative = not folder.startswith("/") or {".", ".."} & {*folder.split("/")}
    if relative or "//" in folder:
        yield f"Invalid FileSystemPath: {folder}."
    path = association["DataRepositoryPath"]
    if not re.match(r"s3://[^/\s]+(/|$)", path):
        yield f"Invalid DataRepositoryPath: {path}."


def _event_problems(association: Mapping[str, Any]) -> Iterator[str]:
    for policy in ("AutoImportPolicy", "AutoExportPolicy"):
        events = association.get("S3", {}).get(policy, {}).get("Events", ())
        if len({*events}) < len(events):
            yield f"Invalid events of {policy}: {', '.join(events)}."
