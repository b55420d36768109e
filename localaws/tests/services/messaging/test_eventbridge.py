"""Rules, targets and schedules that EventBridge refuses."""

import json
from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import ACCOUNT, LocalAws

pytestmark = pytest.mark.slow

QUEUE = f"arn:aws:sqs:us-east-1:{ACCOUNT}:q"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/r"
SCHEDULER = "scheduler.amazonaws.com"


@pytest.fixture
def events(local_aws: LocalAws) -> Any:
    client = local_aws.client("events")
    client.put_rule(Name="rule", ScheduleExpression="rate(1 minute)")
    return client


def role(local_aws: LocalAws, service: str, *, effect: str = "Allow") -> str:
    statement = {"Effect": effect, "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    made = local_aws.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument=policy)
    return str(made["Role"]["Arn"])


@pytest.mark.parametrize(
    ("rule", "code", "words"),
    [
        ({}, "ValidationException", "EventPattern or ScheduleExpression must be specified."),
        ({"ScheduleExpression": "rate(1 week)"}, "ValidationException", "Parameter ScheduleExpression is not valid."),
        ({"ScheduleExpression": "at(2026-12-01T09:00:00)"}, "ValidationException", "is not valid."),
        ({"ScheduleExpression": "rate(1 day)", "EventBusName": "mine"}, "ValidationException", "only on the default event bus."),
        ({"EventPattern": '{"source": "aws.ec2"}'}, "InvalidEventPatternException", 'Reason: "source" must be an object or an array'),
    ],
)  # fmt: skip
def test_a_rule_has_a_schedule_or_a_pattern(events: Any, rule: dict[str, Any], code: str, words: str) -> None:
    if "EventBusName" in rule:
        events.create_event_bus(Name="mine")

    found = refusal(events.put_rule, Name="bad", **rule)

    assert (found[0], words in found[1]) == (code, True)
    assert [one["Name"] for one in events.list_rules()["Rules"]] == ["rule"]


def test_a_rule_that_does_not_exist_is_named_with_its_bus(events: Any) -> None:
    assert refusal(events.describe_rule, Name="absent") == (
        "ResourceNotFoundException",
        "Rule absent does not exist on EventBus default.",
    )


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ({"Input": "{}", "InputPath": "$.detail"}, "Only one of Input, InputPath, or InputTransformer must be provided for target 1."),
        ({"InputTransformer": {"InputPathsMap": {"a": "$.a"}, "InputTemplate": '"<a> <b>"'}}, "contains invalid placeholder b."),
        ({"Arn": f"arn:aws:batch:us-east-1:{ACCOUNT}:job-queue/q"}, "RoleArn is required for target"),
    ],
)  # fmt: skip
def test_a_target_has_one_input_and_what_its_service_needs(
    events: Any, target: dict[str, Any], words: str
) -> None:
    targets = [{"Id": "1", "Arn": QUEUE} | target]

    assert words in refusal(events.put_targets, Rule="rule", Targets=targets)[1]
    assert events.list_targets_by_rule(Rule="rule")["Targets"] == []


def test_a_placeholder_may_be_one_of_eventbridge(events: Any) -> None:
    transformer = {"InputPathsMap": {"a": "$.a"}, "InputTemplate": '"<a> <aws.events.rule-arn>"'}

    events.put_targets(Rule="rule", Targets=[{"Id": "1", "Arn": QUEUE, "InputTransformer": transformer}])


def test_a_rule_has_five_targets_of_which_each_can_be_replaced(events: Any) -> None:
    five = [{"Id": str(number), "Arn": QUEUE} for number in range(5)]
    events.put_targets(Rule="rule", Targets=five)
    events.put_targets(Rule="rule", Targets=five[:1])

    sixth = {"Rule": "rule", "Targets": [{"Id": "5", "Arn": QUEUE}]}
    assert refusal(events.put_targets, **sixth)[0] == "LimitExceededException"


@pytest.mark.parametrize(
    ("service", "expression", "words"),
    [
        (SCHEDULER, "at(2030-12-01T09:00:00)", ""),
        (SCHEDULER, "every day", "Invalid Schedule Expression every day."),
        ("events.amazonaws.com", "rate(1 day)", "must allow AWS EventBridge Scheduler to assume the role."),
    ],
)
def test_a_schedule_has_an_expression_and_a_role_for_scheduler(
    local_aws: LocalAws, service: str, expression: str, words: str
) -> None:
    scheduler = local_aws.client("scheduler")
    given = {
        "Name": "s",
        "ScheduleExpression": expression,
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {"Arn": QUEUE, "RoleArn": role(local_aws, service)},
    }

    if words:
        assert words in refusal(scheduler.create_schedule, **given)[1]
        assert scheduler.list_schedules()["Schedules"] == []
    else:
        scheduler.create_schedule(**given)


