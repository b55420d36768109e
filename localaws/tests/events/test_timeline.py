"""What is due during a move of the clock happens once, in order, and at its own time."""

import json
from datetime import timedelta

import pytest
from tests.events.event_rules import DELIVERED, MINUTE, NOW, REGION, heard, put_rule, queue
from tests.services.ec2.blocks_and_instances import START, seed

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def second_rule(local: LocalAws, expression: str, target: str) -> None:
    events = local.client("events", REGION)
    events.put_rule(Name="second", ScheduleExpression=expression)
    events.put_targets(
        Rule="second", Targets=[{"Id": "1", "Arn": target, "Input": '{"detail-type": "second"}'}]
    )


def test_schedules_of_several_rules_fire_in_the_order_of_their_times(local: LocalAws) -> None:
    _, arn = queue(local)
    put_rule(local, arn, ScheduleExpression="rate(2 minutes)")
    second_rule(local, "rate(3 minutes)", arn)

    local.clock.advance(6 * MINUTE)

    moments = [moment - NOW for moment, _ in heard(local)]
    assert moments == [2 * MINUTE, 3 * MINUTE, 4 * MINUTE, 6 * MINUTE, 6 * MINUTE]


def test_at_the_same_time_a_block_comes_before_a_schedule(local: LocalAws) -> None:
    seed()
    _, arn = queue(local)
    put_rule(local, arn, EventPattern=json.dumps({"detail-type": [*DELIVERED]}))
    second_rule(local, f"cron({START.minute} {START.hour} {START.day} {START.month} ? *)", arn)

    local.clock.set(START)

    assert heard(local) == [(START, DELIVERED[0]), (START, "second")]


def test_a_delayed_event_is_delivered_between_the_firings_of_a_schedule(local: LocalAws) -> None:
    seed()
    local.capacity_market(REGION).event_delay = 7 * MINUTE
    _, arn = queue(local)
    put_rule(local, arn, EventPattern=json.dumps({"detail-type": [*DELIVERED]}))
    local.clock.set(START)
    second_rule(local, "rate(5 minutes)", arn)

    local.clock.advance(10 * MINUTE)

    assert [(moment - START, name) for moment, name in heard(local)] == [
        (5 * MINUTE, "second"),
        (7 * MINUTE, DELIVERED[0]),
        (10 * MINUTE, "second"),
    ]


def test_two_moves_of_the_clock_fire_nothing_twice(local: LocalAws) -> None:
    put_rule(local, queue(local)[1], ScheduleExpression="rate(1 minute)")

    local.clock.advance(2 * MINUTE)
    local.clock.advance(2 * MINUTE)

    assert [moment - NOW for moment, _ in heard(local)] == [number * MINUTE for number in range(1, 5)]


def test_alarms_are_evaluated_up_to_the_end_of_a_move_in_which_nothing_is_due(local: LocalAws) -> None:
    local.client("cloudwatch", REGION).put_metric_alarm(
        AlarmName="silent",
        Namespace="Test",
        MetricName="Load",
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=3,
        Threshold=1,
        ComparisonOperator="LessThanThreshold",
        TreatMissingData="breaching",
    )
    local.event_settings.evaluate_alarms = True

    local.clock.advance(timedelta(minutes=5))

    (alarm,) = local.client("cloudwatch", REGION).describe_alarms()["MetricAlarms"]
    assert alarm["StateValue"] == "ALARM"
