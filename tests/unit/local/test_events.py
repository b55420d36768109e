"""What happens when the clock is moved: schedules, events of blocks and the end of their instances."""

import io
import json
import zipfile
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_catalog.capacity_blocks import BLOCK_DELIVERED_EVENTS, BLOCK_EXPIRATION_WARNING_EVENTS
from ultracluster_local import LocalAws
from ultracluster_local.seed import seed_capacity_block

pytestmark = pytest.mark.deploy

REGION = "us-east-2"
NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
START = datetime(2026, 12, 2, 11, 30, tzinfo=UTC)
END = datetime(2026, 12, 3, 11, 30, tzinfo=UTC)
RESERVATION = "cr-0123456789abcdef0"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def local(local_aws: LocalAws) -> LocalAws:
    local_aws.clock.set(NOW)
    return local_aws


def seed(instance_type: str = "trn2.48xlarge", end: datetime = END) -> None:
    seed_capacity_block(
        reservation_id=RESERVATION,
        instance_type=instance_type,
        count=4,
        zone_id="use2-az3",
        start=START,
        end=end,
        region=REGION,
    )


def queue(local: LocalAws) -> tuple[str, str]:
    """Make a queue; return its address and ARN."""
    sqs = local.client("sqs", REGION)
    url = sqs.create_queue(QueueName="heard")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    return url, arn


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


def put_rule(local: LocalAws, target: str, *, more: dict[str, Any] | None = None, **rule: Any) -> None:
    events = local.client("events", REGION)
    events.put_rule(Name="rule", **rule)
    events.put_targets(Rule="rule", Targets=[{"Id": "1", "Arn": target, **(more or {})}])


def pattern(**detail: Any) -> str:
    names = [*BLOCK_DELIVERED_EVENTS, *BLOCK_EXPIRATION_WARNING_EVENTS]
    return json.dumps({"source": ["aws.ec2"], "detail-type": names, **({"detail": detail} if detail else {})})


def heard(local: LocalAws) -> list[tuple[datetime, str]]:
    return [(one.moment, one.event["detail-type"]) for one in local.deliveries(REGION)]


def launch(local: LocalAws, count: int, *, least: int | None = None, **changes: Any) -> list[dict[str, Any]]:
    ec2 = local.client("ec2", REGION)
    request: dict[str, Any] = {
        "ImageId": ec2.describe_images()["Images"][0]["ImageId"],
        "InstanceType": "trn2.48xlarge",
        "MinCount": count if least is None else least,
        "MaxCount": count,
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "CapacityReservationSpecification": {
            "CapacityReservationTarget": {"CapacityReservationId": RESERVATION}
        },
        **changes,
    }
    found: list[dict[str, Any]] = ec2.run_instances(**request)["Instances"]
    return found


def available(local: LocalAws) -> int:
    answer = local.client("ec2", REGION).describe_capacity_reservations(CapacityReservationIds=[RESERVATION])
    return int(answer["CapacityReservations"][0]["AvailableInstanceCount"])


def instance_states(local: LocalAws) -> set[str]:
    groups = local.client("ec2", REGION).describe_instances()["Reservations"]
    return {one["State"]["Name"] for group in groups for one in group["Instances"]}


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


# Schedules


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
        ("", {"InputPath": "$.detail"}, "does not know InputPath"),
    ],
)
def test_refuses_targets_that_it_does_not_know_and_stands_there(
    local: LocalAws, arn: str, more: dict[str, Any], told: str
) -> None:
    put_rule(local, arn or queue(local)[1], more=more, ScheduleExpression="rate(1 minute)")
    with pytest.raises(ValueError, match=told):
        local.clock.advance(5 * MINUTE)
    assert local.clock.now() == NOW + MINUTE


# Events of blocks


@pytest.mark.parametrize("older", [False, True])
def test_block_says_when_it_is_delivered_and_forty_minutes_before_its_end(
    local: LocalAws, older: bool
) -> None:
    seed()
    local.capacity_market(REGION).older_event_names = older
    put_rule(local, queue(local)[1], EventPattern=pattern(**{"capacity-reservation-id": [RESERVATION]}))
    local.clock.set(END + timedelta(days=1))
    assert heard(local) == [
        (START, BLOCK_DELIVERED_EVENTS[older]),
        (END - 40 * MINUTE, BLOCK_EXPIRATION_WARNING_EVENTS[older]),
    ]
    event = local.deliveries(REGION)[0].event
    assert event["resources"] == [f"arn:aws:ec2:{REGION}:123456789012:capacity-reservation/{RESERVATION}"]
    assert event["detail"] == {"capacity-reservation-id": RESERVATION, "end-date": "2026-12-03T11:30:00Z"}


def test_rule_for_another_block_hears_nothing(local: LocalAws) -> None:
    seed()
    put_rule(local, queue(local)[1], EventPattern=pattern(**{"capacity-reservation-id": ["cr-another"]}))
    local.clock.set(END)
    assert heard(local) == []


@pytest.mark.parametrize(("copies", "late"), [(0, 0), (2, 0), (1, 7)])
def test_events_can_be_lost_doubled_and_late(local: LocalAws, copies: int, late: int) -> None:
    seed()
    market = local.capacity_market(REGION)
    market.event_copies, market.event_delay = copies, late * MINUTE
    put_rule(local, queue(local)[1], EventPattern=pattern())
    local.clock.set(START)  # a delayed event waits over several moves
    local.clock.set(START + timedelta(hours=1))
    assert heard(local) == [(START + late * MINUTE, BLOCK_DELIVERED_EVENTS[0])] * copies
    assert {one.event["time"] for one in local.deliveries(REGION)} <= {"2026-12-02T11:30:00Z"}


