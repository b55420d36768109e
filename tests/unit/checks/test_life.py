"""The life cycle of a Capacity Block: every way to lose it is found, and every way to keep it is not."""

from typing import Any

import pytest
from tests.unit.checks.whole_cluster import DROP, codes_after

from ultracluster_checks import Source, check_templates

RULE = "Rule:ClusterBlockLifecycleEveryMinute"
EVENTS = "Rule:ClusterBlockLifecycleBlockEvents"
FUNCTION = "Function:ClusterBlockLifecycle"
PERMISSION = "Permission:ClusterBlockLifecycleFunctionByEveryMinute"
ROLE = "Role:ClusterBlockLifecycleRole"
STATEMENTS = f"{ROLE}/Policies/0/PolicyDocument/Statement"
RULES = "arn:aws:events:us-east-2:123456789012:rule"
OTHER_RULE = {"Fn::GetAtt": ["ClusterWatchEveryMinute13515088", "Arn"]}
OTHER_FUNCTION = {"Fn::GetAtt": ["ClusterWatchFunction9599C696", "Arn"]}
QUEUE = {"Type": "AWS::Batch::JobQueue", "Properties": {"Priority": 1}}
ENVIRONMENT = {
    "Type": "AWS::Batch::ComputeEnvironment",
    "Properties": {"ComputeResources": {"Type": "FARGATE", "MaxvCpus": 4}},
}
SMALL = {
    "/Resources/Small": ENVIRONMENT,
    "/Resources/Other": {
        "Type": "AWS::Batch::JobQueue",
        "Properties": {"ComputeEnvironmentOrder": [{"Order": 1, "ComputeEnvironment": {"Ref": "Small"}}]},
    },
}
REMOVED = {
    FUNCTION: DROP,
    RULE: DROP,
    EVENTS: DROP,
    "Permission:ClusterBlockLifecycleFunctionByBlockEvents": DROP,
    PERMISSION: DROP,
    "EventInvokeConfig:ClusterBlockLifecycle": DROP,
}

BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("UC6431", "Cluster", {f"{RULE}/State": "DISABLED"}),
    ("UC6431", "Cluster", {f"{EVENTS}/State": "DISABLED"}),
    ("UC6431", "Cluster", {f"{RULE}/ScheduleExpression": "rate(1 hour)"}),
    ("UC6431", "Cluster", {f"{RULE}/ScheduleExpression": "cron(0 3 * * ? *)"}),
    ("UC6431", "Cluster", {f"{EVENTS}/EventBusName": "training"}),
    ("UC6431", "Cluster", {f"{EVENTS}/Targets": []}),
    ("UC6431", "Cluster", {f"{EVENTS}/Targets": DROP}),
    (
        "UC6432",
        "Cluster",
        {f"{EVENTS}/EventPattern/detail/capacity-reservation-id": ["cr-0fedcba9876543210"]},
    ),
    ("UC6432", "Cluster", {f"{EVENTS}/EventPattern/source": ["aws.batch"]}),
    ("UC6432", "Cluster", {f"{EVENTS}/EventPattern/detail-type": ["Capacity Block Ending"]}),
    ("UC6432", "Cluster", {f"{EVENTS}/EventPattern/detail-type": ["Capacity Block Delivered"]}),
    ("UC6432", "Cluster", {f"{EVENTS}/EventPattern/detail/state": ["active"]}),
    ("UC6432", "Cluster", {f"{EVENTS}/EventPattern/region": ["us-west-2"]}),
    ("UC6433", "Cluster", {f"{FUNCTION}/ReservedConcurrentExecutions": 0}),
    ("UC6433", "Cluster", {f"{FUNCTION}/Timeout": 3}),
    ("UC6433", "Cluster", {f"{FUNCTION}/Timeout": DROP}),
    ("UC6434", "Cluster", {f"{STATEMENTS}/5": DROP}),
    (
        "UC6434",
        "Cluster",
        {f"{STATEMENTS}/1/Action": ["batch:DescribeJobs", "ec2:DescribeCapacityReservations"]},
    ),
    ("UC6434", "Cluster", {f"{STATEMENTS}/4/Resource": {"Ref": "Other"}, **SMALL}),
    (
        "UC6434",
        "Cluster",
        {f"{STATEMENTS}/+": {"Effect": "Deny", "Action": "batch:TerminateJob", "Resource": "*"}},
    ),
    ("UC6435", "Cluster", {f"{FUNCTION}/Environment/Variables/UC_RESERVATION_ID": "cr-0fedcba9876543210"}),
    ("UC6435", "Cluster", {f"{FUNCTION}/Environment/Variables/UC_JOB_QUEUE": {"Ref": "Other"}, **SMALL}),
    (
        "UC6435",
        "Cluster",
        {f"{FUNCTION}/Environment/Variables/UC_COMPUTE_ENVIRONMENT": {"Ref": "Small"}, **SMALL},
    ),
    ("UC6436", "Cluster", {PERMISSION: DROP}),
    ("UC6436", "Cluster", {f"{PERMISSION}/SourceArn": OTHER_RULE}),
    ("UC6436", "Cluster", {f"{PERMISSION}/SourceArn": f"{RULES}/other"}),
    ("UC6436", "Cluster", {f"{PERMISSION}/FunctionName": OTHER_FUNCTION}),
    ("UC6436", "Cluster", {f"{PERMISSION}/FunctionName": "other", f"{FUNCTION}/FunctionName": "drain"}),
    ("UC6436", "Cluster", {f"{PERMISSION}/Principal": "s3.amazonaws.com"}),
    ("UC6436", "Cluster", {f"{PERMISSION}/Action": "lambda:GetFunction"}),
    ("UC6436", "Cluster", {f"{RULE}/Targets/0/Arn": OTHER_FUNCTION}),
    ("UC6437", "Cluster", {"/Resources/Closed": QUEUE | {"Properties": {"State": "DISABLED"}}}),
    ("UC6430", "Cluster", REMOVED),
    ("UC6432", "Cluster", {f"{EVENTS}/Targets/0/Input": "{}"}),
    ("UC6435", "Cluster", {f"{FUNCTION}/Environment/Variables/UC_JOB_QUEUE": DROP}),
    ("UC6434", "Cluster", {f"{STATEMENTS}/3": DROP}),
    ("UC6434", "Cluster", {f"{STATEMENTS}/4": DROP}),
    ("UC6434", "Cluster", {f"{STATEMENTS}/5/Resource": "arn:aws:batch:us-east-2:123456789012:job/one"}),
    (
        "UC6434",
        "Cluster",
        {f"{STATEMENTS}/5/Condition": {"StringEquals": {"aws:RequestedRegion": "us-west-2"}}},
    ),
    ("UC6431", "Cluster", {"Rule:ClusterJobResumeEveryMinute/State": "DISABLED"}),
    ("UC6429", "Cluster", {"Alarm:ClusterBlockLifecycleAlarm/ActionsEnabled": False}),
    ("UC6429", "Cluster", {"Alarm:ClusterBlockLifecycleAlarm/AlarmActions": []}),
]
KEPT: list[dict[str, Any]] = [
    {f"{RULE}/ScheduleExpression": "rate(5 minutes)"},
    {f"{RULE}/ScheduleExpression": "cron(0/5 * * * ? *)"},
    {f"{PERMISSION}/SourceArn": f"{RULES}/*"},
    {f"{PERMISSION}/FunctionName": "drain", f"{FUNCTION}/FunctionName": "drain"},
    {f"{PERMISSION}/FunctionName": {"Ref": "ClusterBlockLifecycleFunction54C212BA"}},
    {f"{EVENTS}/EventPattern/detail-type": ["Capacity Block Expiration Warning"]},
    {f"{FUNCTION}/Timeout": 900},
    {f"{FUNCTION}/ReservedConcurrentExecutions": 1},
    {"JobQueue/State": "DISABLED"},  # the function enables it
    {f"{STATEMENTS}/5/Resource": "*"},
]


@pytest.mark.parametrize(("code", "stack", "edits"), BROKEN)
def test_edit_breaks_the_rule(code: str, stack: str, edits: dict[str, Any]) -> None:
    assert code in codes_after(stack, edits)


@pytest.mark.parametrize("edits", KEPT, ids=str)
def test_an_equal_life_cycle_has_no_finding(edits: dict[str, Any]) -> None:
    assert codes_after("Cluster", edits) == []


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
