"""Roles that their user cannot assume, and that do not allow what their user does."""

from typing import Any

import pytest
from tests.unit.checks.whole_cluster import DROP, codes_after

JOB = "JobDefinition/NodeProperties/NodeRangeProperties/0/Container"
WATCH = "Role:ClusterWatchRole"


def service(name: str) -> dict[str, Any]:
    return {
        "Statement": [
            {"Effect": "Allow", "Principal": {"Service": f"{name}.amazonaws.com"}, "Action": "sts:AssumeRole"}
        ]
    }


BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("UC6419", "Cluster", {f"{JOB}/JobRoleArn": DROP}),
    ("UC6419", "Cluster", {"Role:ClusterpretrainExecutionRole/Policies/0/PolicyDocument/Statement/0": DROP}),
    ("UC6419", "Cluster", {"Role:ClusterpretrainExecutionRole/Policies/0/PolicyDocument/Statement/2": DROP}),
    ("UC6419", "Cluster", {"Policy:ClusterpretrainRole/PolicyDocument/Statement/1": DROP}),
    ("UC6462", "Cluster", {f"{WATCH}/Policies/0/PolicyDocument/Statement/+": {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::data"}}),
    ("UC6455", "Cluster", {f"{WATCH}/AssumeRolePolicyDocument": service("ec2")}),
    ("UC6455", "Cluster", {"ComputeEnvironment/ComputeResources/InstanceRole": {"Fn::GetAtt": ["ClusterNodesRole4A9207EA", "Arn"]}}),
    ("UC6455", "Cluster", {"LaunchTemplate/LaunchTemplateData/IamInstanceProfile": {"Arn": {"Fn::GetAtt": ["ClusterNodesRole4A9207EA", "Arn"]}}}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "stack", "edits"), BROKEN)
def test_edit_breaks_the_rule(code: str, stack: str, edits: dict[str, Any]) -> None:
    assert code in codes_after(stack, edits)


def test_a_role_of_the_right_service_has_no_finding() -> None:
    assert codes_after("Cluster", {f"{WATCH}/AssumeRolePolicyDocument": service("lambda")}) == []
