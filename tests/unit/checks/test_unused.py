"""Resources that only serve others, and that nothing uses."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

NODES: dict[str, Any] = {
    "Profile": {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": ["nodes"]}},
    "Key": {"Type": "AWS::KMS::Key", "Properties": {"EnableKeyRotation": True}},
    "Alias": {"Type": "AWS::KMS::Alias", "Properties": {"AliasName": "alias/runs", "TargetKeyId": {"Ref": "Key"}}},
    "Alerts": {"Type": "AWS::SNS::Topic", "Properties": {"KmsMasterKeyId": {"Ref": "Alias"}}},
    "Node": {"Type": "AWS::EC2::Instance", "Properties": {"IamInstanceProfile": {"Ref": "Profile"}}},
}  # fmt: skip
ROUTES: dict[str, Any] = {
    "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {}},
    "Table": {"Type": "AWS::EC2::RouteTable", "Properties": {}},
    "Route": {"Type": "AWS::EC2::Route", "Properties": {"RouteTableId": {"Ref": "Table"}, "GatewayId": "igw-0a"}},
    "Association": {
        "Type": "AWS::EC2::SubnetRouteTableAssociation",
        "Properties": {"RouteTableId": {"Ref": "Table"}, "SubnetId": {"Ref": "Subnet"}},
    },
}  # fmt: skip
GROUP = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "nodes"}}
BROKEN: tuple[tuple[str, str, dict[str, Any], dict[str, Any]], ...] = (
    ("UC6468", "Profile", NODES, {"Node": {"Type": "AWS::EC2::Instance", "Properties": {"IamInstanceProfile": "other"}}}),
    ("UC6468", "Table", ROUTES, {"Association": {"Type": "AWS::EC2::EIP"}}),
    ("UC6468", "Left", NODES, {"Left": GROUP}),
)  # fmt: skip
KEPT: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    (NODES, {}),
    (ROUTES, {}),
    ({"Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {}}}, {}),  # no nodes: others use it
    (NODES, {"Left": {**GROUP, "Properties": {"GroupName": "nodes"}}}),  # others use it by its name
)


def unused(resources: dict[str, Any], outputs: dict[str, Any] | None = None) -> set[str]:
    body = {"Resources": resources, "Outputs": outputs or {}}
    problems = check_templates([Source(name="it", body=body)]).problems
    return {each.place.resource.logical_id for each in problems if each.finding.code == "UC6468"}


@pytest.mark.parametrize(("code", "name", "resources", "changes"), BROKEN)
def test_a_resource_that_lost_its_user_breaks_the_rule(
    code: str, name: str, resources: dict[str, Any], changes: dict[str, Any]
) -> None:
    assert (code, unused(resources | changes)) == ("UC6468", {name})


@pytest.mark.parametrize(("resources", "changes"), KEPT, ids=str)
def test_a_resource_that_may_be_used_keeps_the_rule(
    resources: dict[str, Any], changes: dict[str, Any]
) -> None:
    assert unused(resources | changes) == set()


def test_an_output_uses_a_resource() -> None:
    assert unused(NODES | {"Left": GROUP}, {"Group": {"Value": {"Ref": "Left"}}}) == set()


def test_a_key_that_only_policies_name_is_unused() -> None:
    use = {"Effect": "Allow", "Action": "kms:Decrypt", "Resource": {"Fn::GetAtt": ["Second", "Arn"]}}
    second = {
        "Second": {"Type": "AWS::KMS::Key", "Properties": {}},
        "Use": {"Type": "AWS::IAM::Policy", "Properties": {"PolicyDocument": {"Statement": [use]}}},
    }
    assert unused(NODES | second) == {"Second"}
