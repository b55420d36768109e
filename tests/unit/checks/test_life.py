"""The life cycle of a Capacity Block: every way to lose it is found, and every way to keep it is not."""

from typing import Any

import pytest
from tests.unit.checks.whole_cluster import DROP, codes_after

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
    ("UC6437", "Cluster", {"/Resources/Closed": QUEUE | {"Properties": {"State": "DISABLED"}}}),
    ("UC6430", "Cluster", REMOVED),
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
