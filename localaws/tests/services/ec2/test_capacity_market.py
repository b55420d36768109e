"""The market for Capacity Blocks: what is offered where, and for how much."""

from datetime import UTC, timedelta
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.services.ec2.capacity_calls import NOW, REGION, buy, code, search

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def test_offerings_start_and_end_at_half_past_eleven_in_zones_that_have_the_type(ec2: Any) -> None:
    found = search(ec2)
    assert found
    for one in found:
        assert (one["StartDate"].astimezone(UTC).hour, one["StartDate"].minute) == (11, 30)
        assert one["EndDate"] - one["StartDate"] == timedelta(hours=48)
        assert one["StartDate"] > NOW
        assert one["AvailabilityZone"].startswith(REGION)
        assert one["InstanceCount"] == 4


def test_blocks_cost_their_list_price_in_each_zone(ec2: Any) -> None:
    found = search(ec2)
    assert {one["UpfrontFee"] for one in found} == {"6866.07"}  # 35.7608 USD for 4 instances and 48 hours
    assert len({one["AvailabilityZone"] for one in found}) > 1


def test_repeated_search_returns_the_same_ids(ec2: Any) -> None:
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


def test_quota_of_zero_is_answered_with_the_error_that_also_means_a_rate_limit(
    ec2: Any, local_aws: LocalAws
) -> None:
    local_aws.capacity_market(REGION).block_quota_vcpus = 0
    with pytest.raises(ClientError, match="existing service limits") as caught:
        search(ec2)
    assert code(caught) == "CapacityBlockDescribeLimitExceeded"
    local_aws.capacity_market(REGION).block_quota_vcpus = 4 * 192
    assert search(ec2)


def test_a_split_offering_becomes_one_reservation_per_segment(ec2: Any, local_aws: LocalAws) -> None:
    local_aws.capacity_market(REGION).split = True
    offering = search(ec2, InstanceCount=5)[0]
    segments = offering["CapacityBlockOfferingSegments"]
    assert [one["InstanceCount"] for one in segments] == [3, 2]
    assert sum(Decimal(one["UpfrontFee"]) for one in segments) == Decimal(offering["UpfrontFee"])
    made = buy(ec2, offering)["CapacityReservations"]
    assert [one["AvailabilityZone"] for one in made] == [one["AvailabilityZone"] for one in segments]
