"""Alarms in the local AWS: from log events or functions to data points, to states, to messages, by the clock alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.alarms.watched_logs import REGION, embedded, log

from ultracluster_local import LocalAws

MINUTE = timedelta(minutes=1)


def test_alarms_go_off_and_back_while_the_clock_moves_and_notify_their_topic(
    local_aws: LocalAws, inbox: Any
) -> None:
    topic, read = inbox
    cloudwatch = local_aws.client("cloudwatch", REGION)
    cloudwatch.put_metric_alarm(
        AlarmName="high",
        Namespace="Test",
        MetricName="Load",
        Dimensions=[{"Name": "Cluster", "Value": "a"}],
        Statistic="Maximum",
        Period=60,
        EvaluationPeriods=2,
        DatapointsToAlarm=2,
        Threshold=5,
        ComparisonOperator="GreaterThanThreshold",
        TreatMissingData="notBreaching",
        AlarmActions=[topic],
        OKActions=[topic],
    )
    cloudwatch.put_metric_alarm(
        AlarmName="double",
        Metrics=[
            {
                "Id": "load",
                "MetricStat": {
                    "Metric": {
                        "Namespace": "Test",
                        "MetricName": "Load",
                        "Dimensions": [{"Name": "Cluster", "Value": "a"}],
                    },
                    "Period": 60,
                    "Stat": "Sum",
                },
                "ReturnData": False,
            },
            {"Id": "twice", "Expression": "load * 2", "ReturnData": True},
        ],
        EvaluationPeriods=1,
        Threshold=100,
        ComparisonOperator="GreaterThanOrEqualToThreshold",
        TreatMissingData="notBreaching",
    )
    cloudwatch.put_composite_alarm(
        AlarmName="any", AlarmRule="ALARM(high) OR ALARM(double)", AlarmActions=[topic]
    )
    start = datetime.now(UTC).replace(second=0, microsecond=0)
    log(local_aws, *(embedded(value, start + minute * MINUTE) for minute, value in enumerate([9, 9, 9, 1])))
    local_aws.clock.set(start)
    local_aws.event_settings.evaluate_alarms = True

    local_aws.clock.advance(MINUTE)
    assert read() == [("high", "OK")]
    local_aws.clock.advance(MINUTE)
    assert read() == [("high", "ALARM"), ("any", "ALARM")]
    states = cloudwatch.describe_alarms(AlarmTypes=["MetricAlarm", "CompositeAlarm"])
    assert [each["StateValue"] for each in (*states["MetricAlarms"], *states["CompositeAlarms"])] == [
        "ALARM",
        "OK",
        "ALARM",
    ]
    local_aws.clock.advance(5 * MINUTE)
    assert read() == [("high", "OK")]


def test_an_alarm_on_a_query_sees_the_fullest_target(local_aws: LocalAws, inbox: Any) -> None:
    topic, read = inbox
    cloudwatch = local_aws.client("cloudwatch", REGION)
    query = "SELECT MAX(Used) FROM SCHEMA(\"Test\", System, Target) WHERE System = 'a'"
    cloudwatch.put_metric_alarm(
        AlarmName="full",
        Metrics=[{"Id": "used", "Expression": query, "Period": 60}],
        EvaluationPeriods=1,
        Threshold=90,
        ComparisonOperator="GreaterThanThreshold",
        TreatMissingData="notBreaching",
        AlarmActions=[topic],
    )
    start = datetime.now(UTC).replace(second=0, microsecond=0)
    for target, value in (("0", 10.0), ("1", 91.0)):
        dimensions = [{"Name": "System", "Value": "a"}, {"Name": "Target", "Value": target}]
        datum = {"MetricName": "Used", "Dimensions": dimensions, "Timestamp": start, "Value": value}
        cloudwatch.put_metric_data(Namespace="Test", MetricData=[datum])
    local_aws.clock.set(start)
    local_aws.event_settings.evaluate_alarms = True
    local_aws.clock.advance(MINUTE)
    assert read() == [("full", "ALARM")]


def test_alarms_stay_as_they_are_unless_they_are_asked_for(local_aws: LocalAws, inbox: Any) -> None:
    local_aws.client("cloudwatch", REGION).put_metric_alarm(
        AlarmName="silent",
        Namespace="Test",
        MetricName="Load",
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=1,
        ComparisonOperator="LessThanThreshold",
        TreatMissingData="breaching",
        AlarmActions=[inbox[0]],
    )
    local_aws.clock.set(datetime.now(UTC))
    local_aws.clock.advance(5 * MINUTE)
    assert inbox[1]() == []
    local_aws.event_settings.evaluate_alarms = True
    local_aws.clock.advance(5 * MINUTE)
    assert inbox[1]() == [("silent", "ALARM")]


def test_refuses_an_action_that_it_cannot_send(local_aws: LocalAws) -> None:
    local_aws.client("cloudwatch", REGION).put_metric_alarm(
        AlarmName="reboot",
        Namespace="Test",
        MetricName="Load",
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=1,
        ComparisonOperator="LessThanThreshold",
        TreatMissingData="breaching",
        AlarmActions=["arn:aws:automate:us-east-2:ec2:reboot"],
    )
    local_aws.event_settings.evaluate_alarms = True
    local_aws.clock.set(datetime.now(UTC))
    with pytest.raises(ValueError, match="SNS topics only"):
        local_aws.clock.advance(2 * MINUTE)
