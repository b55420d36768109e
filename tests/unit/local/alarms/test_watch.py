"""Alarms in the local AWS: from log events or functions to data points, to states, to messages, by the clock alone."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ultracluster_local import LocalAws

REGION = "us-east-2"
MINUTE = timedelta(minutes=1)


def embedded(value: float | list[float], moment: datetime, **others: Any) -> str:
    return json.dumps(
        {
            "_aws": {
                "Timestamp": int(moment.timestamp() * 1000),
                "CloudWatchMetrics": [
                    {
                        "Namespace": "Test",
                        "Dimensions": [["Cluster"], ["Cluster", "Job"]],
                        "Metrics": [{"Name": "Load", "Unit": "Count"}, {"Name": "NotGiven"}],
                    }
                ],
            },
            "Cluster": "a",
            "Job": "train",
            "Load": value,
            **others,
        }
    )


def log(local: LocalAws, *messages: str) -> None:
    logs = local.client("logs", REGION)
    logs.put_log_events(
        logGroupName="nodes",
        logStreamName="i-1",
        logEvents=[{"timestamp": int(time.time() * 1000), "message": each} for each in messages],
    )


@pytest.fixture
def inbox(local_aws: LocalAws) -> Any:
    """A topic with a queue behind it; gives the topic and what reads the queue."""
    sns, sqs = local_aws.client("sns", REGION), local_aws.client("sqs", REGION)
    topic = sns.create_topic(Name="alarms")["TopicArn"]
    url = sqs.create_queue(QueueName="inbox")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)

    def read() -> list[tuple[str, str]]:
        found = []
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            for each in messages:
                body = json.loads(json.loads(each["Body"])["Message"])
                found.append((body["AlarmName"], body["NewStateValue"]))
                sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
        return found

    logs = local_aws.client("logs", REGION)
    logs.create_log_group(logGroupName="nodes")
    logs.create_log_stream(logGroupName="nodes", logStreamName="i-1")
    return topic, read


@pytest.mark.usefixtures("inbox")
def test_metrics_in_log_events_are_data_points_under_each_set_of_dimensions(local_aws: LocalAws) -> None:
    moment = datetime.now(UTC).replace(second=0, microsecond=0)
    log(local_aws, embedded([1, 2.5], moment), "REPORT " + embedded(4, moment), "not json {", '{"_aws": 1}')
    cloudwatch = local_aws.client("cloudwatch", REGION)
    # moto's statistics add up all series that have the dimensions, so those of the larger set count twice for the smaller.
    for dimensions, total in (({"Cluster": "a"}, 15), ({"Cluster": "a", "Job": "train"}, 7.5)):
        (point,) = cloudwatch.get_metric_statistics(
            Namespace="Test",
            MetricName="Load",
            Dimensions=[{"Name": name, "Value": value} for name, value in dimensions.items()],
            StartTime=moment,
            EndTime=moment + MINUTE,
            Period=60,
            Statistics=["Sum", "SampleCount"],
        )["Datapoints"]
        assert point["Sum"] == total
    assert {each["MetricName"] for each in cloudwatch.list_metrics(Namespace="Test")["Metrics"]} == {"Load"}


def test_alarms_go_off_and_back_while_the_clock_moves_and_tell_their_topic(
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
