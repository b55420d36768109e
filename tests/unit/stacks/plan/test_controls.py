"""What ends jobs in time and tells people stays on, or the plan stops."""

from typing import Any

import pytest
from tests.unit.stacks.plan.small_stacks import stack

from ultracluster_stacks.plan import compare

RULE, ALARM, TOPIC = "AWS::Events::Rule", "AWS::CloudWatch::Alarm", "AWS::SNS::Topic"
FUNCTION = "AWS::Lambda::Function"
BLOCK = {"UC_RESERVATION_ID": "cr-1", "UC_JOB_QUEUE": "q", "UC_LEAD": "1500"}


def template(**changes: Any) -> dict[str, Any]:
    """A function with what belongs to it; a change sets properties of a resource, and None removes it."""
    properties: dict[str, tuple[str, dict[str, Any]]] = {
        "Drain": (FUNCTION, {"Timeout": 120, "Environment": {"Variables": BLOCK}}),
        "Rule": (
            RULE,
            {
                "ScheduleExpression": "rate(1 minute)",
                "EventPattern": {"source": ["aws.ec2"]},
                "Targets": [{"Arn": {"Ref": "Drain"}}],
            },
        ),
        "Permission": (
            "AWS::Lambda::Permission",
            {"FunctionName": {"Ref": "Drain"}, "SourceArn": {"Fn::GetAtt": ["Rule", "Arn"]}},
        ),
        "Alarm": (ALARM, {"Dimensions": [{"Value": {"Ref": "Drain"}}], "AlarmActions": [{"Ref": "Topic"}]}),
        "Topic": (TOPIC, {"DisplayName": "t"}),
        "Mail": ("AWS::SNS::Subscription", {"TopicArn": {"Ref": "Topic"}, "Protocol": "email"}),
        "Queue": ("AWS::Batch::JobQueue", {"Priority": 1, "ComputeEnvironmentOrder": [{"Order": 1}]}),
    }
    return {
        name: {"Type": kind, "Properties": own | (changes.get(name) or {})}
        for name, (kind, own) in properties.items()
        if changes.get(name, {}) is not None
    }


def stops(*, idle: bool = False, **changes: Any) -> set[tuple[str, str]]:
    plan = compare(
        [stack(**template())], [stack(**template(**changes))], idle_blocks=["cr-1"] if idle else []
    )
    return {(str(stop.kind), str(stop.allow).partition("/")[2]) for stop in plan.stops()}


def variables(**changes: str) -> dict[str, Any]:
    return {"Environment": {"Variables": BLOCK | changes}}


@pytest.mark.parametrize(
    ("changes", "at"),
    [
        ({"Drain": None, "Rule": None, "Permission": None, "Alarm": None}, "Drain"),
        ({"Rule": None}, "Rule"),
        ({"Permission": None}, "Permission"),
        ({"Alarm": None}, "Alarm"),
        ({"Mail": None}, "Mail"),
        ({"Rule": {"State": "DISABLED"}}, "Rule"),
        ({"Rule": {"ScheduleExpression": "rate(2 minutes)"}}, "Rule"),
        ({"Rule": {"ScheduleExpression": "rate(1 hour)"}}, "Rule"),
        ({"Rule": {"ScheduleExpression": "cron(0/5 * * * ? *)"}}, "Rule"),
        ({"Rule": {"ScheduleExpression": "cron(0 12 * * ? *)"}}, "Rule"),
        ({"Rule": {"Targets": []}}, "Rule"),
        ({"Rule": {"Targets": [{"Arn": {"Ref": "Queue"}}]}}, "Rule"),
        ({"Rule": {"Targets": [{"Arn": {"Ref": "Drain"}, "Input": "{}"}]}}, "Rule"),
        ({"Rule": {"EventPattern": {"source": ["aws.ec2"], "detail": {"a": ["b"]}}}}, "Rule"),
        ({"Rule": {"EventPattern": {"source": ["aws.batch"]}}}, "Rule"),
        ({"Permission": {"FunctionName": "another"}}, "Permission"),
        ({"Permission": {"SourceArn": "arn:of:another:rule"}}, "Permission"),
        ({"Alarm": {"Dimensions": [{"Value": "another"}]}}, "Alarm"),
        ({"Mail": {"TopicArn": "another"}}, "Mail"),
        ({"Mail": {"Endpoint": "else@example.com"}}, "Mail"),
        ({"Mail": {"FilterPolicy": {"a": ["b"]}}}, "Mail"),
        ({"Drain": {"VpcConfig": {"SubnetIds": ["a"]}}}, "Drain"),
        ({"Queue": {"ComputeEnvironmentOrder": []}}, "Queue"),
        ({"Alarm": {"AlarmActions": []}}, "Alarm"),
        ({"Alarm": {"ActionsEnabled": False}}, "Alarm"),
        ({"Topic": {"TopicName": "other"}}, "Topic"),
        ({"Queue": {"State": "DISABLED"}}, "Queue"),
        ({"Drain": {"ReservedConcurrentExecutions": 0}}, "Drain"),
        ({"Drain": {"Timeout": 119}}, "Drain"),
        ({"Drain": {"Timeout": None}}, "Drain"),
        ({"Drain": variables(UC_RESERVATION_ID="cr-2")}, "Drain"),
        ({"Drain": variables(UC_JOB_QUEUE="r")}, "Drain"),
        ({"Drain": {"Environment": {"Variables": {"UC_RESERVATION_ID": "cr-1"}}}}, "Drain"),
    ],
)
def test_what_switches_off_stops_at_one_place(changes: dict[str, Any], at: str) -> None:
    assert stops(**changes) == {("control", at)}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"Rule": {"ScheduleExpression": "cron(* * * * ? *)"}},
        {"Rule": {"ScheduleExpression": "cron(*/1 * * * ? *)", "State": "ENABLED"}},
        {"Rule": {"Targets": [{"Arn": {"Ref": "Queue"}}, {"Arn": {"Ref": "Drain"}}]}},
        {"Alarm": {"AlarmActions": [{"Ref": "Topic"}, "more"], "ActionsEnabled": True}},
        {"Topic": {"DisplayName": "another"}},
        {"Rule": {"EventPattern": {"source": ["aws.batch", "aws.ec2"]}}},
        {"Permission": {"SourceArn": None}},
        {"Queue": {"ComputeEnvironmentOrder": [{"Order": 1}, {"Order": 2}]}},
        {"Mail": None, "Topic": None, "Alarm": {"AlarmActions": ["elsewhere"]}, "kept": None},
        {"Drain": {"Timeout": 300, "ReservedConcurrentExecutions": 1}},
        {"Drain": variables(UC_LEAD="1800", UC_MORE="x")},
    ],
)
def test_what_keeps_its_work_passes(changes: dict[str, Any]) -> None:
    expected = {("control", "Topic")} if "kept" in changes else set()  # its subscriptions end with it

    assert stops(**changes) == expected


def test_the_drain_of_an_idle_block_may_change() -> None:
    assert stops(idle=True, Drain=variables(UC_RESERVATION_ID="cr-2") | {"Timeout": 60}) == set()
    assert stops(idle=True, Drain={"ReservedConcurrentExecutions": 0}) == {("control", "Drain")}
