"""EFS file systems that clients can reach."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates


def codes(*, port: int = 2049, target: bool = True) -> set[str]:
    """Return the codes for a file system that nodes mount."""
    data = {"UserData": {"Fn::Base64": {"Fn::Sub": "#!/bin/bash\nmount -t efs ${Home}:/ /home\n"}}}
    inbound = [{"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "CidrIp": "10.0.0.0/8"}]
    body = {
        "Home": {"Type": "AWS::EFS::FileSystem", "Properties": {}},
        "Group": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"SecurityGroupIngress": inbound}},
        "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
    }  # fmt: skip
    if target:
        given = {
            "FileSystemId": {"Ref": "Home"},
            "SubnetId": "subnet-0a",
            "SecurityGroups": [{"Ref": "Group"}],
        }
        body["Target"] = {"Type": "AWS::EFS::MountTarget", "Properties": given}
    return {each.code for each in check_templates([Source(name="it", body={"Resources": body})]).findings}


BROKEN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("UC5218", {"port": 2048}),
    ("UC5218", {"target": False}),
)


@pytest.mark.parametrize(("code", "changes"), BROKEN)
def test_a_file_system_that_cannot_be_reached_breaks_the_rule(code: str, changes: dict[str, Any]) -> None:
    assert code in codes(**changes)


def test_a_file_system_that_can_be_reached_keeps_the_rule() -> None:
    assert "UC5218" not in codes()
