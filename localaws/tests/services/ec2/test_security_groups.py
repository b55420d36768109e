"""Security groups of the local EC2: the default group's own rules, names, ports and blocks."""

from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def test_default_group_admits_itself_and_lets_everything_out(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    (group,) = ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["SecurityGroups"]
    (admitted,) = group["IpPermissions"]
    (let_out,) = group["IpPermissionsEgress"]
    assert admitted["IpProtocol"] == let_out["IpProtocol"] == "-1"
    assert [one["GroupId"] for one in admitted["UserIdGroupPairs"]] == [group["GroupId"]]
    assert [one["CidrIp"] for one in let_out["IpRanges"]] == ["0.0.0.0/0"]


def test_another_group_admits_nothing_at_first(ec2: Any) -> None:
    group = ec2.create_security_group(GroupName="nodes", Description="Nodes")["GroupId"]

    assert ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]["IpPermissions"] == []


@pytest.mark.parametrize(
    ("name", "description", "words"),
    [
        ("sg-nodes", "d", "may not be in the format sg-*"),
        ("default", "d", "Cannot use reserved security group name: default"),
        ("nödes", "d", "for parameter GroupName is invalid. Character sets beyond ASCII"),
        ("nodes", "it's", "for parameter GroupDescription is invalid. Invalid characters"),
        ("n" * 256, "d", "for parameter GroupName is invalid. Invalid characters or length"),
    ],
)
def test_names_and_descriptions_have_certain_characters(
    ec2: Any, name: str, description: str, words: str
) -> None:
    code, message = refusal(ec2.create_security_group, GroupName=name, Description=description)

    assert (code, words in message) == ("InvalidParameterValue", True)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"IpProtocol": "tcp"}, "Must specify both from and to ports with TCP/UDP."),
        ({"IpProtocol": "6", "FromPort": 2, "ToPort": 1}, "Invalid TCP/UDP port range (2:1)"),
        ({"IpProtocol": "udp", "FromPort": 0, "ToPort": 65_536}, "TCP/UDP (to) port (65536) out of range"),
        ({"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.0.0.0/33"}]}, "CIDR block 10.0.0.0/33 is malformed"),
        ({"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-0"}]}, "The security group 'sg-0' does not exist"),
    ],
)  # fmt: skip
def test_a_rule_has_ports_blocks_and_groups_that_exist(ec2: Any, rule: dict[str, Any], words: str) -> None:
    group = ec2.create_security_group(GroupName="nodes", Description="d")["GroupId"]

    for authorize in (ec2.authorize_security_group_ingress, ec2.authorize_security_group_egress):
        assert words in refusal(authorize, GroupId=group, IpPermissions=[rule])[1]


@pytest.mark.parametrize(
    ("protocol", "ports", "words"),
    [
        ("tcp", {"FromPort": 22, "ToPort": 22}, "TCP, from port: 22, to port: 22"),
        ("17", {"FromPort": 1, "ToPort": 9}, "UDP, from port: 1, to port: 9"),
        ("-1", {}, "ALL"),
    ],
)
@pytest.mark.parametrize("direction", ["ingress", "egress"])
def test_a_rule_that_a_group_has_is_refused_as_ec2_writes_it(
    ec2: Any, direction: str, protocol: str, ports: dict[str, int], words: str
) -> None:
    group = ec2.create_security_group(GroupName="nodes", Description="d")["GroupId"]
    authorize = getattr(ec2, f"authorize_security_group_{direction}")
    own = {"IpProtocol": protocol, **ports, "UserIdGroupPairs": [{"GroupId": group}]}
    authorize(GroupId=group, IpPermissions=[own])
    block = {"IpProtocol": protocol, **ports, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}
    authorize(GroupId=group, IpPermissions=[block])

    for rule, peer in ((own, group), (block, "10.0.0.0/8")):
        assert refusal(authorize, GroupId=group, IpPermissions=[rule]) == (
            "InvalidPermission.Duplicate",
            f'the specified rule "peer: {peer}, {words}, ALLOW" already exists',
        )
