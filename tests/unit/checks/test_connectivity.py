"""Ranks, nodes, file systems and endpoints that do not reach each other."""

from tests.unit.checks.whole_cluster import codes_after, findings_after

LT = "LaunchTemplate/LaunchTemplateData"
INTERFACES = [f"{LT}/NetworkInterfaces/{index}/Groups" for index in range(16)]


def test_sixteen_interfaces_without_a_group_are_one_finding() -> None:
    found = findings_after("Cluster", dict.fromkeys(INTERFACES, None))

    assert [line for line in found if line.startswith("UC3212")] == [
        line for line in found if "15 more like it" in line
    ]


def test_addresses_of_the_subnet_admit_its_nodes_to_lustre() -> None:
    place = "SecurityGroupIngress:FileSystemFromNodesIngress988"

    assert (
        codes_after("Storage", {f"{place}/SourceSecurityGroupId": None, f"{place}/CidrIp": "10.0.0.0/8"})
        == []
    )
    assert codes_after(
        "Storage", {f"{place}/SourceSecurityGroupId": None, f"{place}/CidrIp": "192.168.0.0/16"}
    ) == ["UC5203"]


def test_groups_that_only_a_deployment_knows_are_no_finding() -> None:
    place = "SecurityGroupIngress:FileSystemFromNodesIngress988/SourceSecurityGroupId"

    assert codes_after("Storage", {place: {"Fn::ImportValue": "clients"}}) == []
