"""Imported roles are read from what has them, however their ARN is written."""

from typing import Any

import pytest
from tests.unit.stacks.plan.small_stacks import stack

from ultracluster_stacks.plan import imported_roles

ARN = "arn:aws:iam::123456789012:role/jobs/own"
SUB = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/jobs/own"}
JOIN = {
    "Fn::Join": [
        "",
        ["arn:", {"Ref": "AWS::Partition"}, ":iam::", {"Ref": "AWS::AccountId"}, ":role/jobs/own"],
    ]
}


def job(**container: Any) -> dict[str, Any]:
    return {"Type": "AWS::Batch::JobDefinition", "Properties": {"ContainerProperties": container}}


def nodes(**container: Any) -> dict[str, Any]:
    ranges = {"NodeRangeProperties": [{"TargetNodes": "0:", "Container": container}]}
    return {"Type": "AWS::Batch::JobDefinition", "Properties": {"NodeProperties": ranges}}


@pytest.mark.parametrize("arn", [ARN, SUB, JOIN], ids=["text", "Sub", "Join"])
@pytest.mark.parametrize(
    "has",
    [
        lambda arn: job(JobRoleArn=arn),
        lambda arn: nodes(ExecutionRoleArn=arn),
        lambda arn: {"Type": "AWS::Lambda::Function", "Properties": {"Role": arn}},
    ],
    ids=["job", "nodes", "function"],
)
def test_a_role_is_named_with_its_path(has: Any, arn: Any) -> None:
    assert imported_roles(stack("a", Has=has(arn))) == {"jobs/own": "Has"}


@pytest.mark.parametrize(
    "arn",
    [{"Fn::GetAtt": ["Role", "Arn"]}, {"Fn::ImportValue": "foundation:Role"}, {"Ref": "RoleOfTheUser"}, None],
    ids=str,
)
def test_a_role_of_the_app_is_not_imported(arn: Any) -> None:
    assert imported_roles(stack("a", Has=job(JobRoleArn=arn))) == {}


def test_an_instance_profile_names_its_role() -> None:
    def profile(role: Any) -> dict[str, Any]:
        return {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [role]}}

    assert imported_roles(stack("a", P=profile("nodes"), Q=profile({"Ref": "Role"}))) == {"nodes": "P"}
