"""Tiers of file systems agree with what botocore knows of FSx."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ultracluster_catalog.lustre.lustre_tiers import LUSTRE_TIERS, get_lustre_tier

_Shapes = Callable[[str], Mapping[str, Any]]


@pytest.fixture(scope="module")
def shapes(botocore_shapes: _Shapes) -> Mapping[str, Any]:
    return botocore_shapes("fsx/2018-03-01")


def test_knows_the_deployment_types_of_fsx(shapes: Mapping[str, Any]) -> None:
    assert {tier.deployment_type for tier in LUSTRE_TIERS} == set(shapes["LustreDeploymentType"]["enum"])


def test_knows_the_throughput_tiers_of_fsx(shapes: Mapping[str, Any]) -> None:
    text = shapes["CreateFileSystemLustreConfiguration"]["members"]["PerUnitStorageThroughput"][
        "documentation"
    ]
    theirs = {
        (deployment_type, storage_type): tuple(map(int, values.split(", ")))
        for deployment_type, storage_type, values in re.findall(
            r"For <code>(\w+)</code> (\w+) storage: ([\d, ]+) MB/s/TiB", text
        )
    }
    ours: dict[tuple[str, str], tuple[int, ...]] = {}
    for tier in LUSTRE_TIERS:
        if tier.per_unit_storage_throughput is not None:
            key = (tier.deployment_type, tier.storage_type)
            ours[key] = (*ours.get(key, ()), tier.per_unit_storage_throughput)

    assert len(theirs) == 3
    assert ours == theirs


def test_knows_the_capacities_of_fsx(shapes: Mapping[str, Any]) -> None:
    text = shapes["CreateFileSystemRequest"]["members"]["StorageCapacity"]["documentation"]
    ssd, hdd, scratch_1 = re.findall(r"<li> <p>For (.*?)</p> </li>", text)[:3]
    for tier in LUSTRE_TIERS:
        step = f"increments of {tier.capacity_step_gib} GiB"
        if tier.storage_type == "HDD":
            assert f"{step} for {tier.per_unit_storage_throughput} MB/s/TiB" in hdd
            assert tier.small_capacities_gib == ()
        else:
            sentence = scratch_1 if tier.deployment_type == "SCRATCH_1" else ssd
            assert f"<code>{tier.deployment_type}</code>" in sentence
            small = {
                *tier.small_capacities_gib,
                2400,
            }  # where that is the step, it needs no mention of its own
            assert f"values are {', '.join(f'{size} GiB' for size in sorted(small))}, and {step}" in sentence


@pytest.mark.parametrize(("deployment_type", "throughput"), [("PERSISTENT_3", 250), ("SCRATCH_2", 200)])
def test_a_tier_that_fsx_does_not_have_is_not_found(deployment_type: str, throughput: int) -> None:
    with pytest.raises(ValueError, match=f"{deployment_type}.*{throughput} MB/s per TiB"):
        get_lustre_tier(deployment_type, throughput)


# https://docs.aws.amazon.com/fsx/latest/LustreGuide/increase-storage-capacity.html (2026-11)
@pytest.mark.parametrize(("throughput", "step"), [(125, 38_400), (250, 19_200), (500, 9_600), (1_000, 4_800)])
def test_a_file_system_with_efa_grows_in_larger_steps(throughput: int, step: int) -> None:
    tier = get_lustre_tier("PERSISTENT_2", throughput)

    sizes = (1_200, step - 2_400, step, step + 2_400, 2 * step)
    assert [size for size in sizes if tier.allows(size, efa_enabled=True)] == [step, 2 * step]
    assert all(map(tier.allows, sizes))
