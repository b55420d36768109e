"""Rules for security groups: EFA in both directions, and nothing open to the internet."""

from typing import Any

import pytest
from tests.unit.checks.defects import DROP
from tests.unit.checks.edits import codes_after

from ultracluster_checks import Source
from ultracluster_checks.model.template import Templates
from ultracluster_checks.security_groups import group_rules

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


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ({"IpProtocol": "tcp", "FromPort": 1018, "ToPort": 1023}, True),
        ({"IpProtocol": "6", "FromPort": 1018, "ToPort": 1023}, True),  # the number of TCP
        ({"IpProtocol": "-1"}, True),
        ({"IpProtocol": "tcp", "FromPort": 1018, "ToPort": 1022}, False),
        ({"IpProtocol": "tcp", "FromPort": 1019, "ToPort": 1023}, False),
        ({"IpProtocol": "17", "FromPort": 1018, "ToPort": 1023}, False),
        ({"IpProtocol": "tcp", "ToPort": 1023}, False),
    ],
)
def test_a_rule_admits_tcp_on_all_ports_of_a_range(rule: dict[str, Any], holds: bool) -> None:
    properties = {"GroupDescription": "it", "SecurityGroupIngress": [rule]}
    group = {"Type": "AWS::EC2::SecurityGroup", "Properties": properties}
    (template,) = Templates([Source(name="it", body={"Resources": {"It": group}})]).all
    (found,) = group_rules(template.resources["It"], "in")

    assert found.holds_port(1018, 1023) is holds
