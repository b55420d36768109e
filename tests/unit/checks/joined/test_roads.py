"""Roads out of a VPC and through its endpoints."""

from typing import Any

import pytest
from tests.unit.checks.joined.whole_cluster import codes_after

LAYERS = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::data/*"}

BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("UC3211", "Network", {"VPCEndpoint:NetworkS3/PolicyDocument": {"Statement": [LAYERS]}}),
    ("UC3211", "Network", {"VPCEndpoint:NetworkLogs/PrivateDnsEnabled": False}),
    ("UC3211", "Network", {"/Resources/Nat": {"Type": "AWS::EC2::NatGateway", "Properties": {"SubnetId": {"Ref": "NetworkSubnet8D9C3287"}}}}),
    ("UC3210", "Network", {"SecurityGroup:NetworkSecurityGroup/SecurityGroupEgress": []}),
    ("UC3209", "Network", {
        "/Resources/Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.9.0.0/16"}},
        "/Resources/Far": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.9.0.0/20"}},
        "/Resources/Nodes": {"Type": "AWS::Batch::ComputeEnvironment", "Properties": {"ComputeResources": {
            "Type": "EC2", "MaxvCpus": 8, "Subnets": [{"Ref": "Far"}, {"Ref": "NetworkSubnet8D9C3287"}]}}},
    }),
]  # fmt: skip


@pytest.mark.parametrize(("code", "stack", "edits"), BROKEN)
def test_edit_breaks_the_rule(code: str, stack: str, edits: dict[str, Any]) -> None:
    assert code in codes_after(stack, edits)


def test_a_policy_that_lets_layers_through_has_no_finding() -> None:
    through = LAYERS | {"Resource": "arn:aws:s3:::prod-us-east-2-starport-layer-bucket/*"}

    assert codes_after("Network", {"VPCEndpoint:NetworkS3/PolicyDocument": {"Statement": [through]}}) == []
