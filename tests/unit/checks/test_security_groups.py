"""Rules for security groups: EFA in both directions, and nothing open to the internet."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates
from ultracluster_checks.model.template import Templates
from ultracluster_checks.security_groups import group_rules


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


@pytest.mark.parametrize(("given", "found"), [({"Ref": "It"}, 1), ({"Fn::GetAtt": ["Lookup", "Id"]}, 0)])
def test_a_rule_of_an_unknown_group_leaves_out_no_ports_of_another(given: dict[str, Any], found: int) -> None:
    def group(**properties: Any) -> dict[str, Any]:
        return {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"GroupDescription": "it", "VpcId": "vpc-0123456789abcdef0", **properties},
        }

    alone = {
        "GroupId": given,
        "IpProtocol": "tcp",
        "FromPort": 988,
        "ToPort": 988,
        "DestinationSecurityGroupId": {"Ref": "Other"},
    }
    resources = {
        "It": group(),
        "Other": group(),
        "Lookup": {"Type": "Custom::Lookup", "Properties": {}},
        "Rule": {"Type": "AWS::EC2::SecurityGroupEgress", "Properties": alone},
    }
    findings = check_templates([Source(name="it", body={"Resources": resources})]).errors

    assert len([each for each in findings if each.code == "UC5203"]) == found
