"""The boundary of a cluster is of its account."""

from pathlib import Path

import pytest
from tests.unit.stacks.config.permission_edits import load_with_permissions

from ultracluster_rules.findings import FindingsError

ACCOUNT = "012345678901"


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
