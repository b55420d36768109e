"""What happens to Capacity Blocks when the clock is moved: their events, and the instances in them."""

import json
from datetime import timedelta
from typing import Any

import pytest
from tests.events.event_rules import DELIVERED, EXPIRATION_WARNING, MINUTE, REGION, heard, put_rule, queue
from tests.services.ec2.blocks_and_instances import END, RESERVATION, START, launch, seed

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def pattern(**detail: Any) -> str:
    names = [*DELIVERED, *EXPIRATION_WARNING]
    return json.dumps({"source": ["aws.ec2"], "detail-type": names, **({"detail": detail} if detail else {})})


def instance_states(local: LocalAws) -> set[str]:
    groups = local.client("ec2", REGION).describe_instances()["Reservations"]
    return {one["State"]["Name"] for group in groups for one in group["Instances"]}


@pytest.mark.parametrize("older", [False, True])
def test_a_block_sends_events_at_delivery_and_forty_minutes_before_its_end(
    local: LocalAws, older: bool
) -> None:
    seed()
    local.capacity_market(REGION).older_event_names = older
    put_rule(local, queue(local)[1], EventPattern=pattern(**{"capacity-reservation-id": [RESERVATION]}))
    local.clock.set(END + timedelta(days=1))
    assert heard(local) == [
        (START, DELIVERED[older]),
        (END - 40 * MINUTE, EXPIRATION_WARNING[older]),
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
    assert heard(local) == [(START + late * MINUTE, DELIVERED[0])] * copies
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
