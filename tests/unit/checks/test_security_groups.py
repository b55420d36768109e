"""Rules for security groups: EFA in both directions, and nothing open to the internet."""

from typing import Any

import pytest
from tests.unit.checks.defects import DROP
from tests.unit.checks.edits import codes_after

from ultracluster_checks import Source

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC3201", "batch-efa", {"SecurityGroupEgress": DROP}),
    (
        "UC3206",
        "batch-efa",
        {
            "SecurityGroup/SecurityGroupIngress": [
                {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": "0.0.0.0/0"}
            ]
        },
    ),
)

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "batch-efa",
        {
            "SecurityGroup/SecurityGroupIngress": [
                {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": "10.40.0.0/16"}
            ]
        },
    ),
    (
        "lustre-data",
        {
            "SecurityGroup/SecurityGroupIngress": [
                {"IpProtocol": "-1", "SourceSecurityGroupId": "sg-0123456789abcdef0"}
            ]
        },
    ),
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
