"""The account, the zone and the Region of a cluster, and what is offered there."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.stacks.config.permission_edits import load_with_permissions

from ultracluster_spec.findings import Finding, FindingsError

Findings = Callable[..., list[Finding]]
_TYPE = "trn2.48xlarge"
_BLOCK = """          market_type: capacity-block
          reservation_id: cr-0123456789abcdef0
"""
_ON_DEMAND = (_BLOCK, "          market_type: on-demand\n")


def test_warns_of_a_zone_where_the_type_is_not_known_to_be_offered(findings: Findings) -> None:
    trn1 = (_TYPE, "trn1.32xlarge")

    assert findings(_ON_DEMAND, trn1) == []
    assert [finding.code for finding in findings(_ON_DEMAND, trn1, ("use2-az3", "use2-az1"))] == ["UC4106"]


def test_warns_of_a_partition_that_was_never_tested(findings: Findings) -> None:
    china = [("us-east-2\n", "cn-north-1\n"), ("use2-az3", "cnn1-az1"), ("us-east-2.ama", "cn-north-1.ama")]

    assert [finding.code for finding in findings(*china, _ON_DEMAND)] == ["UC2103"]


ACCOUNT = "123456789012"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        (
            f'permissions_boundary: "arn:aws:iam::999999999999:policy/x"\n        account: "{ACCOUNT}"',
            "UC2262",
        ),
    ],
)
def test_refuses_a_boundary_or_path_with_its_line(fields: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(FindingsError) as refused:
        load_with_permissions(fields, tmp_path)

    assert [each.code for each in refused.value.findings] == [code]
    assert "rollout.yaml:" in refused.value.findings[0].location


def test_a_boundary_of_another_account_passes_while_the_account_is_not_known(tmp_path: Path) -> None:
    assert (
        load_with_permissions('permissions_boundary: "arn:aws:iam::999999999999:policy/x"', tmp_path).account
        is None
    )
