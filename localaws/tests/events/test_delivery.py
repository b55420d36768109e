"""Delivery of events to queues, topics and functions."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.events.event_rules import MINUTE, NOW, REGION, function, put_rule, queue

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture
def local(local_aws: LocalAws) -> LocalAws:
    local_aws.clock.set(NOW)
    return local_aws


def test_constant_input_takes_the_place_of_the_event(local: LocalAws) -> None:
    put_rule(local, queue(local)[1], more={"Input": '{"hello": 1}'}, ScheduleExpression="rate(1 minute)")
    local.clock.advance(MINUTE)
    assert [one.event for one in local.deliveries(REGION)] == [{"hello": 1}]


def test_function_sees_the_time_that_it_was_fired_at(local: LocalAws) -> None:
    code = (
        "import time\nfrom datetime import UTC, datetime\nimport boto3\n"
        "def handler(event, context):\n"
        "    now = datetime.now(UTC)\n    assert isinstance(now, datetime)\n"
        "    assert abs(now.timestamp() - time.time()) < 60\n"
        "    boto3.client('ssm').put_parameter(Name=event['detail-type'].replace(' ', ''), Value=now.isoformat(), Type='String')\n"
    )
    put_rule(local, function(local, code), ScheduleExpression="rate(5 minutes)")
    put = {"Effect": "Allow", "Action": "ssm:PutParameter", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [put]})
    local.client("iam", REGION).put_role_policy(RoleName="r", PolicyName="p", PolicyDocument=document)
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


def test_function_that_fails_is_noted(local: LocalAws) -> None:
    put_rule(
        local,
        function(local, "def handler(event, context):\n    raise ValueError('no luck')\n"),
        ScheduleExpression="rate(1 minute)",
    )
    local.clock.advance(MINUTE)
    assert "no luck" in local.deliveries(REGION)[0].error


@pytest.mark.parametrize(
    ("arn", "more", "message"),
    [
        (f"arn:aws:logs:{REGION}:123456789012:log-group:g", {}, "cannot deliver to"),
        ("", {"InputPath": "$.detail"}, "does not support InputPath"),
    ],
)
def test_an_unsupported_target_stops_the_clock_at_its_event(
    local: LocalAws, arn: str, more: dict[str, Any], message: str
) -> None:
    put_rule(local, arn or queue(local)[1], more=more, ScheduleExpression="rate(1 minute)")
    with pytest.raises(ValueError, match=message):
        local.clock.advance(5 * MINUTE)
    assert local.clock.now() == NOW + MINUTE
