"""Lifecycle hooks and the ends of Auto Scaling groups over a block: an event that comes, and time for what it starts."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

ENDING = "EC2 Instance-terminate Lifecycle Action"
HOOK = {"LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING", "HeartbeatTimeout": 600}
LATER = {"MinSize": 0, "MaxSize": 0, "DesiredCapacity": 0}
UP = {"StartTime": "2027-01-11T11:30:00Z", "MinSize": 0, "MaxSize": 4, "DesiredCapacity": 4}


def codes(
    *,
    hook: dict[str, Any] | None = None,
    kind: str = ENDING,
    group: Any = None,
    seconds: int = 600,
    timeout: int = 60,
    **more: Any,
) -> set[str]:
    """Return the codes for a group over a block with a hook, whose rule calls a function that sends a command."""
    allowed = {"Statement": [{"Effect": "Allow", "Action": "ssm:SendCommand", "Resource": "*"}]}
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}]}  # fmt: skip
    data = {
        "InstanceType": "trn1.32xlarge",
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}},
    }  # fmt: skip
    pattern = {"source": ["aws.autoscaling"], "detail-type": [kind], "detail": {"AutoScalingGroupName": [group or {"Ref": "Nodes"}]}}  # fmt: skip
    nodes = {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"}, "MinSize": "0", "MaxSize": "4"}  # fmt: skip
    if hook is not None:
        nodes["LifecycleHookSpecificationList"] = [hook]
    up, down = more.get("up", UP), more.get("down", {"StartTime": "2027-01-25T10:30:00Z"} | LATER)
    steps = [{"name": "save", "inputs": {"timeoutSeconds": str(seconds)}}]
    body = {
        "Template": ("AWS::EC2::LaunchTemplate", {"LaunchTemplateData": data}),
        "Nodes": ("AWS::AutoScaling::AutoScalingGroup", nodes),
        "Up": ("AWS::AutoScaling::ScheduledAction", {"AutoScalingGroupName": {"Ref": "Nodes"}} | up),
        "Down": ("AWS::AutoScaling::ScheduledAction", {"AutoScalingGroupName": {"Ref": "Nodes"}} | down),
        "Role": ("AWS::IAM::Role", {"AssumeRolePolicyDocument": trust, "Policies": [{"PolicyDocument": allowed}]}),
        "Document": ("AWS::SSM::Document", {"Content": {"schemaVersion": "2.2", "mainSteps": steps}}),
        "Save": ("AWS::Lambda::Function", {"Role": {"Fn::GetAtt": ["Role", "Arn"]}, "Timeout": timeout, "Environment": {"Variables": {"DOCUMENT": {"Ref": "Document"}}}}),
        "Ending": ("AWS::Events::Rule", {"EventPattern": pattern, "State": more.get("state", "ENABLED"), "Targets": [{"Id": "save", "Arn": {"Fn::GetAtt": ["Save", "Arn"]}}]}),
    }  # fmt: skip
    resources = {name: {"Type": kind_, "Properties": given} for name, (kind_, given) in body.items()}
    report = check_templates([Source(name="it", body={"Resources": resources}, region="us-east-2")])
    return {each.code for each in report.findings} & {"UC6431", "UC6432"}


def test_a_hook_whose_event_reaches_a_function_that_has_time_has_no_finding() -> None:
    assert codes(hook=HOOK) == set()


@pytest.mark.parametrize(
    "more",
    [
        {"hook": None},
        {"hook": HOOK | {"LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCHING"}},
        {"hook": HOOK, "state": "DISABLED"},
        {"hook": HOOK, "group": "another-group"},
        {"hook": HOOK, "kind": "EC2 Instance Terminate Successful"},
    ],
)
def test_an_event_that_never_comes_or_comes_too_late_is_found(more: dict[str, Any]) -> None:
    assert codes(**more) == {"UC6432"}


@pytest.mark.parametrize("more", [{"seconds": 601}, {"seconds": 60, "timeout": 601}])
def test_a_hook_that_ends_before_its_command_or_function_is_found(more: dict[str, Any]) -> None:
    assert codes(hook=HOOK, **more) == {"UC6431"}


@pytest.mark.parametrize(
    "more",
    [
        {"down": {"StartTime": "2027-01-25T11:00:00Z"} | LATER},
        {"down": {"StartTime": "2027-01-25T10:51:00Z"} | LATER},
        {"down": {"Recurrence": "20 10 * * *"} | LATER},
        {"down": {"StartTime": "2027-01-25T11:45:00Z"} | LATER},
        {"down": UP | {"StartTime": "2027-01-25T10:30:00Z"}},
        {"up": UP | {"Recurrence": "30 11 * * *"}},
    ],
)
def test_a_group_that_is_not_empty_when_ec2_takes_its_nodes_is_found(more: dict[str, Any]) -> None:
    assert codes(hook=HOOK, **more) == {"UC6431"}
    assert codes(hook=HOOK, down={"StartTime": "2027-01-25T10:50:00Z"} | LATER) == set()
