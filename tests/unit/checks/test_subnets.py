"""Rules for subnets: zones, address ranges, free addresses."""

from typing import Any

import pytest
from tests.unit.checks.edits import codes_after

from ultracluster_checks import Source

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC3002", "block-nodes", {"Subnet/CidrBlock": "10.60.0.0/28", "AutoScalingGroup/MaxSize": "12"}),
    ("UC4106", "batch-efa", {"/Parameters/ZoneId/Default": "use2-az1"}),
)

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("batch-efa", {"Subnet:Private/CidrBlock": "10.40.1.0/24"}),
    ("block-nodes", {"Subnet/CidrBlock": "10.60.0.0/28", "AutoScalingGroup/MaxSize": "11"}),
)


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert code in codes_after(foreign, base, edits)


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []
