"""Drift of deployed stacks."""

from typing import Any

import pytest


@pytest.mark.deploy
def test_deleted_resource_is_drift(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Logs": {"Type": "AWS::Logs::LogGroup"}}})
    stacks.local.client("logs").delete_log_group(logGroupName=stacks.ids("one")["Logs"])
    detection = stacks.api.detect_stack_drift(StackName="one")["StackDriftDetectionId"]
    status = stacks.api.describe_stack_drift_detection_status(StackDriftDetectionId=detection)
    assert (status["StackDriftStatus"], status["DriftedStackResourceCount"]) == ("DRIFTED", 1)
    (found,) = stacks.api.describe_stack_resource_drifts(StackName="one")["StackResourceDrifts"]
    assert found["StackResourceDriftStatus"] == "DELETED"


@pytest.mark.deploy
def test_revoked_rule_of_a_security_group_is_drift(stacks: Any) -> None:
    rule = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "10.0.0.0/16"}
    vpc = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}
    properties = {"GroupDescription": "x", "VpcId": {"Ref": "Vpc"}, "SecurityGroupIngress": [rule]}
    stacks.create(
        "one",
        {"Resources": {"Vpc": vpc, "Group": {"Type": "AWS::EC2::SecurityGroup", "Properties": properties}}},
    )

    def drifted() -> list[str]:
        stacks.api.detect_stack_drift(StackName="one")
        found = stacks.api.describe_stack_resource_drifts(StackName="one")["StackResourceDrifts"]
        return [one["LogicalResourceId"] for one in found if one["StackResourceDriftStatus"] != "IN_SYNC"]

    assert drifted() == []
    permission = {
        "IpProtocol": "tcp",
        "FromPort": 443,
        "ToPort": 443,
        "IpRanges": [{"CidrIp": "10.0.0.0/16"}],
    }
    stacks.local.client("ec2").revoke_security_group_ingress(
        GroupId=stacks.ids("one")["Group"], IpPermissions=[permission]
    )
    assert drifted() == ["Group"]
