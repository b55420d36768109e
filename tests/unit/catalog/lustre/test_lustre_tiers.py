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


@pytest.mark.parametrize(("deployment_type", "throughput"), [("PERSISTENT_3", 250), ("SCRATCH_2", 200)])
def test_a_tier_that_fsx_does_not_have_is_not_found(deployment_type: str, throughput: int) -> None:
    with pytest.raises(ValueError, match=f"{deployment_type}.*{throughput} MB/s per TiB"):
        get_lustre_tier(deployment_type, throughput)
