"""Capacity Blocks: offerings, fake purchases and states over time."""

from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.services.ec2.capacity_calls import NOW, REGION, buy, code, search, state

from ultracluster_local import LocalAws
from ultracluster_local.seeding.seed import seed_capacity_block

pytestmark = pytest.mark.slow


def test_dry_run_is_answered_by_an_error_and_buys_nothing(ec2: Any, local_aws: LocalAws) -> None:
    with pytest.raises(ClientError) as caught:
        buy(ec2, search(ec2)[0], DryRun=True)
    assert code(caught) == "DryRunOperation"
    assert local_aws.capacity_market(REGION).purchases == 0
    assert ec2.describe_capacity_reservations()["CapacityReservations"] == []


def test_block_is_scheduled_then_active_then_expired(ec2: Any, local_aws: LocalAws) -> None:
    offering = search(ec2)[0]
    reservation = buy(ec2, offering)["CapacityReservation"]
    one = reservation["CapacityReservationId"]
    assert (reservation["State"], reservation["AvailableInstanceCount"]) == ("scheduled", 0)
    assert reservation["ReservationType"] == "capacity-block"
    assert reservation["InstanceMatchCriteria"] == "targeted"
    for moment, expected in (
        (offering["StartDate"] - timedelta(seconds=1), "scheduled"),
        (offering["StartDate"], "active"),
        (offering["EndDate"] - timedelta(seconds=1), "active"),
        (offering["EndDate"], "expired"),
    ):
        local_aws.clock.set(moment)
        assert state(ec2, one) == expected


def test_payment_can_take_time_and_fail(ec2: Any, local_aws: LocalAws) -> None:
    market = local_aws.capacity_market(REGION)
    market.payment_takes, market.payment_fails = timedelta(hours=1), True
    one = buy(ec2, search(ec2)[0])["CapacityReservation"]["CapacityReservationId"]
    assert state(ec2, one) == "payment-pending"
    local_aws.clock.advance(timedelta(hours=1))
    assert state(ec2, one) == "payment-failed"


def test_second_request_for_the_same_offering_buys_again_unless_it_is_gone(
    ec2: Any, local_aws: LocalAws
) -> None:
    offering = search(ec2)[0]
    first, second = buy(ec2, offering), buy(ec2, offering)
    ids = {one["CapacityReservation"]["CapacityReservationId"] for one in (first, second)}
    assert len(ids) == local_aws.capacity_market(REGION).purchases == 2
    local_aws.capacity_market(REGION).sell_again = False
    buy(ec2, offering)
    with pytest.raises(ClientError, match="does not exist or is gone"):
        buy(ec2, offering)


def test_unknown_offering_and_wrong_platform_are_refused(ec2: Any) -> None:
    with pytest.raises(ClientError) as caught:
        buy(ec2, {"CapacityBlockOfferingId": "cbr-00000000000000000"})
    assert code(caught) == "InvalidCapacityBlockOfferingId.NotFound"
    with pytest.raises(ClientError, match="platform"):
        ec2.purchase_capacity_block(
            CapacityBlockOfferingId=search(ec2)[0]["CapacityBlockOfferingId"], InstancePlatform="Windows"
        )


def test_ultraservers_are_separate_blocks(ec2: Any) -> None:
    offering = ec2.describe_capacity_block_offerings(
        UltraserverType="u-trn2x64", UltraserverCount=2, CapacityDurationHours=24
    )["CapacityBlockOfferings"][0]
    assert offering["InstanceCount"] == 8
    bought = buy(ec2, offering)
    assert len(bought["CapacityBlocks"]) == len(bought["CapacityReservations"]) == 2
    blocks = ec2.describe_capacity_blocks()["CapacityBlocks"]
    assert {one["UltraserverType"] for one in blocks} == {"u-trn2x64"}
    assert [len(one["CapacityReservationIds"]) for one in blocks] == [1, 1]


def test_status_shows_what_is_out_of_order(ec2: Any, local_aws: LocalAws) -> None:
    offering = search(ec2)[0]
    one = buy(ec2, offering)["CapacityReservation"]["CapacityReservationId"]
    local_aws.clock.set(offering["StartDate"])
    local_aws.capacity_market(REGION).unavailable[one] = 1
    (status,) = ec2.describe_capacity_block_status()["CapacityBlockStatuses"]
    assert (status["InterconnectStatus"], status["TotalAvailableCapacity"]) == ("impaired", 3)


def test_block_can_be_neither_cancelled_nor_changed(ec2: Any) -> None:
    one = buy(ec2, search(ec2)[0])["CapacityReservation"]["CapacityReservationId"]
    with pytest.raises(ClientError, match="cannot be cancelled"):
        ec2.cancel_capacity_reservation(CapacityReservationId=one)
    with pytest.raises(ClientError, match="cannot be modified"):
        ec2.modify_capacity_reservation(CapacityReservationId=one, InstanceCount=1)


def test_seeded_block_is_there_without_a_purchase(ec2: Any, local_aws: LocalAws) -> None:
    seed_capacity_block(
        reservation_id="cr-0123456789abcdef0",
        instance_type="trn2.48xlarge",
        count=16,
        zone_id="use2-az3",
        start=NOW - timedelta(days=1),
        end=NOW + timedelta(days=13),
        region=REGION,
    )
    found = ec2.describe_capacity_reservations(CapacityReservationIds=["cr-0123456789abcdef0"])
    (one,) = found["CapacityReservations"]
    assert (one["State"], one["TotalInstanceCount"], one["AvailabilityZoneId"]) == ("active", 16, "use2-az3")
    assert local_aws.capacity_market(REGION).purchases == 0
    with pytest.raises(ValueError, match="us-east-2 has no zone use1-az4"):
        seed_capacity_block(
            reservation_id="cr-1",
            instance_type="x",
            count=1,
            zone_id="use1-az4",
            start=NOW,
            end=NOW,
            region=REGION,
        )
