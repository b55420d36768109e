"""Roles that could spend, escalate or leak, and policies that let others in."""

from typing import Any

import pytest
from tests.unit.checks.edits import statement
from tests.unit.checks.joined.whole_cluster import codes_after

WATCH = "Role:ClusterWatchRole"
DATA = "BucketPolicy:CheckpointsPolicy/PolicyDocument/Statement/+"
ROOT = {"AWS": "arn:aws:iam::210987654321:root"}
ORGANIZATION = {"StringEquals": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}}


def allowed(action: Any, **rest: Any) -> dict[str, Any]:
    return {f"{WATCH}/Policies/0/PolicyDocument/Statement/+": statement(Action=action, **rest)}


def service(name: str) -> dict[str, Any]:
    return {
        "Statement": [
            {"Effect": "Allow", "Principal": {"Service": f"{name}.amazonaws.com"}, "Action": "sts:AssumeRole"}
        ]
    }


BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("UC6450", "Cluster", allowed("ec2:CreateCapacityReservation")),
    ("UC6450", "Cluster", allowed(["ec2:DescribeInstances", "ec2:Run*"])),
    ("UC6451", "Cluster", allowed("iam:PutRolePolicy")),
    ("UC6451", "Cluster", allowed("iam:CreatePolicyVersion", Resource="arn:aws:iam::123456789012:policy/*")),
    ("UC6451", "Cluster", allowed("iam:AttachRolePolicy", Resource={"Fn::GetAtt": ["ClusterWatchRole205D4167", "Arn"]})),
    ("UC6452", "Cluster", allowed("sts:AssumeRole")),
    ("UC6452", "Cluster", allowed("sts:AssumeRole", Resource="arn:aws:iam::*:role/*")),
    ("UC6423", "Cluster", allowed("iam:PassRole", Resource="arn:aws:iam::123456789012:role/*")),
    ("UC6423", "Cluster", allowed("iam:PassRole", Condition={"StringLike": {"iam:PassedToService": "*"}})),
    ("UC6451", "Cluster", allowed("s3:PutBucketPolicy")),
    ("UC6453", "Cluster", allowed("fsx:DeleteFileSystem")),
    ("UC6457", "Cluster", {"/Resources/Invoke": {"Type": "AWS::Lambda::Permission", "Properties": {"Principal": "s3.amazonaws.com", "Action": "lambda:InvokeFunction"}}}),
    ("UC6453", "Cluster", allowed("secretsmanager:GetSecretValue")),
    ("UC6453", "Cluster", allowed("s3:GetObject", Resource="arn:aws:s3:::*")),
    ("UC6454", "Storage", {DATA: statement(Action="s3:GetObject", Principal=ROOT)}),
    ("UC6421", "Storage", {DATA: statement(Action="s3:GetObject", Principal="*", Condition={"Bool": {"aws:SecureTransport": "true"}})}),
    ("UC6455", "Cluster", {f"{WATCH}/AssumeRolePolicyDocument": service("ec2")}),
    ("UC6455", "Cluster", {"ComputeEnvironment/ComputeResources/InstanceRole": {"Fn::GetAtt": ["ClusterNodesRole4A9207EA", "Arn"]}}),
    ("UC6438", "Cluster", {f"{WATCH}/Policies/0/PolicyDocument/Statement/1/Action": ["ec2:DescribeInstances"]}),
]  # fmt: skip
KEPT: list[tuple[str, dict[str, Any]]] = [
    ("Cluster", allowed("sts:AssumeRole", Resource="arn:aws:iam::123456789012:role/reader")),
    ("Cluster", allowed("s3:GetObject", Resource="arn:aws:s3:::data/*")),
    ("Cluster", allowed("s3:GetObject", Resource={"Fn::Sub": "arn:${AWS::Partition}:s3:::data*/*"})),
    ("Cluster", allowed("ec2:RunInstances", Condition={"StringEquals": {"ec2:InstanceType": "c7i.large"}})),
    ("Storage", {DATA: statement(Action="s3:GetObject", Principal="*", Condition=ORGANIZATION)}),
    ("Storage", {DATA: statement(Action="s3:GetObject", Principal=ROOT, Condition=ORGANIZATION)}),
]


@pytest.mark.parametrize(("code", "stack", "edits"), BROKEN)
def test_edit_breaks_the_rule(code: str, stack: str, edits: dict[str, Any]) -> None:
    assert code in codes_after(stack, edits)


@pytest.mark.parametrize(("stack", "edits"), KEPT, ids=str)
def test_named_and_conditioned_permissions_have_no_finding(stack: str, edits: dict[str, Any]) -> None:
    assert codes_after(stack, edits) == []
