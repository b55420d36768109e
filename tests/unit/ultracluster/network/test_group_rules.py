"""Rules between security groups come in pairs, for ports or for all traffic."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import only

from ultracluster.network.group_rules import allow_between_groups

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        (None, {"IpProtocol": "-1"}),
        ((1018, 1023), {"IpProtocol": "tcp", "FromPort": 1018, "ToPort": 1023}),
    ],
)
def test_traffic_leaves_one_group_and_enters_the_other(
    stack: cdk.Stack, ports: tuple[int, int] | None, expected: dict[str, object]
) -> None:
    rules = allow_between_groups(
        stack,
        ("In", "Out"),
        source="sg-1",
        destination="sg-2",
        descriptions=("from one", "to two"),
        ports=ports,
    )

    assert [rule.node.id for rule in rules] == ["In", "Out"]
    assert only(stack, "AWS::EC2::SecurityGroupIngress") == {
        "GroupId": "sg-2",
        "SourceSecurityGroupId": "sg-1",
        "Description": "from one",
        **expected,
    }
    assert only(stack, "AWS::EC2::SecurityGroupEgress") == {
        "GroupId": "sg-1",
        "DestinationSecurityGroupId": "sg-2",
        "Description": "to two",
        **expected,
    }
