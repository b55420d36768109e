"""`file_system.metadata_iops` of a rollout."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.file_system_edits import Findings, file_system_findings

from ultracluster_stacks.config import LoadedRollout


def test_leaves_metadata_iops_to_fsx_when_a_file_does_not_set_them(
    load: Callable[..., LoadedRollout], valid: str
) -> None:
    (cluster,) = load(text=valid).config.waves[0].clusters
    assert cluster.file_system.metadata_iops is None


@pytest.mark.parametrize(
    ("settings", "code", "place"),
    [
        ("kms_key_arn: alias/fsx", "UC5102", "kms_key_arn"),
    ],
)
def test_refuses_what_fsx_refuses_at_its_place(
    findings: Findings, settings: str, code: str, place: str
) -> None:
    assert file_system_findings(findings, settings) == [(code, f"file_system.{place}")]


def test_what_cannot_be_read_hides_no_other_problem(findings: Findings) -> None:
    found = file_system_findings(findings, "backup_retention_days: many, kms_key_arn: alias/fsx, efa: true")
    assert sorted(found) == [
        ("UC1022", "file_system.backup_retention_days"),
        ("UC5003", "file_system.storage_capacity_gib"),  # EFA needs a larger one
        ("UC5027", "file_system.efa"),
        ("UC5102", "file_system.kms_key_arn"),
    ]
