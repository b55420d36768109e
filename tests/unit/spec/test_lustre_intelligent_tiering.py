"""Storage types and Intelligent-Tiering, judged by the model of FSx that botocore ships."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ultracluster_catalog.lustre.lustre import (
    BACKUP_RETENTION_DAYS,
    READ_CACHE_GIB_PER_STEP,
    READ_CACHE_MODES,
    THROUGHPUT_CAPACITIES,
    LustreSettings,
)
from ultracluster_spec.lustre import check_file_system

_TIERED: dict[str, Any] = {
    "storage_type": "INTELLIGENT_TIERING",
    "throughput_capacity": 8000,
    "read_cache": "NO_CACHE",
    "metadata_iops": 6000,
}
_SSD: dict[str, Any] = {"storage_capacity_gib": 4800, "per_unit_storage_throughput": 250}


def _codes(**settings: Any) -> list[tuple[str, str]]:
    return [(each.code, each.path) for each in check_file_system(LustreSettings(**settings))]


@pytest.fixture(scope="module")
def shapes(botocore_shapes: Callable[[str], Mapping[str, Any]]) -> Mapping[str, Any]:
    return botocore_shapes("fsx/2018-03-01")


def test_bounds_are_those_of_fsx(shapes: Mapping[str, Any]) -> None:
    throughput, days = shapes["ThroughputCapacityMbps"], shapes["AutomaticBackupRetentionDays"]
    assert (THROUGHPUT_CAPACITIES[0], THROUGHPUT_CAPACITIES[-1]) == (throughput["min"], throughput["max"])
    assert (BACKUP_RETENTION_DAYS[0], BACKUP_RETENTION_DAYS[-1]) == (days["min"], days["max"])
    assert set(READ_CACHE_MODES) == set(shapes["LustreReadCacheSizingMode"]["enum"])
    said = shapes["LustreReadCacheConfiguration"]["members"]["SizeGiB"]["documentation"]
    least, most = READ_CACHE_GIB_PER_STEP[0], READ_CACHE_GIB_PER_STEP[-1]
    assert f"minimum of {least} GiB and maximum of {most} GiB" in said
    assert "for every 4,000 MB/s of throughput capacity" in said


def test_takes_a_file_system_without_a_size() -> None:
    assert _codes(**_TIERED) == []


def test_the_default_file_systems_can_be_created() -> None:
    for given in ({}, {"deployment_type": "SCRATCH_2"}, {**_TIERED, "throughput_capacity": None}):
        assert check_file_system(LustreSettings(**given).with_defaults()) == []
    assert LustreSettings().with_defaults() == LustreSettings(**_SSD)


@pytest.mark.parametrize("deployment_type", ["SCRATCH_2", "PERSISTENT_1"])
def test_only_persistent_2_tiers(deployment_type: str) -> None:
    found = _codes(
        deployment_type=deployment_type,
        storage_type="INTELLIGENT_TIERING",
        storage_capacity_gib=2400,
        per_unit_storage_throughput=None if deployment_type == "SCRATCH_2" else 50,
        metadata_iops=None,
    )
    assert ("UC5010", "storage_type") in found


def test_a_storage_type_is_that_of_the_tier() -> None:
    hdd = {"deployment_type": "PERSISTENT_1", "per_unit_storage_throughput": 12, "storage_capacity_gib": 6000}
    assert _codes(**hdd, storage_type="HDD") == []
    assert _codes(**hdd, storage_type="SSD") == [("UC5010", "storage_type")]
    assert _codes(**_SSD, storage_type="TAPE") == [("UC5010", "storage_type")]


_OWN_CACHE: dict[str, Any] = {**_TIERED, "read_cache": "USER_PROVISIONED"}


@pytest.mark.parametrize(
    ("settings", "name", "taken", "refused", "code"),
    [
        (_TIERED, "storage_capacity_gib", [], [4800], "UC5011"),
        (_TIERED, "per_unit_storage_throughput", [], [250], "UC5011"),
        (_SSD, "throughput_capacity", [], [8000], "UC5011"),
        (_SSD, "read_cache", [], ["NO_CACHE"], "UC5011"),
        (_TIERED, "throughput_capacity", [4000, 2_000_000], [None, 0, 3999, 4001, 6000, 2_004_000], "UC5012"),
        (_TIERED, "read_cache", ["PROPORTIONAL_TO_THROUGHPUT_CAPACITY"], [None, "SOME"], "UC5013"),
        (_TIERED, "read_cache_gib", [], [64], "UC5013"),
        (_OWN_CACHE, "read_cache_gib", [64, 262_144], [None, 63, 262_145], "UC5013"),
        (_TIERED, "metadata_iops", [12_000], [None, 24_000], "UC5006"),
    ],
)
def test_a_setting_has_values_of_its_storage_type(
    settings: dict[str, Any], name: str, taken: list[Any], refused: list[Any], code: str
) -> None:
    assert [_codes(**settings | {name: value}) for value in taken] == [[]] * len(taken)
    assert [_codes(**settings | {name: value}) for value in refused] == [[(code, name)]] * len(refused)
