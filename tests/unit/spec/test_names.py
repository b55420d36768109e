from pathlib import Path

import pytest
from tests.unit.stacks.config.permission_edits import QUICKSTART, load_with_permissions

from ultracluster_spec.bounds import Form
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.names import REGION, ROLE_PATH
from ultracluster_stacks.config import load_rollout


@pytest.mark.parametrize(
    ("rule", "broken", "kept"),
    [(REGION, "us-esat-2", "us-east-2"), (REGION, "us-east-22", "us-gov-west-1"), (ROLE_PATH, "/a", "/a/")],
)
def test_a_name_has_the_form_of_its_rule(rule: Form, broken: str, kept: str) -> None:
    assert [finding.code for finding in rule.check(broken)] == [rule.code]
    assert rule.check(kept) == []


def test_a_region_is_suggested() -> None:
    (finding,) = REGION.check("us-eastt-2")
    assert finding.remedy == "Did you mean 'us-east-2'?"


ACCOUNT = "012345678901"


def test_roles_have_neither_boundary_nor_path_unasked() -> None:
    cluster = load_rollout(QUICKSTART).config.waves[0].clusters[0]
    assert (cluster.permissions_boundary, cluster.role_path) == (None, None)


@pytest.mark.parametrize(
    "boundary",
    [
        "training-boundary",
        "boundaries/training_1.0,a+b=c@d",
        "x" * 128,
        f"arn:aws:iam::{ACCOUNT}:policy/boundaries/training",
        "arn:aws:iam::aws:policy/PowerUserAccess",
        f"arn:aws-us-gov:iam::{ACCOUNT}:policy/training",
    ],
)
def test_takes_a_policy_by_name_or_arn(boundary: str, tmp_path: Path) -> None:
    cluster = load_with_permissions(
        f'permissions_boundary: "{boundary}"\n        account: "{ACCOUNT}"', tmp_path
    )
    assert cluster.permissions_boundary == boundary


@pytest.mark.parametrize("path", ["/training/", "/a/b/c/d/e/", "/" + "x" * 100 + "/"])
def test_takes_a_path(path: str, tmp_path: Path) -> None:
    assert load_with_permissions(f"role_path: {path}", tmp_path).role_path == path


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ('permissions_boundary: ""', "UC2260"),
        ("permissions_boundary: a b", "UC2260"),
        (f"permissions_boundary: {'x' * 129}", "UC2260"),
        ("permissions_boundary: /training", "UC2260"),
        ("permissions_boundary: training/", "UC2260"),
        (f'permissions_boundary: "arn:aws:iam::{ACCOUNT}:role/training"', "UC2260"),
        ("role_path: training", "UC2261"),
        ("role_path: /", "UC2261"),
        ("role_path: /training", "UC2261"),
        ("role_path: //", "UC2261"),
        ("role_path: /a/b/c/d/e/f/", "UC2261"),
        (f"role_path: /{'x' * 101}/", "UC2261"),
    ],
)
def test_refuses_a_boundary_or_path_with_its_line(fields: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(FindingsError) as refused:
        load_with_permissions(fields, tmp_path)

    assert [each.code for each in refused.value.findings] == [code]
    assert "rollout.yaml:" in refused.value.findings[0].location
