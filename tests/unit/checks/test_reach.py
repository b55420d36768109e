"""Ranks, nodes, file systems and endpoints that do not reach each other."""

from typing import Any

import pytest
from tests.unit.checks.whole_cluster import DROP, codes_after, findings_after

LT = "LaunchTemplate/LaunchTemplateData"
VPC = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.9.0.0/16"}}
SUBNET = {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.9.0.0/20"}}
GROUP = {
    "Type": "AWS::EC2::SecurityGroup",
    "Properties": {"GroupDescription": "other", "VpcId": {"Ref": "Vpc"}},
}
OTHER = {"/Resources/Vpc": VPC, "/Resources/Other": GROUP}
INTERFACES = [f"{LT}/NetworkInterfaces/{index}/Groups" for index in range(16)]

BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("UC3201", "Network", {"SecurityGroupIngress:NetworkEfaIngress": DROP}),
    ("UC3201", "Network", {"SecurityGroupEgress:NetworkEfaEgress/IpProtocol": "tcp"}),
    ("UC3212", "Cluster", dict.fromkeys(INTERFACES, DROP)),
    ("UC3212", "Cluster", {INTERFACES[3]: [{"Ref": "Other"}], **OTHER}),
    ("UC3209", "Cluster", {INTERFACES[0]: [{"Fn::GetAtt": ["Other", "GroupId"]}], **OTHER}),
    ("UC3204", "Cluster", {f"{LT}/NetworkInterfaces/0/SubnetId": {"Ref": "Subnet"}, "/Resources/Subnet": SUBNET, **OTHER}),
    ("UC3204", "Cluster", {f"{LT}/NetworkInterfaces/{place}/SubnetId": f"subnet-0123456789abcde{place}" for place in (10, 11)}),
    ("UC5203", "Storage", {"FileSystem/SecurityGroupIds": DROP}),
    *(("UC5203", "Storage", {f"SecurityGroup{way}:FileSystem{side}{way}{port}": DROP})
      for way in ("Ingress", "Egress") for side in ("FromNodes", "Own", "ToNodes") for port in ("988", "1018")),
    ("UC5203", "Storage", {"SecurityGroupIngress:FileSystemFromNodesIngress988/IpProtocol": "udp"}),
    ("UC5203", "Storage", {"SecurityGroupIngress:FileSystemFromNodesIngress1018/ToPort": 1022}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "stack", "edits"), BROKEN)
def test_edit_breaks_the_rule(code: str, stack: str, edits: dict[str, Any]) -> None:
    assert code in codes_after(stack, edits)


def test_sixteen_interfaces_without_a_group_are_one_finding() -> None:
    found = findings_after("Cluster", dict.fromkeys(INTERFACES, DROP))

    assert [line for line in found if line.startswith("UC3212")] == [
        line for line in found if "15 more like it" in line
    ]


def test_addresses_of_the_subnet_admit_its_nodes_to_lustre() -> None:
    place = "SecurityGroupIngress:FileSystemFromNodesIngress988"

    assert (
        codes_after("Storage", {f"{place}/SourceSecurityGroupId": DROP, f"{place}/CidrIp": "10.0.0.0/8"})
        == []
    )
    assert codes_after(
        "Storage", {f"{place}/SourceSecurityGroupId": DROP, f"{place}/CidrIp": "192.168.0.0/16"}
    ) == ["UC5203"]


def test_groups_that_only_a_deployment_knows_are_no_finding() -> None:
    place = "SecurityGroupIngress:FileSystemFromNodesIngress988/SourceSecurityGroupId"

    assert codes_after("Storage", {place: {"Fn::ImportValue": "clients"}}) == []
