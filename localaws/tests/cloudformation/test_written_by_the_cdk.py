"""Templates that the constructs of aws-cdk-lib write with their defaults or one option, which AWS deploys.

Each was refused once. The first ones are those of its own integration tests (aws-cdk, aws-batch/test).
"""

from typing import Any

import pytest

pytestmark = pytest.mark.slow

_SIZE = [{"Type": "MEMORY", "Value": "512"}, {"Type": "VCPU", "Value": "0.25"}]
_TRUST = {"Statement": [{"Action": "sts:AssumeRole", "Effect": "Allow", "Principal": {"Service": "ecs-tasks.amazonaws.com"}}], "Version": "2012-10-17"}  # fmt: skip
_ROLE = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": _TRUST}}
_NETWORK = {
    "V": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
    "S": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "V"}, "CidrBlock": "10.0.0.0/18"}},
    "G": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "g", "VpcId": {"Ref": "V"}}},
}
_PLACE = {"Subnets": [{"Ref": "S"}], "SecurityGroupIds": [{"Fn::GetAtt": ["G", "GroupId"]}]}
_METRIC = {"Metric": {"MetricName": "m", "Namespace": "n"}, "Period": 300, "Stat": "Average"}


def _one(kind: str, others: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    return {**(others or {}), "One": {"Type": f"AWS::{kind}", "Properties": properties}}


@pytest.mark.parametrize(
    ("stack", "resources"),
    [
        ("unmanaged", _one("Batch::ComputeEnvironment", Type="unmanaged", State="ENABLED", ReplaceComputeEnvironment=False)),
        ("fargate", _one("Batch::ComputeEnvironment", _NETWORK, Type="managed", State="ENABLED", ReplaceComputeEnvironment=False, UpdatePolicy={}, ComputeResources={**_PLACE, "Type": "FARGATE", "MaxvCpus": 256, "UpdateToLatestImageVersion": True})),
        ("definition", _one("Batch::JobDefinition", Type="container", RetryStrategy={}, Timeout={}, ContainerProperties={"Image": "busybox", "Environment": [], "ReadonlyRootFilesystem": False, "ResourceRequirements": [_SIZE[0], {"Type": "VCPU", "Value": "1"}]})),
        ("fargate-definition", _one("Batch::JobDefinition", {"R": _ROLE}, Type="container", RetryStrategy={}, Timeout={}, PlatformCapabilities=["FARGATE"], ContainerProperties={"Image": "busybox", "ExecutionRoleArn": {"Fn::GetAtt": ["R", "Arn"]}, "NetworkConfiguration": {"AssignPublicIp": "ENABLED"}, "FargatePlatformConfiguration": {"PlatformVersion": "LATEST"}, "EphemeralStorage": {"SizeInGiB": 30}, "ResourceRequirements": _SIZE})),
        ("bus", _one("Events::Rule", {"B": {"Type": "AWS::Events::EventBus", "Properties": {"Name": "b"}}}, EventBusName={"Ref": "B"}, EventPattern={"source": ["x"]}, State="ENABLED")),
        ("fifo", _one("SQS::Queue", FifoQueue=True)),
        ("ssm-settings", _one("SSM::Parameter", Type="String", Value="v")),
        ("ipv6", _one("EC2::Subnet", {"V": _NETWORK["V"], "C": {"Type": "AWS::EC2::VPCCidrBlock", "Properties": {"VpcId": {"Ref": "V"}, "AmazonProvidedIpv6CidrBlock": True}}}, VpcId={"Ref": "V"}, CidrBlock="10.0.0.0/18") | {"P": {"Type": "AWS::SSM::Parameter", "DependsOn": "C", "Properties": {"Type": "String", "Value": {"Fn::Select": [0, {"Fn::GetAtt": ["V", "Ipv6CidrBlocks"]}]}}}}),
        ("band", _one("CloudWatch::Alarm", ComparisonOperator="LessThanLowerOrGreaterThanUpperThreshold", EvaluationPeriods=2, ThresholdMetricId="band", Metrics=[{"Id": "band", "Expression": "ANOMALY_DETECTION_BAND(m, 2)", "ReturnData": True}, {"Id": "m", "MetricStat": _METRIC, "ReturnData": True}])),
    ],
)  # fmt: skip
def test_what_the_constructs_of_the_cdk_write_is_deployed_and_deleted(
    stacks: Any, stack: str, resources: dict[str, Any]
) -> None:
    assert stacks.create(stack, {"Resources": resources}) == "CREATE_COMPLETE", stacks.reasons(stack)
    assert stacks.delete(stack) == "DELETE_COMPLETE"
