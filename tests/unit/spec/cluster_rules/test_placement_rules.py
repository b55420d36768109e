"""The account, the zone and the Region of a cluster, and what is offered there."""

from collections.abc import Callable
from pathlib import Path

from tests.unit.stacks.config.machine_edits import TYPE_LINE
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


_CLUSTER = "waves[0].clusters[0]"


def test_warns_of_a_part_of_an_ultraserver_and_refuses_a_job_that_cannot_be_joined(
    findings: Findings,
) -> None:
    part = findings((TYPE_LINE, TYPE_LINE.replace("trn2.", "trn2u.")), ("nodes: 4", "nodes: 2"))
    assert [(each.code, each.path) for each in part] == [("UC4029", f"{_CLUSTER}.nodes")]
    three = findings((TYPE_LINE, TYPE_LINE.replace("trn2.", "trn2u.")), ("nodes: 4", "nodes: 3"))
    assert ("UC4028", f"{_CLUSTER}.jobs[0].nodes") in [(each.code, each.path) for each in three]
