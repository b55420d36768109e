"""Node groups that schedules scale out for a Capacity Block, and in before its end."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

BLOCK = {
    "ImageId": "ami-0123456789abcdef0",
    "MetadataOptions": {"HttpTokens": "required"},
    "InstanceMarketOptions": {"MarketType": "capacity-block"},
    "CapacityReservationSpecification": {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
    },
}
SCHEDULER = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "scheduler.amazonaws.com"}, "Action": "sts:AssumeRole"}]}  # fmt: skip


def scheduled(
    *calls: tuple[str, str], action: str = "eks:UpdateNodegroupConfig", size: int = 0, **schedule: Any
) -> list[str]:
    """Return the codes for a node group that schedules scale: when, and to how many nodes."""
    body: dict[str, Any] = {
        "Role": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": SCHEDULER,
                "Policies": [
                    {
                        "PolicyName": "scale",
                        "PolicyDocument": {
                            "Statement": [{"Effect": "Allow", "Action": action, "Resource": "*"}]
                        },
                    }
                ],
            },
        },
        "Nodes": {
            "Type": "AWS::EKS::Nodegroup",
            "Properties": {
                "NodegroupName": "block",
                "ScalingConfig": {"MinSize": 0, "DesiredSize": size, "MaxSize": 8},
                "CapacityType": "CAPACITY_BLOCK",
                "LaunchTemplate": {"Id": {"Ref": "Template"}},
            },
        },
        "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": BLOCK}},
    }
    for number, (when, wanted) in enumerate(calls):
        body[f"Schedule{number}"] = {
            "Type": "AWS::Scheduler::Schedule",
            "Properties": {
                "ScheduleExpression": when,
                **schedule,
                "Target": {
                    "Arn": "arn:aws:scheduler:::aws-sdk:eks:updateNodegroupConfig",
                    "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
                    "Input": f'{{"NodegroupName":"block","ScalingConfig":{{"DesiredSize":{wanted}}}}}',
                },
            },
        }
    report = check_templates([Source(name="scheduled", body={"Resources": body})])
    codes = [problem.finding.code for problem in report.problems]
    return [code for code in codes if code in {"UC6431", "UC6436"}]


OUT, IN = ("at(2027-02-01T11:32:00)", "8"), ("at(2027-02-08T10:15:00)", "0")


def test_schedules_that_open_and_close_in_time_have_no_finding() -> None:
    assert scheduled(OUT, IN) == []
    assert scheduled(OUT, ("cron(15 10 8 2 ? 2027)", "0")) == []


@pytest.mark.parametrize(
    "closing",
    [("at(2027-02-08T10:15:00)", "8"), ("at(2026-02-08T10:15:00)", "0"), ("at(2027-02-08T11:05:00)", "0")],
)
def test_schedules_that_do_not_close_in_time_are_found(closing: tuple[str, str]) -> None:
    assert scheduled(OUT, closing) == ["UC6431"]


def test_nodes_wanted_before_the_block_are_found() -> None:
    assert scheduled(OUT, IN, size=8) == ["UC6431"]


def test_schedules_that_may_not_call_are_found() -> None:
    assert scheduled(OUT, IN, action="eks:DescribeNodegroup") == ["UC6436", "UC6436"]


@pytest.mark.parametrize(
    ("schedule", "codes"),
    [
        ({"ScheduleExpressionTimezone": "Europe/Berlin"}, []),
        ({"ScheduleExpressionTimezone": "America/Los_Angeles"}, ["UC6431"]),
        ({"FlexibleTimeWindow": {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 30}}, []),
        ({"FlexibleTimeWindow": {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 120}}, ["UC6431"]),
    ],
)
def test_a_block_is_left_before_eleven_in_utc_and_at_the_end_of_any_window(schedule: Any, codes: list[str]) -> None:  # fmt: skip
    assert scheduled(OUT, IN, **schedule) == codes


@pytest.mark.parametrize(
    ("instance_type", "minutes", "late"),
    [
        ("trn2.48xlarge", 31, False),
        ("trn2.48xlarge", 30, True),
        ("trn2u.48xlarge", 61, False),
        ("trn2u.48xlarge", 60, True),
    ],
)
def test_a_group_is_empty_before_ec2_takes_its_nodes_which_is_earlier_for_ultraservers(
    instance_type: str, minutes: int, *, late: bool
) -> None:
    end = datetime(2027, 2, 8, 11, 30, tzinfo=UTC)
    leaves = {"StartTime": f"{end - timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}", "MinSize": 0, "MaxSize": 0, "DesiredCapacity": 0}  # fmt: skip
    body = {
        "Template": ("AWS::EC2::LaunchTemplate", {"LaunchTemplateData": BLOCK | {"InstanceType": instance_type}}),
        "Nodes": ("AWS::AutoScaling::AutoScalingGroup", {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"}, "MinSize": "0", "MaxSize": "4"}),
        "Leave": ("AWS::AutoScaling::ScheduledAction", {"AutoScalingGroupName": {"Ref": "Nodes"}} | leaves),
    }  # fmt: skip
    resources = {name: {"Type": kind, "Properties": given} for name, (kind, given) in body.items()}
    template = {"Parameters": {"BlockEnd": {"Default": end.isoformat()}}, "Resources": resources}
    report = check_templates([Source(name="it", body=template)])

    assert ("UC6431" in {each.code for each in report.findings}) is late
