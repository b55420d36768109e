"""What is planned for the end of a Capacity Block."""

from typing import Any

import pytest
from tests.unit.checks.joined.whole_cluster import codes_after

END = "2026-12-08T11:30:00Z"
FUNCTION = "Function:ClusterBlockLifecycle"
ROLE = {"Fn::GetAtt": ["ClusterBlockLifecycleRoleF72CDB89", "Arn"]}


def schedule(expression: str, **properties: Any) -> dict[str, Any]:
    target = {
        "Arn": {"Fn::GetAtt": ["ClusterBlockLifecycleFunction54C212BA", "Arn"]},
        "RoleArn": "arn:aws:iam::123456789012:role/it",
    }
    made = {"ScheduleExpression": expression, "Target": target, **properties}
    return {
        "/Parameters/BlockEnd": {"Type": "String", "Default": END},
        "/Resources/Timed": {"Type": "AWS::Scheduler::Schedule", "Properties": made},
    }


def group(at: str, size: int = 0, **properties: Any) -> dict[str, Any]:
    launch = {"LaunchTemplateId": {"Ref": "ClusterNodes5F8C920A"}, "Version": "1"}
    made = {"MinSize": "0", "MaxSize": "4", "LaunchTemplate": launch, **properties}
    action = {
        "AutoScalingGroupName": {"Ref": "Group"},
        "StartTime": at,
        "MinSize": size,
        "DesiredCapacity": size,
        "MaxSize": size,
    }
    return {
        "/Parameters/BlockEnd": {"Type": "String", "Default": END},
        "/Resources/Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": made},
        "/Resources/Leave": {"Type": "AWS::AutoScaling::ScheduledAction", "Properties": action},
    }


BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("UC6431", "Cluster", schedule("at(2026-12-08T11:10:00)")),
    ("UC6431", "Cluster", schedule("at(2026-12-08T12:00:00)")),
    ("UC6431", "Cluster", schedule("at(2026-12-08T10:30:00)", ScheduleExpressionTimezone="America/Los_Angeles")),
    ("UC6431", "Cluster", schedule("at(2026-12-08T10:40:00)", FlexibleTimeWindow={"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 60})),
    ("UC6431", "Cluster", {f"{FUNCTION}/Environment/Variables/LEAD_MINUTES": "20"}),
    ("UC6431", "Cluster", group("2026-12-08T11:20:00Z")),
    ("UC6431", "Cluster", group("2026-12-08T10:30:00Z", 1)),
    ("UC6431", "Cluster", group("2026-12-08T10:30:00Z", NewInstancesProtectedFromScaleIn=True)),
]  # fmt: skip


@pytest.mark.parametrize(("code", "stack", "edits"), BROKEN)
def test_edit_breaks_the_rule(code: str, stack: str, edits: dict[str, Any]) -> None:
    assert code in codes_after(stack, edits)


@pytest.mark.parametrize(
    "edits",
    [
        schedule("at(2026-12-08T10:40:00)"),
        group("2026-12-08T10:30:00Z"),
        {f"{FUNCTION}/Environment/Variables/LEAD_MINUTES": "50"},
    ],
    ids=str,
)
def test_what_is_in_time_has_no_finding(edits: dict[str, Any]) -> None:
    assert codes_after("Cluster", edits) == []
