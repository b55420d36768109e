"""What the local FSx refuses, compared with the rules of the constructs, which are stated independently."""

from itertools import product
from typing import Any

import pytest

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_local.services.fsx.validation import validate
from ultracluster_local.services.handlers import ServiceError
from ultracluster_spec.lustre import Association, check_associations, check_file_system

pytestmark = pytest.mark.slow  # imports moto

DEPLOYMENT_TYPES = ("SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2")
CAPACITIES = (None, 0, 1200, 1800, 2400, 3600, 4800, 6000, 9600, 19_200, 38_400)
ASSOCIATION = Association(file_system_path="/data", data_repository_path="s3://bucket/data")


def as_api(settings: LustreSettings) -> dict[str, Any]:
    """Describe a file system as DescribeFileSystems does."""
    metadata = None if settings.metadata_iops is None else {"Iops": settings.metadata_iops}
    if metadata is None and settings.efa_enabled:
        metadata = {"Mode": "AUTOMATIC"}
    cache = {"SizingMode": settings.read_cache, "SizeGiB": settings.read_cache_gib}
    lustre = {
        "DeploymentType": settings.deployment_type,
        "PerUnitStorageThroughput": settings.per_unit_storage_throughput,
        "ThroughputCapacity": settings.throughput_capacity,
        "DataReadCacheConfiguration": {key: value for key, value in cache.items() if value is not None}
        or None,
        "MetadataConfiguration": metadata,
        "EfaEnabled": settings.efa_enabled,
        "DriveCacheType": "NONE" if settings.storage_type == "HDD" else None,
        "AutomaticBackupRetentionDays": settings.backup_retention_days,
        "CopyTagsToBackups": settings.copy_tags_to_backups,
    }
    file_system = {
        "StorageType": settings.storage_type,
        "StorageCapacity": settings.storage_capacity_gib,
        "FileSystemTypeVersion": settings.file_system_type_version,
        "LustreConfiguration": {key: value for key, value in lustre.items() if value is not None},
    }
    return {key: value for key, value in file_system.items() if value is not None}


def disagreements(*cases: tuple[LustreSettings, list[Association]]) -> list[Any]:
    found = []
    for settings, associations in cases:
        described = [
            {
                "FileSystemPath": each.file_system_path,
                "DataRepositoryPath": each.data_repository_path,
                "S3": {
                    "AutoImportPolicy": {"Events": list(each.import_events)},
                    "AutoExportPolicy": {"Events": list(each.export_events)},
                },
            }
            for each in associations
        ]
        ours = [*check_file_system(settings), *check_associations(associations, settings=settings)]
        try:
            validate(as_api(settings), described)
        except ServiceError as error:
            if not ours:
                found.append((settings, associations, str(error)))
        else:
            if ours:
                found.append((settings, associations, ours))
    return found


def test_storage_on_disks_is_refused_where_the_constructs_refuse_it() -> None:
    cases = [
        (
            LustreSettings(
                deployment_type=deployment_type,
                storage_type=storage_type,
                per_unit_storage_throughput=throughput,
                storage_capacity_gib=capacity,
                efa_enabled=efa,
                file_system_type_version=version,
            ),
            [],
        )
        for deployment_type, storage_type, throughput, capacity, efa, version in product(
            DEPLOYMENT_TYPES,
            ("SSD", "HDD"),
            (None, 12, 40, 50, 125, 200, 250, 1000),
            CAPACITIES,
            (False, True),
            ("2.10", "2.12", "2.15", "2.16"),
        )
    ]
    assert disagreements(*cases) == []


def test_intelligent_tiering_is_refused_where_the_constructs_refuse_it() -> None:
    cases = [
        (
            LustreSettings(
                storage_type="INTELLIGENT_TIERING",
                deployment_type=deployment_type,
                throughput_capacity=throughput,
                read_cache=mode,
                read_cache_gib=size,
                metadata_iops=iops,
                storage_capacity_gib=capacity,
            ),
            [],
        )
        for deployment_type, throughput, mode, size, iops, capacity in product(
            ("PERSISTENT_1", "PERSISTENT_2"),
            (None, 0, 4000, 5000, 8000, 2_000_000, 2_004_000),
            (None, "NO_CACHE", "USER_PROVISIONED", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY", "OTHER"),
            (None, 31, 32, 63, 64, 131_072, 131_073),
            (None, 1500, 6000, 12_000),
            (None, 4800),
        )
    ]
    assert disagreements(*cases) == []


def test_metadata_iops_and_backups_are_refused_where_the_constructs_refuse_them() -> None:
    cases = [
        (
            LustreSettings(
                deployment_type=deployment_type,
                per_unit_storage_throughput=throughput,
                storage_capacity_gib=1200,
                metadata_iops=iops,
                backup_retention_days=days,
                copy_tags_to_backups=copied,
                file_system_type_version=version,
            ),
            associations,
        )
        for (deployment_type, throughput), iops, days, copied, version, associations in product(
            (("SCRATCH_1", None), ("SCRATCH_2", None), ("PERSISTENT_1", 50), ("PERSISTENT_2", 125)),
            (None, 0, 1500, 2000, 12_000, 13_000, 192_000, 204_000),
            (-1, 0, 1, 90, 91),
            (False, True),
            ("2.10", "2.12", "2.15"),
            ([], [ASSOCIATION]),
        )
    ]
    assert disagreements(*cases) == []


def test_associations_are_refused_where_the_constructs_refuse_them() -> None:
    settings = LustreSettings(storage_capacity_gib=1200, per_unit_storage_throughput=125)
    folders = (
        "/",
        "/data",
        "/data/",
        "/data/more",
        "data",
        "",
        "//",
        "/a//b",
        "/a/../b",
        "/a\nb",
        "/" + 4096 * "x",
    )
    paths = (
        "s3://bucket",
        "s3://bucket/",
        "s3://other/data",
        "s3:///data",
        "bucket",
        "s3://b c",
        "s3://b/c d",
        "s3://b/c\n",
    )
    events = ((), ("NEW",), ("NEW", "NEW"), ("MOVED",), ("NEW", "CHANGED", "DELETED"))  # fmt: skip
    single = [
        Association(file_system_path=folder, data_repository_path=path)
        for folder, path in product(folders, paths)
    ] + [
        Association(
            file_system_path="/a", data_repository_path="s3://a", import_events=one, export_events=other
        )
        for one, other in product(events, events)
    ]
    assert (
        disagreements(
            *((settings, [each]) for each in single), *((settings, [ASSOCIATION, each]) for each in single)
        )
        == []
    )
    many = [
        Association(file_system_path=f"/{index}", data_repository_path=f"s3://bucket-{index}")
        for index in range(9)
    ]
    assert disagreements((settings, many[:8]), (settings, many)) == []
