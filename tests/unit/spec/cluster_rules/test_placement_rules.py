"""The account, the zone and the Region of a cluster, and what is offered there."""

from collections.abc import Callable
from pathlib import Path

from tests.unit.stacks.config.permission_edits import load_with_permissions

from ultracluster_spec.findings import Finding

Findings = Callable[..., list[Finding]]
_BLOCK = """          market_type: capacity-block
          reservation_id: cr-0123456789abcdef0
"""
_ON_DEMAND = (_BLOCK, "          market_type: on-demand\n")


def test_warns_of_a_partition_that_was_never_tested(findings: Findings) -> None:
    china = [("us-east-2\n", "cn-north-1\n"), ("use2-az3", "cnn1-az1"), ("us-east-2.ama", "cn-north-1.ama")]

    assert [finding.code for finding in findings(*china, _ON_DEMAND)] == ["UC2103"]


def test_a_boundary_of_another_account_passes_while_the_account_is_not_known(tmp_path: Path) -> None:
    assert (
        load_with_permissions('permissions_boundary: "arn:aws:iam::999999999999:policy/x"', tmp_path).account
        is None
    )