def test_an_update_of_a_schedule_sets_back_what_it_leaves_out(local_aws: LocalAws) -> None:
    scheduler = local_aws.client("scheduler")
    given = {
        "Name": "s",
        "ScheduleExpression": "rate(1 day)",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {"Arn": QUEUE, "RoleArn": role(local_aws, SCHEDULER)},
    }
    settings = {
        "State": "DISABLED",
        "Description": "nightly",
        "ScheduleExpressionTimezone": "Europe/Paris",
        "ActionAfterCompletion": "DELETE",
    }
    scheduler.create_schedule(**given)
    defaults = scheduler.get_schedule(Name="s")

    scheduler.update_schedule(**given, **settings)
    assert scheduler.get_schedule(Name="s").items() >= settings.items()
    scheduler.update_schedule(**given)
    shown = scheduler.get_schedule(Name="s")
    assert {name: shown.get(name) for name in settings} == {name: defaults.get(name) for name in settings}


GROUP = f"arn:aws:scheduler:us-east-1:{ACCOUNT}:schedule-group/none"


@pytest.mark.parametrize(
    ("call", "given", "code", "words"),
    [
        ("create_schedule_group", {"Name": "default"}, "ConflictException", "Schedule group default already exists."),
        ("delete_schedule_group", {"Name": "default"}, "ValidationException", "The default schedule group cannot be deleted."),
        ("delete_schedule_group", {"Name": "none"}, "ResourceNotFoundException", "Schedule group none does not exist."),
        ("list_schedules", {"GroupName": "none"}, "ResourceNotFoundException", "Schedule group none does not exist."),
        ("list_tags_for_resource", {"ResourceArn": GROUP}, "ResourceNotFoundException", "Schedule group none does not exist."),
        ("tag_resource", {"ResourceArn": GROUP, "Tags": []}, "ResourceNotFoundException", "Schedule group none does not exist."),
    ],
)  # fmt: skip
def test_a_group_of_schedules_is_there_or_not(
    local_aws: LocalAws, call: str, given: dict[str, Any], code: str, words: str
) -> None:
    scheduler = local_aws.client("scheduler")
    assert refusal(getattr(scheduler, call), **given) == (code, words)
    assert scheduler.list_schedules()["Schedules"] == []


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ({"Arn": "arn:aws:batch:us-east-1:123456789012:job-queue/q", "RoleArn": ROLE}, "Parameter(s) BatchParameters must be specified for target: t"),
        ({"Arn": "arn:aws:sqs:us-east-1:123456789012:q", "BatchParameters": {"JobDefinition": "d", "JobName": "n"}}, "Parameter(s) BatchParameters not supported for target: t"),
        ({"Arn": "arn:aws:batch:us-east-1:123456789012:job-queue/q", "RoleArn": ROLE, "BatchParameters": {"JobDefinition": "d", "JobName": "n", "ArrayProperties": {"Size": 1}}}, "Parameter ArrayProperties is not valid. Reason: Size must be in between 2 and 10000"),
        ({"Arn": "arn:aws:sqs:us-east-1:123456789012:q", "Input": "none"}, "JSON syntax error in input for target t"),
        ({"Arn": "arn:aws:sqs:us-east-1:123456789012:q", "DeadLetterConfig": {"Arn": "arn:aws:sns:us-east-1:123456789012:t"}}, "is not supported as a dead letter resource"),
    ],
)  # fmt: skip
def test_a_target_has_the_parameters_of_its_service(
    local_aws: LocalAws, target: dict[str, Any], words: str
) -> None:
    events = local_aws.client("events")
    events.put_rule(Name="r", ScheduleExpression="rate(1 day)")

    assert words in refusal(events.put_targets, Rule="r", Targets=[{"Id": "t", **target}])[1]


@pytest.mark.parametrize("call", ["describe_rule", "enable_rule", "disable_rule"])
def test_an_absent_rule_is_named_with_its_bus(local_aws: LocalAws, call: str) -> None:
    words = refusal(getattr(local_aws.client("events"), call), Name="none")[1]

    assert words == "Rule none does not exist on EventBus default."
