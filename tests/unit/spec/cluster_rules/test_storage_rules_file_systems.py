"""`file_system.metadata_iops` of a rollout."""

from tests.unit.stacks.config.file_system_edits import Findings, file_system_findings


def test_what_cannot_be_read_hides_no_other_problem(findings: Findings) -> None:
    found = file_system_findings(findings, "backup_retention_days: many, kms_key_arn: alias/fsx, efa: true")
    assert sorted(found) == [
        ("UC1022", "file_system.backup_retention_days"),
        ("UC5003", "file_system.storage_capacity_gib"),  # EFA needs a larger one
        ("UC5027", "file_system.efa"),
        ("UC5102", "file_system.kms_key_arn"),
    ]