def test_extension_moves_the_warning(local: LocalAws) -> None:
    seed()
    put_rule(local, queue(local)[1], EventPattern=pattern())
    local.clock.set(END - timedelta(hours=2))
    ec2 = local.client("ec2", REGION)
    (offering,) = ec2.describe_capacity_block_extension_offerings(
        CapacityReservationId=RESERVATION, CapacityBlockExtensionDurationHours=24
    )["CapacityBlockExtensionOfferings"]
    ec2.purchase_capacity_block_extension(
        CapacityReservationId=RESERVATION,
        CapacityBlockExtensionOfferingId=offering["CapacityBlockExtensionOfferingId"],
    )
    local.clock.set(END + timedelta(days=2))
    assert [moment for moment, _ in heard(local)] == [START, END + timedelta(days=1) - 40 * MINUTE]


def test_block_that_was_not_paid_sends_nothing(local: LocalAws) -> None:
    seed()
    local.capacity_market(REGION).reservations[RESERVATION].failed = True
    put_rule(local, queue(local)[1], EventPattern=pattern())
    local.clock.set(END)
    assert heard(local) == []


def test_refuses_a_filter_of_a_pattern_that_it_does_not_know(local: LocalAws) -> None:
    seed()
    put_rule(local, queue(local)[1], EventPattern=pattern(**{"end-date": [{"sounds-like": "x"}]}))
    with pytest.raises(ValueError, match="'sounds-like'"):
        local.clock.set(END)


# Instances in blocks


def test_instances_take_from_the_block_and_say_where_they_run(local: LocalAws) -> None:
    seed()
    with pytest.raises(ClientError) as early:
        launch(local, 1)
    assert code(early) == "ReservationCapacityExceeded"
    local.clock.set(START)
    assert available(local) == 4
    launch(local, 3)
    assert available(local) == 1
    with pytest.raises(ClientError) as full:
        launch(local, 2)
    assert code(full) == "ReservationCapacityExceeded"
    assert available(local) == 1
    assert len(launch(local, 2, least=1)) == 1
    groups = local.client("ec2", REGION).describe_instances()["Reservations"]
    shown = [one for group in groups for one in group["Instances"]]
    assert len(shown) == 4
    assert {(one["InstanceLifecycle"], one["CapacityReservationId"]) for one in shown} == {
        ("capacity-block", RESERVATION)
    }
    local.client("ec2", REGION).terminate_instances(InstanceIds=[shown[0]["InstanceId"]])
    assert available(local) == 1


def test_launch_takes_market_and_reservation_from_a_launch_template(local: LocalAws) -> None:
    seed()
    local.clock.set(START)
    ec2 = local.client("ec2", REGION)
    template = ec2.create_launch_template(
        LaunchTemplateName="nodes",
        LaunchTemplateData={
            "ImageId": ec2.describe_images()["Images"][0]["ImageId"],
            "InstanceType": "trn2.48xlarge",
            "InstanceMarketOptions": {"MarketType": "capacity-block"},
            "CapacityReservationSpecification": {
                "CapacityReservationTarget": {"CapacityReservationId": RESERVATION}
            },
        },
    )["LaunchTemplate"]["LaunchTemplateId"]
    (launched,) = ec2.run_instances(MinCount=1, MaxCount=1, LaunchTemplate={"LaunchTemplateId": template})[
        "Instances"
    ]
    assert (launched["InstanceType"], launched["CapacityReservationId"]) == ("trn2.48xlarge", RESERVATION)
    assert available(local) == 3


def test_launch_without_a_reservation_is_on_demand(local: LocalAws) -> None:
    seed()
    local.clock.set(START)
    (launched,) = launch(local, 1, InstanceMarketOptions={}, CapacityReservationSpecification={})
    assert "InstanceLifecycle" not in launched
    assert "CapacityReservationId" not in launched
    assert available(local) == 4


@pytest.mark.parametrize(
    "changes",
    [
        {"InstanceMarketOptions": {}},
        {"CapacityReservationSpecification": {}},
        {"InstanceType": "trn1.32xlarge"},
    ],
    ids=["no market type", "no reservation", "another type"],
)
def test_launch_that_does_not_fit_the_block_is_refused(local: LocalAws, changes: dict[str, Any]) -> None:
    seed()
    local.clock.set(START)
    with pytest.raises(ClientError) as caught:
        launch(local, 1, **changes)
    assert code(caught).startswith("InvalidParameter")
    assert available(local) == 4


@pytest.mark.parametrize(("ultraserver", "before"), [("", 30), ("u-trn2u", 60)])
def test_instances_are_warned_and_terminated_before_the_end(
    local: LocalAws, ultraserver: str, before: int
) -> None:
    seed()
    local.capacity_market(REGION).reservations[RESERVATION].ultraserver_type = ultraserver
    warning = "EC2 Capacity Reservation Instance Interruption Warning"
    put_rule(local, queue(local)[1], EventPattern=json.dumps({"detail-type": [warning]}))
    local.clock.set(START)
    ids = {one["InstanceId"] for one in launch(local, 2)}
    local.clock.set(END - (before + 1) * MINUTE)
    assert instance_states(local) == {"running"}
    local.clock.set(END - before * MINUTE)
    assert instance_states(local) == {"terminated"}
    warned = local.deliveries(REGION)
    assert {one.event["detail"]["instance-id"] for one in warned} == ids
    assert {one.moment for one in warned} == {END - (before + 10) * MINUTE}
    ends = f"{END - before * MINUTE:%Y-%m-%dT%H:%M:%SZ}"
    assert warned[0].event["detail"] | {"instance-id": ""} == {
        "instance-id": "",
        "instance-action": "terminate",
        "instance-termination-time": ends,
        "availability-zone-id": "use2-az3",
        "instance-lifecycle": "capacity-block",
    }
