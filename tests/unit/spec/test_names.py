from collections.abc import Callable

import pytest

from ultracluster_spec.bounds import Form
from ultracluster_spec.names import REGION, ROLE_PATH
from ultracluster_stacks.config import LoadedRollout


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


def test_roles_have_neither_boundary_nor_path_unasked(load: Callable[..., LoadedRollout]) -> None:
    cluster = load().config.waves[0].clusters[0]
    assert (cluster.permissions_boundary, cluster.role_path) == (None, None)
