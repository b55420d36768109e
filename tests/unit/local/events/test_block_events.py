"""What happens to Capacity Blocks when the clock is moved: their events, and the instances in them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.local.events.event_rules import MINUTE, NOW, REGION, heard, put_rule, queue

from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_DELIVERED_EVENTS,
    BLOCK_EXPIRATION_WARNING_EVENTS,
)
from ultracluster_local import LocalAws
from ultracluster_local.seeding.seed import seed_capacity_block

pytestmark = pytest.mark.deploy

START = datetime(2026, 12, 2, 11, 30, tzinfo=UTC)
END = datetime(2026, 12, 3, 11, 30, tzinfo=UTC)
RESERVATION = "cr-0123456789abcdef0"
IMAGE = [{"Name": "name", "Values": ["al2023-ami-2023*"]}]  # of the thousand that a Region has


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


def pattern(**detail: Any) -> str:
    names = [*BLOCK_DELIVERED_EVENTS, *BLOCK_EXPIRATION_WARNING_EVENTS]
    return json.dumps({"source": ["aws.ec2"], "detail-type": names, **({"detail": detail} if detail else {})})


def launch(local: LocalAws, count: int, *, least: int | None = None, **changes: Any) -> list[dict[str, Any]]:
    ec2 = local.client("ec2", REGION)
    request: dict[str, Any] = {
        "ImageId": ec2.describe_images(Filters=IMAGE)["Images"][0]["ImageId"],
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
            "ImageId": ec2.describe_images(Filters=IMAGE)["Images"][0]["ImageId"],
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
