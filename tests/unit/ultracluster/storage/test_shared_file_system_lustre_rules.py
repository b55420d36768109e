"""Ports and EFA are open between a file system and its nodes."""

from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import of_type, only
from tests.unit.ultracluster.storage.default_file_system import file_system

pytestmark = pytest.mark.slow

_EFA: dict[str, Any] = {"efa_clients": "p5.48xlarge", "storage_capacity_gib": 19_200}


def test_efa_opens_all_traffic_between_the_groups_and_requires_a_large_file_system(stack: cdk.Stack) -> None:
    system = file_system(stack, **_EFA)
    assert system.efa_enabled
    nodes = stack.resolve(stack.node.find_child("Network").security_group.security_group_id)
    own = stack.resolve(system.connections.security_groups[0].security_group_id)
    assert only(stack, "AWS::FSx::FileSystem")["LustreConfiguration"]["EfaEnabled"] is True
    pairs = {(str(a), str(b)) for a, b in ((own, own), (nodes, own), (own, nodes))}
    for direction, source, target in (
        ("Ingress", "SourceSecurityGroupId", "GroupId"),
        ("Egress", "GroupId", "DestinationSecurityGroupId"),
    ):
        rules = [each["Properties"] for each in of_type(stack, f"AWS::EC2::SecurityGroup{direction}")]
        lustre = [each for each in rules if each["Description"] == "Lustre"]
        assert {each["IpProtocol"] for each in lustre} == {"-1"}
        assert len(lustre) == len(pairs)  # EC2 refuses a second rule that says the same
        assert not any("FromPort" in each for each in lustre)
        assert {(str(each[source]), str(each[target])) for each in lustre} == pairs


def test_lustre_ports_are_open_within_the_file_system_and_to_the_nodes_both_ways(stack: cdk.Stack) -> None:
    storage = file_system(stack)
    nodes = stack.resolve(storage.node.scope.node.find_child("Network").security_group.security_group_id)
    own = stack.resolve(storage.connections.security_groups[0].security_group_id)
    expected = {
        (str(source), str(destination), first, last)
        for source, destination in ((own, own), (nodes, own), (own, nodes))
        for first, last in ((988, 988), (1018, 1023))
    }
    ingress = {
        (str(each["SourceSecurityGroupId"]), str(each["GroupId"]), each["FromPort"], each["ToPort"])
        for each in (resource["Properties"] for resource in of_type(stack, "AWS::EC2::SecurityGroupIngress"))
        if each["IpProtocol"] == "tcp" and each["FromPort"] != 443
    }
    egress = {
        (str(each["GroupId"]), str(each["DestinationSecurityGroupId"]), each["FromPort"], each["ToPort"])
        for each in (resource["Properties"] for resource in of_type(stack, "AWS::EC2::SecurityGroupEgress"))
        if each["IpProtocol"] == "tcp"
    }
    assert ingress == expected
    assert egress == expected


def test_the_ports_are_open_before_the_file_system_is_made(stack: cdk.Stack) -> None:
    file_system(stack)
    rules = [
        *of_type(stack, "AWS::EC2::SecurityGroupIngress"),
        *of_type(stack, "AWS::EC2::SecurityGroupEgress"),
    ]
    lustre = [rule for rule in rules if rule["Properties"]["Description"] == "Lustre"]
    assert len(of_type(stack, "AWS::FSx::FileSystem")[0]["DependsOn"]) == len(lustre) == 12
