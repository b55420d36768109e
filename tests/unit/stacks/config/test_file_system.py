"""`file_system.metadata_iops` of a rollout."""

from collections.abc import Callable

import pytest

from ultracluster_catalog.findings import Finding
from ultracluster_stacks.config import LoadedRollout

Findings = Callable[..., list[Finding]]

_SIZE = "storage_capacity_gib: 4800"


@pytest.mark.parametrize("iops", [1500, 3000, 6000, 12_000, 192_000])
def test_takes_the_metadata_iops_that_fsx_provisions(findings: Findings, iops: int) -> None:
    assert findings((_SIZE, f"{_SIZE}, metadata_iops: {iops}")) == []


@pytest.mark.parametrize("iops", [0, 1499, 1501, 9000, 18_000, 204_000])
def test_refuses_other_metadata_iops_at_their_place(findings: Findings, iops: int) -> None:
    (finding,) = findings((_SIZE, f"{_SIZE}, metadata_iops: {iops}"))
    assert (finding.code, finding.path) == ("UC5006", "waves[0].clusters[0].file_system.metadata_iops")
    assert f"got {iops}" in finding.problem


def test_leaves_metadata_iops_to_fsx_when_a_file_says_nothing(
    load: Callable[..., LoadedRollout], valid: str
) -> None:
    (cluster,) = load(text=valid).config.waves[0].clusters
    assert cluster.file_system.metadata_iops is None
