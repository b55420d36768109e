"""Resources that work together: edits of the quick start's stacks that break what joins them, and that do not."""

from typing import Any

from tests.unit.checks.whole_cluster import findings_after

JOB = "JobDefinition/NodeProperties/NodeRangeProperties/0/Container"
DEVICES = f"{JOB}/LinuxParameters/Devices"


def variable(name: str, value: str) -> dict[str, Any]:
    return {f"{JOB}/Environment/+": {"Name": name, "Value": value}}


ROOT = {"AWS": "arn:aws:iam::210987654321:root"}


END = "2026-12-08T11:30:00Z"


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


def hook(seconds: int | None) -> dict[str, Any]:
    """A hook that a node waits in before it is terminated."""
    ending = {"LifecycleHookName": "save", "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"}
    return ending if seconds is None else ending | {"HeartbeatTimeout": seconds}


def test_read_only_devices_are_one_finding() -> None:
    found = findings_after("Cluster", {f"{DEVICES}/{index}/Permissions": ["READ"] for index in range(16)})

    assert len(found) == 1
    assert "15 more like it" in found[0]
