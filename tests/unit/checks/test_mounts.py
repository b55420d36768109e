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


def admitted(*, options: str = "tls,iam", principal: Any = None, **statement: Any) -> bool:
    """Return whether a policy admits the nodes that mount a file system with some options."""
    script = f"#!/bin/bash\nmount -t efs -o {options} ${{Home}}:/ /home\n"
    data = {
        "UserData": {"Fn::Sub": script},
        "IamInstanceProfile": {"Arn": {"Fn::GetAtt": ["Profile", "Arn"]}},
    }
    allow = {
        "Effect": "Allow",
        "Principal": principal or {"AWS": {"Fn::GetAtt": ["Role", "Arn"]}},
        **statement,
    }
    resources = {
        "Role": {"Type": "AWS::IAM::Role", "Properties": {}},
        "Profile": {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [{"Ref": "Role"}]}},
        "Home": {"Type": "AWS::EFS::FileSystem", "Properties": {"FileSystemPolicy": {"Statement": [allow]}}},
        "Target": {"Type": "AWS::EFS::MountTarget", "Properties": {"FileSystemId": {"Ref": "Home"}}},
        "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
    }
    report = check_templates([Source(name="it", body={"Resources": resources})])
    return "UC5218" not in {each.code for each in report.findings}


def test_a_policy_that_names_principals_admits_the_role_of_the_nodes_with_iam() -> None:
    other = {"ArnEquals": {"aws:PrincipalArn": "arn:aws:iam::123456789012:role/other"}}
    account = {"AWS": "arn:aws:iam::123456789012:root"}
    assert admitted()
    assert not admitted(options="tls")
    assert admitted(principal="*", options="tls")
    assert admitted(principal=account)
    assert not admitted(principal=account, Condition=other)
