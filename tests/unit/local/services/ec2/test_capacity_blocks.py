"""Capacity Blocks: offerings, fake purchases and states over time."""

from datetime import UTC, timedelta
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.local.services.ec2.capacity_calls import NOW, REGION, buy, code, search, state

from ultracluster_local import LocalAws
from ultracluster_local.seeding.seed import seed_capacity_block

pytestmark = pytest.mark.deploy


@pytest.fixture
def ec2(local_aws: LocalAws) -> Any:
    local_aws.clock.set(NOW)
    return local_aws.client("ec2", REGION)


def test_offerings_start_and_end_at_half_past_eleven_in_zones_that_have_the_type(ec2: Any) -> None:
    found = search(ec2)
    assert found
    for one in found:
        assert (one["StartDate"].astimezone(UTC).hour, one["StartDate"].minute) == (11, 30)
        assert one["EndDate"] - one["StartDate"] == timedelta(hours=48)
        assert one["StartDate"] > NOW
        assert one["AvailabilityZone"].startswith(REGION)
        assert one["InstanceCount"] == 4


def test_money_is_visibly_fake_one_cent_for_each_node_and_hour(ec2: Any) -> None:
    cheapest = min(Decimal(one["UpfrontFee"]) for one in search(ec2))
    assert cheapest == Decimal("0.01") * 4 * 48


def test_same_search_gives_the_same_ids(ec2: Any) -> None:
    ids = [[one["CapacityBlockOfferingId"] for one in search(ec2)] for _ in range(2)]
    assert ids[0] == ids[1]


def test_date_ranges_narrow_the_search(ec2: Any) -> None:
    starts = [one["StartDate"] for one in search(ec2)]
    later = search(ec2, StartDateRange=min(starts) + timedelta(days=1))
    assert later
    assert min(one["StartDate"] for one in later) > min(starts)
    assert search(ec2, EndDateRange=NOW + timedelta(days=1)) == []


def test_offerings_come_in_pages(ec2: Any) -> None:
    pages = list(
        ec2.get_paginator("describe_capacity_block_offerings").paginate(
            InstanceType="trn2.48xlarge", CapacityDurationHours=24, PaginationConfig={"PageSize": 2}
        )
    )
    ids = [one["CapacityBlockOfferingId"] for page in pages for one in page["CapacityBlockOfferings"]]
    assert len(pages) > 1
    assert len(set(ids)) == len(ids) == len(search(ec2, InstanceCount=1, CapacityDurationHours=24))


@pytest.mark.parametrize("hours", [24, 24 * 14, 24 * 21, 24 * 182])
def test_durations_that_are_sold(ec2: Any, hours: int) -> None:
    assert search(ec2, CapacityDurationHours=hours)


@pytest.mark.parametrize(
    "changes",
    [
        {"CapacityDurationHours": 12},
        {"CapacityDurationHours": 24 * 15},
        {"CapacityDurationHours": 24 * 189},
        {"InstanceCount": 65},
        {"InstanceType": "trn1n.32xlarge"},
        {"InstanceType": "trn2u.48xlarge"},
        {"InstanceType": "p5.4xlargee"},
    ],
    ids=str,
)
def test_what_is_not_sold_is_refused(ec2: Any, changes: dict[str, Any]) -> None:
    with pytest.raises(ClientError) as caught:
        search(ec2, **changes)
    assert code(caught) == "InvalidParameterValue"


def test_type_is_refused_in_a_region_that_does_not_sell_it_unless_the_market_does(
    local_aws: LocalAws,
) -> None:
    west = local_aws.client("ec2", "us-west-2")
    with pytest.raises(ClientError, match="not supported for Capacity Blocks in 'us-west-2'"):
        search(west)
    local_aws.capacity_market("us-west-2").sold_everywhere = True
    assert search(west)


def test_quota_of_zero_is_told_by_the_error_that_also_means_a_rate_limit(
    ec2: Any, local_aws: LocalAws
) -> None:
    local_aws.capacity_market(REGION).block_quota_vcpus = 0
    with pytest.raises(ClientError, match="existing service limits") as caught:
        search(ec2)
    assert code(caught) == "CapacityBlockDescribeLimitExceeded"
    local_aws.capacity_market(REGION).block_quota_vcpus = 4 * 192
    assert search(ec2)


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


def test_tags_find_what_was_bought(ec2: Any) -> None:
    tags = [{"ResourceType": "capacity-reservation", "Tags": [{"Key": "order", "Value": "1"}]}]
    one = buy(ec2, search(ec2)[0], TagSpecifications=tags)["CapacityReservation"]["CapacityReservationId"]
    buy(ec2, search(ec2)[1])
    for filters in (
        [{"Name": "tag:order", "Values": ["1"]}],
        [{"Name": "tag-key", "Values": ["order"]}],
        [{"Name": "tag:order", "Values": ["?"]}, {"Name": "state", "Values": ["scheduled", "active"]}],
    ):
        found = ec2.describe_capacity_reservations(Filters=filters)["CapacityReservations"]
        assert [each["CapacityReservationId"] for each in found] == [one]
    ec2.create_tags(Resources=[one], Tags=[{"Key": "late", "Value": "x"}])
    ec2.delete_tags(Resources=[one], Tags=[{"Key": "order"}])
    found = ec2.describe_capacity_reservations(CapacityReservationIds=[one])["CapacityReservations"][0]
    assert {tag["Key"] for tag in found["Tags"] if not tag["Key"].startswith("aws:")} == {"late"}


def test_unknown_filter_is_refused(ec2: Any) -> None:
    with pytest.raises(ClientError, match="filter 'colour' is invalid"):
        ec2.describe_capacity_reservations(Filters=[{"Name": "colour", "Values": ["red"]}])


def test_ultraservers_are_blocks_of_their_own(ec2: Any) -> None:
    offering = ec2.describe_capacity_block_offerings(
        UltraserverType="u-trn2x64", UltraserverCount=2, CapacityDurationHours=24
    )["CapacityBlockOfferings"][0]
    assert offering["InstanceCount"] == 8
    bought = buy(ec2, offering)
    assert len(bought["CapacityBlocks"]) == len(bought["CapacityReservations"]) == 2
    blocks = ec2.describe_capacity_blocks()["CapacityBlocks"]
    assert {one["UltraserverType"] for one in blocks} == {"u-trn2x64"}
    assert [len(one["CapacityReservationIds"]) for one in blocks] == [1, 1]


def test_split_offering_gives_a_reservation_for_each_segment(ec2: Any, local_aws: LocalAws) -> None:
    local_aws.capacity_market(REGION).split = True
    offering = search(ec2, InstanceCount=5)[0]
    segments = offering["CapacityBlockOfferingSegments"]
    assert [one["InstanceCount"] for one in segments] == [3, 2]
    assert sum(Decimal(one["UpfrontFee"]) for one in segments) == Decimal(offering["UpfrontFee"])
    made = buy(ec2, offering)["CapacityReservations"]
    assert [one["AvailabilityZone"] for one in made] == [one["AvailabilityZone"] for one in segments]


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
