from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ultracluster_catalog.lustre.lustre import METADATA_IOPS, LustreSettings
from ultracluster_catalog.lustre.lustre_tiers import LUSTRE_TIERS
from ultracluster_spec.lustre import check_file_system

_Shapes = Callable[[str], Mapping[str, Any]]


_PERSISTENT_2 = ("PERSISTENT_2", 250)


@pytest.fixture(scope="module")
def shapes(botocore_shapes: _Shapes) -> Mapping[str, Any]:
    return botocore_shapes("fsx/2018-03-01")


def _settings(deployment_type: str, throughput: int | None, gib: int, **options: Any) -> LustreSettings:
    """A file system on the disks of its deployment type."""
    return LustreSettings(
        **{"storage_type": "HDD" if throughput in {12, 40} else "SSD"} | options,
        deployment_type=deployment_type,
        per_unit_storage_throughput=throughput,
        storage_capacity_gib=gib,
    )


def _codes(deployment_type: str, throughput: int | None, gib: int, **options: Any) -> list[tuple[str, str]]:
    return [
        (finding.code, finding.path)
        for finding in check_file_system(_settings(deployment_type, throughput, gib, **options))
    ]


# Tier, capacities below the first step, the step, and what the API reference says of it.
_CAPACITIES: list[tuple[tuple[str, int | None], set[int], int, str]] = [
    (("SCRATCH_1", None), {1200, 2400}, 3600, "1200 GiB, 2400 GiB, and increments of 3600 GiB"),
    (("SCRATCH_2", None), {1200}, 2400, "1200 GiB, 2400 GiB, and increments of 2400 GiB"),
    (("PERSISTENT_1", 12), set(), 6000, "increments of 6000 GiB for 12 MB/s/TiB"),
    (("PERSISTENT_1", 40), set(), 1800, "increments of 1800 GiB for 40 MB/s/TiB"),
    *(
        ((name, throughput), {1200}, 2400, "1200 GiB, 2400 GiB, and increments of 2400 GiB")
        for name, tiers in {"PERSISTENT_1": (50, 100, 200), "PERSISTENT_2": (125, 250, 500, 1000)}.items()
        for throughput in tiers
    ),
]


@pytest.mark.parametrize(("tier", "first", "step", "said"), _CAPACITIES)
def test_accepts_exactly_the_storage_capacities_of_the_api_reference(
    tier: tuple[str, int | None], first: set[int], step: int, said: str, shapes: Mapping[str, Any]
) -> None:
    assert said in shapes["CreateFileSystemRequest"]["members"]["StorageCapacity"]["documentation"]
    expected = first | set(range(step, 15_001, step))
    beside = {gib + offset for gib in expected for offset in (-1, 1)}

    tried = expected | beside | set(range(600, 15_001, 600))
    assert {gib for gib in tried if not _codes(*tier, gib)} == expected
    assert {found for gib in beside for found in _codes(*tier, gib)} == {("UC5003", "storage_capacity_gib")}


def test_every_tier_has_a_row_in_the_table_of_capacities() -> None:
    assert {tier for tier, *_ in _CAPACITIES} == {
        (tier.deployment_type, tier.per_unit_storage_throughput) for tier in LUSTRE_TIERS
    }


@pytest.mark.parametrize(("throughput", "step"), [(125, 38_400), (250, 19_200), (500, 9_600), (1000, 4_800)])
def test_an_efa_enabled_file_system_has_larger_steps(throughput: int, step: int) -> None:
    for gib in (step, 3 * step):
        assert _codes("PERSISTENT_2", throughput, gib, efa_enabled=True) == []
    for gib in (1200, step - 2400, step + 2400):
        assert _codes("PERSISTENT_2", throughput, gib, efa_enabled=True) == [
            ("UC5003", "storage_capacity_gib")
        ]
        assert _codes("PERSISTENT_2", throughput, gib) == []


@pytest.mark.parametrize("gib", [0, -1200, -2400])
def test_refuses_a_capacity_of_nothing_or_less(gib: int) -> None:
    assert _codes(*_PERSISTENT_2, gib) == [("UC5003", "storage_capacity_gib")]


@pytest.mark.parametrize(
    ("gib", "efa", "next_larger"),
    [
        (1, False, 1200),
        (1199, False, 1200),
        (1201, False, 2400),
        (4801, False, 7200),
        (1, True, 19_200),
        (19_201, True, 38_400),
    ],
)
def test_says_the_next_larger_capacity(gib: int, efa: bool, next_larger: int) -> None:
    (finding,) = check_file_system(_settings(*_PERSISTENT_2, gib, efa_enabled=efa))
    assert finding.remedy == f"The next larger is {next_larger} GiB."
    assert finding.allowed.endswith("with EFA") == efa
    assert _codes(*_PERSISTENT_2, next_larger, efa_enabled=efa) == []


def test_refuses_a_deployment_type_that_fsx_does_not_have_and_no_throughput() -> None:
    assert _codes("PERSISTENT_3", 250, 1200) == [("UC5001", "deployment_type")]
    assert _codes("PERSISTENT_2", None, 1200) == [("UC5002", "per_unit_storage_throughput")]


@pytest.mark.parametrize(
    ("deployment_type", "throughput", "versions"),
    [
        ("PERSISTENT_2", 250, {"2.12", "2.15"}),
        ("PERSISTENT_1", 50, {"2.10", "2.12", "2.15"}),
        ("SCRATCH_2", None, {"2.10", "2.12", "2.15"}),
    ],
)
def test_accepts_the_lustre_versions_of_the_deployment_type(
    deployment_type: str, throughput: int | None, versions: set[str]
) -> None:
    accepted = {
        version
        for version in ("2.9", "2.10", "2.12", "2.15", "2.16", "")
        if not _codes(deployment_type, throughput, 2400, file_system_type_version=version)
    }
    assert accepted == versions


def test_efa_and_metadata_iops_need_persistent_2_with_lustre_2_15() -> None:
    options: dict[str, Any] = {"efa_enabled": True, "metadata_iops": 12_000}
    both = [("UC5005", "efa_enabled"), ("UC5005", "metadata_iops")]

    assert _codes(*_PERSISTENT_2, 19_200, **options) == []
    assert _codes(*_PERSISTENT_2, 19_200, file_system_type_version="2.12", **options) == both
    assert _codes("PERSISTENT_1", 200, 19_200, **options) == both
    assert _codes("SCRATCH_2", None, 2400, **options) == both


def test_refuses_metadata_iops_beside_the_steps() -> None:
    accepted = [
        iops for iops in range(0, 200_000, 500) if not _codes(*_PERSISTENT_2, 2400, metadata_iops=iops)
    ]
    assert tuple(accepted) == METADATA_IOPS


def test_shows_all_problems_together() -> None:
    assert _codes("SCRATCH_2", None, 1, file_system_type_version="3", efa_enabled=True, metadata_iops=1) == [
        ("UC5003", "storage_capacity_gib"),
        ("UC5004", "file_system_type_version"),
        ("UC5005", "efa_enabled"),
        ("UC5005", "metadata_iops"),
        ("UC5006", "metadata_iops"),
    ]
