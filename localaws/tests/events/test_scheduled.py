"""Schedules that fire while the clock is moved."""

import json
from datetime import timedelta
from typing import Any

import pytest
from tests.events.event_rules import MINUTE, NOW, REGION, function, heard, put_rule, queue

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture
def local(local_aws: LocalAws) -> LocalAws:
    local_aws.clock.set(NOW)
    return local_aws


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


def sender(local: LocalAws) -> str:
    assumed = {
        "Effect": "Allow",
        "Principal": {"Service": "scheduler.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    trust = json.dumps({"Version": "2012-10-17", "Statement": [assumed]})
    return str(
        local.client("iam").create_role(RoleName="sends", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    )


def test_schedule_fires_in_its_time_zone_and_between_its_dates(local: LocalAws) -> None:
    local.client("scheduler", REGION).create_schedule(
        Name="daily",
        ScheduleExpression="cron(0 12 * * ? *)",
        ScheduleExpressionTimezone="Europe/Berlin",
        FlexibleTimeWindow={"Mode": "OFF"},
        StartDate=NOW + timedelta(days=1),
        EndDate=NOW + timedelta(days=3),
        Target={"Arn": queue(local)[1], "RoleArn": sender(local)},
    )
    local.clock.advance(timedelta(days=5))
    eleven = NOW.replace(hour=11)
    assert [moment for moment, _ in heard(local)] == [eleven + timedelta(days=day) for day in (1, 2)]


def test_a_schedule_for_one_time_is_deleted_after_it_if_it_says_so(local: LocalAws) -> None:
    scheduler = local.client("scheduler", REGION)
    once = {
        "ScheduleExpression": f"at({NOW + timedelta(hours=2):%Y-%m-%dT%H:%M:%S})",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {"Arn": queue(local)[1], "RoleArn": sender(local)},
    }
    scheduler.create_schedule(Name="gone", ActionAfterCompletion="DELETE", **once)
    scheduler.create_schedule(Name="kept", **once)

    local.clock.advance(timedelta(hours=1))
    assert len(scheduler.list_schedules()["Schedules"]) == 2
    local.clock.advance(timedelta(hours=1))
    assert [one["Name"] for one in scheduler.list_schedules()["Schedules"]] == ["kept"]
    assert len(heard(local)) == 2


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
