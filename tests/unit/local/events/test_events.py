"""What happens when the clock is moved: schedules, and what their targets do."""

import io
import json
import zipfile
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.unit.local.events.event_rules import MINUTE, NOW, REGION, heard, put_rule, queue

from ultracluster_local import LocalAws

pytestmark = pytest.mark.deploy


@pytest.fixture
def local(local_aws: LocalAws) -> LocalAws:
    local_aws.clock.set(NOW)
    return local_aws


def function(local: LocalAws, source: str) -> str:
    """Make a function; return its ARN."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("index.py", source)
    role = local.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    made = local.client("lambda", REGION).create_function(
        FunctionName="f",
        Runtime="python3.13",
        Role=role,
        Handler="index.handler",
        Code={"ZipFile": archive.getvalue()},
    )
    return str(made["FunctionArn"])


def test_rate_fires_once_at_each_due_time_with_the_event_of_eventbridge(local: LocalAws) -> None:
    url, arn = queue(local)
    put_rule(local, arn, ScheduleExpression="rate(1 minute)")
    local.clock.advance(3 * MINUTE)
    assert [moment for moment, _ in heard(local)] == [NOW + MINUTE, NOW + 2 * MINUTE, NOW + 3 * MINUTE]
    messages = local.client("sqs", REGION).receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    events = [json.loads(message["Body"]) for message in messages]
    assert min(event["time"] for event in events) == "2026-12-01T09:01:00Z"
    assert {(event["source"], event["detail-type"]) for event in events} == {
        ("aws.events", "Scheduled Event")
    }
    assert len({event["id"] for event in events}) == 3


def test_nothing_fires_by_standing_still_going_back_or_following_real_time(local: LocalAws) -> None:
    put_rule(local, queue(local)[1], ScheduleExpression="rate(1 minute)")
    local.clock.set(NOW)
    local.clock.set(NOW - timedelta(days=1))
    local.clock.follow_real_time()
    assert heard(local) == []


def test_long_move_thins_a_frequent_schedule_evenly_and_keeps_the_last(local: LocalAws) -> None:
    put_rule(local, queue(local)[1], ScheduleExpression="rate(1 minute)")
    local.event_settings.most_firings = 3
    local.clock.advance(timedelta(hours=1))
    assert [moment for moment, _ in heard(local)] == [NOW + 20 * MINUTE, NOW + 40 * MINUTE, NOW + 60 * MINUTE]


def test_disabled_rule_does_not_fire(local: LocalAws) -> None:
    put_rule(local, queue(local)[1], ScheduleExpression="rate(1 minute)")
    local.client("events", REGION).disable_rule(Name="rule")
    local.clock.advance(3 * MINUTE)
    assert heard(local) == []


def test_constant_input_takes_the_place_of_the_event(local: LocalAws) -> None:
    put_rule(local, queue(local)[1], more={"Input": '{"hello": 1}'}, ScheduleExpression="rate(1 minute)")
    local.clock.advance(MINUTE)
    assert [one.event for one in local.deliveries(REGION)] == [{"hello": 1}]


def test_schedule_fires_in_its_time_zone_and_between_its_dates(local: LocalAws) -> None:
    local.client("scheduler", REGION).create_schedule(
        Name="daily",
        ScheduleExpression="cron(0 12 * * ? *)",
        ScheduleExpressionTimezone="Europe/Berlin",
        FlexibleTimeWindow={"Mode": "OFF"},
        StartDate=NOW + timedelta(days=1),
        EndDate=NOW + timedelta(days=3),
        Target={"Arn": queue(local)[1], "RoleArn": "arn:aws:iam::123456789012:role/any"},
    )
    local.clock.advance(timedelta(days=5))
    eleven = NOW.replace(hour=11)
    assert [moment for moment, _ in heard(local)] == [eleven + timedelta(days=day) for day in (1, 2)]


def test_function_sees_the_time_that_it_was_fired_at(local: LocalAws) -> None:
    code = (
        "import time\nfrom datetime import UTC, datetime\nimport boto3\n"
        "def handler(event, context):\n"
        "    now = datetime.now(UTC)\n    assert isinstance(now, datetime)\n"
        "    assert abs(now.timestamp() - time.time()) < 60\n"
        "    boto3.client('ssm').put_parameter(Name=event['detail-type'].replace(' ', ''), Value=now.isoformat(), Type='String')\n"
    )
    put_rule(local, function(local, code), ScheduleExpression="rate(5 minutes)")
    local.clock.advance(5 * MINUTE)
    assert [one.error for one in local.deliveries(REGION)] == [""]
    seen = local.client("ssm", REGION).get_parameter(Name="ScheduledEvent")["Parameter"]["Value"]
    assert timedelta(0) <= datetime.fromisoformat(seen) - (NOW + 5 * MINUTE) < timedelta(seconds=30)


def test_what_a_target_refuses_is_noted_and_stops_nothing(local: LocalAws) -> None:
    put_rule(local, f"arn:aws:sns:{REGION}:123456789012:gone", ScheduleExpression="rate(1 minute)")
    local.clock.advance(2 * MINUTE)
    assert [bool(one.error) for one in local.deliveries(REGION)] == [True, True]


def test_topic_hands_the_event_to_its_subscribers(local: LocalAws) -> None:
    url, arn = queue(local)
    sns = local.client("sns", REGION)
    topic = sns.create_topic(Name="topic")["TopicArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})
    put_rule(local, topic, ScheduleExpression="rate(1 minute)")
    local.clock.advance(MINUTE)
    (message,) = local.client("sqs", REGION).receive_message(QueueUrl=url)["Messages"]
    assert json.loads(message["Body"]) == local.deliveries(REGION)[0].event
    assert local.deliveries(REGION)[0].error == ""


@pytest.mark.parametrize(
    ("source", "runs", "state"),
    [
        ("def handler(event, context): return 1", True, "OK"),
        ("def handler(event, context): raise ValueError", True, "ALARM"),
        ("def handler(event, context): return 1", False, "ALARM"),
    ],
)
def test_alarm_on_errors_sees_functions_that_run_fail_or_are_silent(
    local: LocalAws, source: str, runs: bool, state: str
) -> None:
    rule = {"ScheduleExpression": "rate(1 minute)", "State": "ENABLED" if runs else "DISABLED"}
    put_rule(local, function(local, source), **rule)
    cloudwatch = local.client("cloudwatch", REGION)
    metric: Any = {
        "Namespace": "AWS/Lambda",
        "Dimensions": [{"Name": "FunctionName", "Value": "f"}],
        "Period": 60,
    }
    cloudwatch.put_metric_alarm(
        AlarmName="errors",
        MetricName="Errors",
        Statistic="Sum",
        Threshold=1,
        ComparisonOperator="GreaterThanOrEqualToThreshold",
        EvaluationPeriods=2,
        TreatMissingData="breaching",
        **metric,
    )
    local.event_settings.evaluate_alarms = True
    local.clock.advance(5 * MINUTE)

    (alarm,) = cloudwatch.describe_alarms()["MetricAlarms"]
    assert alarm["StateValue"] == state
    counted = cloudwatch.get_metric_statistics(
        MetricName="Invocations",
        StartTime=NOW,
        EndTime=NOW + 10 * MINUTE,
        Statistics=["Sum"],
        **metric,
    )["Datapoints"]
    times = {each["Timestamp"]: each["Sum"] for each in counted}
    assert times == ({NOW + minute * MINUTE: 1 for minute in range(1, 6)} if runs else {})


def test_function_that_fails_is_noted(local: LocalAws) -> None:
    put_rule(
        local,
        function(local, "def handler(event, context):\n    raise ValueError('no luck')\n"),
        ScheduleExpression="rate(1 minute)",
    )
    local.clock.advance(MINUTE)
    assert "no luck" in local.deliveries(REGION)[0].error


@pytest.mark.parametrize(
    ("arn", "more", "told"),
    [
        (f"arn:aws:logs:{REGION}:123456789012:log-group:g", {}, "cannot deliver to"),
        ("", {"InputPath": "$.detail"}, "does not support InputPath"),
    ],
)
def test_refuses_targets_that_it_does_not_know_and_stands_there(
    local: LocalAws, arn: str, more: dict[str, Any], told: str
) -> None:
    put_rule(local, arn or queue(local)[1], more=more, ScheduleExpression="rate(1 minute)")
    with pytest.raises(ValueError, match=told):
        local.clock.advance(5 * MINUTE)
    assert local.clock.now() == NOW + MINUTE
