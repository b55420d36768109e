"""Budgets that notify nobody, and what is paid without use."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates


def volume(*, goes: bool) -> dict[str, Any]:
    data = {"BlockDeviceMappings": [{"Ebs": {"Encrypted": True, "DeleteOnTermination": goes}}]}
    return {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}}


def bucket(*rules: dict[str, Any], status: str = "Enabled") -> dict[str, Any]:
    some = (
        {"LifecycleConfiguration": {"Rules": [{"Status": status, **each} for each in rules]}} if rules else {}
    )
    return {
        "Type": "AWS::S3::Bucket",
        "Properties": {"VersioningConfiguration": {"Status": "Enabled"}, **some},
    }


def network(*tables: str) -> dict[str, Any]:
    endpoint = {
        "VpcId": {"Ref": "Net"},
        "ServiceName": "com.amazonaws.us-east-2.s3",
        "RouteTableIds": [{"Ref": each} for each in tables],
    }
    return {
        "Net": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "Private": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Net"}}},
        "Public": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Net"}}},
        "Out": {"Type": "AWS::EC2::Route", "Properties": {"RouteTableId": {"Ref": "Private"}, "NatGatewayId": "nat-0a1b2c3d4e5f60718"}},
        "S3": {"Type": "AWS::EC2::VPCEndpoint", "Properties": endpoint},
    }  # fmt: skip


def job(**properties: Any) -> dict[str, Any]:
    container = {"LinuxParameters": {"Devices": [{"HostPath": "/dev/neuron0"}]}}
    return {
        "Type": "AWS::Batch::JobDefinition",
        "Properties": {"ContainerProperties": container, **properties},
    }


def reservation(**properties: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::EC2::CapacityReservation",
        "Properties": {"InstanceType": "trn1.32xlarge", "InstanceCount": 4, **properties},
    }


def block(*, wanted: int) -> dict[str, Any]:
    data = {
        "InstanceType": "trn2.48xlarge",
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "CapacityReservationSpecification": {
            "CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
        },
    }
    group = {"MinSize": "0", "MaxSize": "4", "LaunchTemplate": {"LaunchTemplateId": {"Ref": "Nodes"}}}
    actions = {
        name: {
            "Type": "AWS::AutoScaling::ScheduledAction",
            "Properties": {"AutoScalingGroupName": {"Ref": "It"}, "DesiredCapacity": size},
        }
        for name, size in (("Start", wanted), ("End", 0))
    }
    return {
        "Nodes": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
        "It": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": group},
        **actions,
    }


def queue(paid: int, dear: int) -> dict[str, Any]:
    target = {"CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}}
    kinds = {"Paid": {"CapacityReservationSpecification": target}, "Dear": {}}
    templates = {
        f"{name}Nodes": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": each}}
        for name, each in kinds.items()
    }
    environments = {
        name: {"Type": "AWS::Batch::ComputeEnvironment", "Properties": {"ComputeResources": {"Type": "EC2", "LaunchTemplate": {"LaunchTemplateId": {"Ref": f"{name}Nodes"}}}}}
        for name in kinds
    }  # fmt: skip
    order = [
        {"Order": paid, "ComputeEnvironment": {"Ref": "Paid"}},
        {"Order": dear, "ComputeEnvironment": {"Ref": "Dear"}},
    ]
    return {
        **templates,
        **environments,
        "It": {"Type": "AWS::Batch::JobQueue", "Properties": {"ComputeEnvironmentOrder": order}},
    }


ONLY_HOSTS = [{"Action": "RETRY", "OnStatusReason": "Host EC2*"}, {"Action": "EXIT", "OnReason": "*"}]


def nodes(kind: str, **data: Any) -> dict[str, Any]:
    disk = {"BlockDeviceMappings": [{"Ebs": {"VolumeType": kind, "DeleteOnTermination": True}}]}
    template = {"LaunchTemplateData": {"InstanceType": "trn1.32xlarge", **disk, **data}}
    owner = {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "It"}}}
    return {
        "It": {"Type": "AWS::EC2::LaunchTemplate", "Properties": template},
        "Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": owner},
    }


BROKEN: tuple[tuple[str, dict[str, Any], None], ...] = (
    ("UC4226", {"It": volume(goes=False)}, None),
    ("UC6482", {"It": job(RetryStrategy={"Attempts": 4})}, None),
    ("UC6482", {"It": job(RetryStrategy={"EvaluateOnExit": [{"Action": "EXIT", "OnStatusReason": "Host EC2*"}]})}, None),
    ("UC6482", {"It": job(NodeProperties={"NumNodes": 2}, Timeout={"AttemptDurationSeconds": 599})}, None),
    ("UC6483", {"It": reservation()}, None),
    ("UC6483", {"It": reservation(EndDateType="unlimited")}, None),
    ("UC6483", block(wanted=3), None),
    ("UC6483", queue(paid=2, dear=1), None),
)  # fmt: skip
KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("UC4226", {"It": volume(goes=True)}),
    ("UC6482", {"It": job(RetryStrategy={"Attempts": 3})}),
    ("UC6482", {"It": job(RetryStrategy={"Attempts": 10, "EvaluateOnExit": ONLY_HOSTS})}),
    ("UC6482", {"It": job(NodeProperties={"NumNodes": 2}, Timeout={"AttemptDurationSeconds": 600})}),
    ("UC6483", {"It": reservation(EndDateType="limited", EndDate="2027-01-01T00:00:00Z")}),
    ("UC6483", block(wanted=4)),
    ("UC6483", queue(paid=1, dear=2)),
)  # fmt: skip


def codes(resources: dict[str, Any]) -> set[str]:
    report = check_templates([Source(name="it", body={"Resources": resources})])
    return {each.code for each in report.findings}


@pytest.mark.parametrize(("code", "resources", "_"), BROKEN)
def test_what_is_paid_without_use_breaks_the_rule(code: str, resources: dict[str, Any], _: None) -> None:
    assert code in codes(resources)


@pytest.mark.parametrize(("code", "resources"), KEPT)
def test_what_has_an_end_keeps_the_rule(code: str, resources: dict[str, Any]) -> None:
    assert code not in codes(resources)
