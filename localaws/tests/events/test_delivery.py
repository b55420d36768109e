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


def test_an_unsupported_target_stops_the_clock_at_its_event(local: LocalAws) -> None:
    put_rule(
        local, f"arn:aws:firehose:{REGION}:123456789012:deliverystream/s", ScheduleExpression="rate(1 minute)"
    )
    with pytest.raises(ValueError, match="cannot deliver to"):
        local.clock.advance(5 * MINUTE)
    assert local.clock.now() == NOW + MINUTE


def _sent(local: LocalAws, **entry: Any) -> dict[str, Any]:
    entry = {
        "Source": "s",
        "DetailType": "t",
        "Detail": '{"a": {"b": "c", "list": ["x", "y"], "on": true}}',
    } | entry
    answer: dict[str, Any] = local.client("events", REGION).put_events(Entries=[entry])
    return answer


def _received(local: LocalAws, url: str) -> list[str]:
    found = local.client("sqs", REGION).receive_message(QueueUrl=url, MaxNumberOfMessages=10)
    return [one["Body"] for one in found.get("Messages", [])]


# What AWS sent is recorded in localstack/localstack, tests/aws/services/events/test_events_inputs.snapshot.json.
@pytest.mark.parametrize(
    ("more", "sent"),
    [
        ({"InputPath": "$.detail.a.b"}, '"c"'),
        ({"InputPath": "$.detail.a.list[1]"}, '"y"'),
        ({"InputPath": "$.nothing"}, "null"),
        (
            '{"id": <b>, "in": <a>, "none": <none>}',
            '{"id": "c", "in": {"b":"c","list":["x","y"],"on":true}, "none": ""}',
        ),
        (
            '"<b> and <b> of <a> is <on>, <list>, <none>."',
            '"c and c of {b:c,list:[x,y],on:true} is true, [x,y], ."',
        ),
        ('{"path": "users/<b>", "rule": "<aws.events.rule-name>"}', '{"path": "users/c", "rule": "rule"}'),
        ('"<b> first"\n"<b> second"', '"c first"\n"c second"'),
    ],
)
def test_a_target_gets_what_its_path_or_template_makes_of_an_event(
    local: LocalAws, more: dict[str, Any] | str, sent: str
) -> None:
    url, arn = queue(local)
    paths = {
        "a": "$.detail.a",
        "b": "$.detail.a.b",
        "list": "$.detail.a.list",
        "on": "$.detail.a.on",
        "none": "$.detail.z",
    }
    if isinstance(more, str):
        more = {"InputTransformer": {"InputPathsMap": paths, "InputTemplate": more}}
    put_rule(local, arn, more=more, EventPattern='{"source": ["s"]}')
    _sent(local)
    assert _received(local, url) == [sent]


def test_an_event_that_is_put_is_whole_and_reaches_each_kind_of_target(local: LocalAws) -> None:
    url, arn = queue(local)
    logs, events = local.client("logs", REGION), local.client("events", REGION)
    logs.create_log_group(logGroupName="g")
    bus = events.create_event_bus(Name="second")["EventBusArn"]
    put_rule(local, f"arn:aws:logs:{REGION}:123456789012:log-group:g", EventPattern='{"source": ["s"]}')
    events.put_targets(Rule="rule", Targets=[{"Id": "2", "Arn": bus}])
    events.put_rule(Name="r", EventBusName="second", EventPattern='{"source": ["s"]}')
    events.put_targets(Rule="r", EventBusName="second", Targets=[{"Id": "1", "Arn": arn}])

    local.clock.follow_real_time()  # log groups take no events of the future
    put = _sent(local, Time=NOW)
    (event,) = [json.loads(one) for one in _received(local, url)]
    (logged,) = logs.filter_log_events(logGroupName="g")["events"]
    assert event == json.loads(logged["message"])
    assert event["id"] == put["Entries"][0]["EventId"]
    assert (event["account"], event["region"], event["time"]) == (
        "123456789012",
        REGION,
        NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    assert [*event] == [
        "version",
        "id",
        "detail-type",
        "source",
        "account",
        "time",
        "region",
        "resources",
        "detail",
    ]


@pytest.mark.parametrize("detail", ["[]", '"text"', "not JSON"])
def test_details_that_are_no_object_are_malformed(local: LocalAws, detail: str) -> None:
    answer = _sent(local, Detail=detail)
    assert answer["FailedEntryCount"] == 1
    assert answer["Entries"] == [{"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}]


def test_putting_events_succeeds_whatever_becomes_of_them(local: LocalAws) -> None:
    put_rule(
        local, f"arn:aws:firehose:{REGION}:123456789012:deliverystream/s", EventPattern='{"source": ["s"]}'
    )
    for bus in ("default", "none"):
        assert "EventId" in _sent(local, EventBusName=bus)["Entries"][0]
    (lost,) = local.deliveries(REGION)
    assert "cannot deliver to" in lost.error
