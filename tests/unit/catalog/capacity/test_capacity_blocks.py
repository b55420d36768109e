from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_DELIVERED_EVENTS,
    BLOCK_END_UTC,
    BLOCK_EXPIRATION_WARNING_EVENTS,
    BLOCK_PLATFORMS,
    BLOCK_REGIONS,
    BLOCK_REGIONS_SEEN,
    DRAIN_BEFORE_END,
    EXTENSION_CLOSES,
    EXTENSION_OPENS,
    FURTHEST_START,
    LONGEST_BLOCK,
    MAX_INSTANCES_ACROSS_BLOCKS,
    MAX_INSTANCES_PER_BLOCK,
    NEAREST_START,
    TERMINATION_BEFORE_END,
    ULTRASERVER_DRAIN_BEFORE_END,
    ULTRASERVER_TERMINATION_BEFORE_END,
    block_durations,
    block_regions,
    drain_before_end,
    is_block_duration,
)
from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_spec.instance_type import get_instance_type

_DAY = 24


@pytest.fixture(scope="module")
def shapes(botocore_shapes: Callable[[str], Mapping[str, Any]]) -> Mapping[str, Any]:
    return botocore_shapes("ec2/2016-11-15")


def test_block_platforms_are_platforms_of_the_ec2_api(shapes: Mapping[str, Any]) -> None:
    assert set(BLOCK_PLATFORMS) <= set(shapes["CapacityReservationInstancePlatform"]["enum"])


def test_has_the_limits_that_the_ec2_api_documents(shapes: Mapping[str, Any]) -> None:
    request = shapes["DescribeCapacityBlockOfferingsRequest"]["members"]
    assert f"up to {LONGEST_BLOCK.days} days" in request["CapacityDurationHours"]["documentation"]
    assert (
        f"up to {MAX_INSTANCES_PER_BLOCK} instances, "
        f"and you can have up to {MAX_INSTANCES_ACROSS_BLOCKS} instances across Capacity Blocks"
    ) in request["InstanceCount"]["documentation"]


def test_has_the_clock_of_the_user_guide() -> None:
    # EC2 User Guide: Capacity Blocks for ML, considerations; Extend Capacity Blocks.
    assert BLOCK_END_UTC.isoformat() == "11:30:00"
    assert (timedelta(minutes=30), timedelta(weeks=8)) == (NEAREST_START, FURTHEST_START)
    assert (timedelta(days=57), timedelta(hours=1)) == (EXTENSION_OPENS, EXTENSION_CLOSES)


def test_every_type_with_block_regions_can_be_bought_as_a_block_by_its_name() -> None:
    sold = {name for name, row in INSTANCE_TYPES.items() if CAPACITY_BLOCK in row.purchase_options}
    assert set(BLOCK_REGIONS) == sold - {"trn2u.48xlarge"}  # sold by UltraServer
    assert set(BLOCK_REGIONS_SEEN) <= set(BLOCK_REGIONS)


def test_block_regions_exist() -> None:
    govcloud = {"us-gov-east-1", "us-gov-west-1"}
    named = {region for name in INSTANCE_TYPES for region in block_regions(name)}
    assert named <= {*REGIONS, *govcloud}


def test_a_region_is_listed_once_for_a_type() -> None:
    for name in INSTANCE_TYPES:
        assert len(set(block_regions(name))) == len(block_regions(name))


def test_searches_trn2_in_the_regions_of_the_guide_and_where_it_was_seen() -> None:
    assert block_regions("trn2.48xlarge") == ("us-east-2", "ap-south-2")


def test_looks_for_trn2u_where_its_ultraserver_is_sold() -> None:
    assert block_regions("trn2u.48xlarge") == ("us-east-2",)


@pytest.mark.parametrize("name", ["trn1.2xlarge", "trn1n.32xlarge", "inf2.48xlarge", "m7i.large"])
def test_has_no_regions_for_types_without_blocks(name: str) -> None:
    assert block_regions(name) == ()


def test_work_stops_ten_minutes_before_ec2_terminates() -> None:
    ten = timedelta(minutes=10)
    assert ten == DRAIN_BEFORE_END - TERMINATION_BEFORE_END
    assert ten == ULTRASERVER_DRAIN_BEFORE_END - ULTRASERVER_TERMINATION_BEFORE_END
    assert drain_before_end(get_instance_type("trn2.48xlarge")) == timedelta(minutes=40)
    assert drain_before_end(get_instance_type("trn2u.48xlarge")) == timedelta(minutes=70)


def test_matches_four_spellings_of_the_events() -> None:
    assert {*BLOCK_DELIVERED_EVENTS, *BLOCK_EXPIRATION_WARNING_EVENTS} == {
        "Capacity Block Delivered",
        "Capacity Block Reservation Delivered",
        "Capacity Block Expiration Warning",
        "Capacity Block Reservation Expiration Warning",
    }


def test_blocks_last_whole_days_to_fourteen_then_whole_weeks_to_twenty_six() -> None:
    sold = [hours / _DAY for hours in range(-_DAY, 200 * _DAY) if is_block_duration(hours)]
    assert sold == [*range(1, 15), *range(21, 183, 7)]


def test_lists_durations_with_both_bounds_included() -> None:
    assert block_durations(min_hours=24, max_hours=24) == (24,)
    assert block_durations(min_hours=25, max_hours=71) == (48,)
    assert block_durations(min_hours=13 * _DAY, max_hours=21 * _DAY) == (13 * _DAY, 14 * _DAY, 21 * _DAY)
    assert block_durations(min_hours=48, max_hours=24) == ()
    assert len(block_durations(min_hours=0, max_hours=10_000)) == 14 + 24
