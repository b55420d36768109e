"""Drift: which differences count."""

from typing import Any

import pytest

from ultracluster_local.cloudformation.drift import differences


@pytest.mark.parametrize(
    ("declared", "shown"),
    [
        ({"Priority": 10}, {"priority": 10}),
        ({"Days": 30}, {"Days": "30"}),
        ({"Threshold": 1000000000}, {"Threshold": 1e9}),
        ({"Flag": True}, {"Flag": "true"}),
        ({"A": 1}, {"A": 1, "Default": "of the service"}),
        ({"A": 1, "NotShown": 2}, {"A": 1}),
        ({"Ids": ["b", "a"]}, {"Ids": ["a", "b"]}),
        ({"Document": {"a": 1}}, {"Document": '{"a": 1}'}),
        ({"Tags": [{"Key": "a", "Value": "b"}]}, {"Tags": {"a": "b"}}),
        (
            {"Tags": [{"Key": "a", "Value": "b"}]},
            {"Tags": [{"Key": "aws:x", "Value": "y"}, {"Key": "a", "Value": "b"}]},
        ),
    ],
    ids=str,
)
def test_the_same_in_another_form_is_no_drift(declared: Any, shown: Any) -> None:
    assert list(differences(declared, shown)) == []


@pytest.mark.parametrize(
    ("declared", "shown", "path"),
    [
        ({"Days": 30}, {"Days": 3}, "/Days"),
        ({"A": {"B": [1, 2]}}, {"A": {"b": [1, 3]}}, "/A/B/1"),
        ({"A": {"B": [1, 2]}}, {"A": {"b": [1]}}, "/A/B"),
        ({"Tags": [{"Key": "a", "Value": "b"}]}, {"Tags": [{"Key": "a", "Value": "c"}]}, "/Tags/0/Value"),
        ({"Tags": [{"Key": "a", "Value": "b"}]}, {"Tags": []}, "/Tags"),
        ({"Flag": True}, {"Flag": False}, "/Flag"),
        ({"Document": {"a": 1}}, {"Document": '{"a": 2}'}, "/Document"),
    ],
    ids=str,
)
def test_drift_is_named_by_its_path(declared: Any, shown: Any, path: str) -> None:
    assert [found[0] for found in differences(declared, shown)] == [path]


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
def test_rule_that_somebody_revoked_is_drift(stacks: Any) -> None:
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
