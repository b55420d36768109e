"""One record of a rollout file becomes capacity of one kind."""

import pytest

from ultracluster_spec.capacity import (
    RECORD_RULES,
    AdditionalCapacity,
    Capacity,
    CapacityBlock,
    CapacityRecord,
    CapacityReservation,
    OnDemand,
    ReservationGroup,
    Spot,
    check_block_duration,
    placeholder_reservation,
)
from ultracluster_spec.rules import findings
from ultracluster_spec.values import fields_of

_RESERVATION = "cr-0123456789abcdef0"
_GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/training"
_ZONE = "use2-az3"


@pytest.mark.parametrize(
    ("record", "source"),
    [
        (
            CapacityRecord(reservation_id=_RESERVATION),
            CapacityBlock(reservation_id=_RESERVATION, zone_id=_ZONE),
        ),
        (
            CapacityRecord(market_type="on-demand", reservation_id=_RESERVATION, placement_group="near"),
            CapacityReservation(reservation_id=_RESERVATION, zone_id=_ZONE, placement_group="near"),
        ),
        (
            CapacityRecord(market_type="on-demand", resource_group_arn=_GROUP, max_nodes=2),
            ReservationGroup(resource_group_arn=_GROUP, zone_id=_ZONE, max_nodes=2),
        ),
        (CapacityRecord(market_type="on-demand"), OnDemand(zone_id=_ZONE)),
        (
            AdditionalCapacity(name="spill", market_type="spot", max_price_percent=60),
            Spot(name="spill", zone_id=_ZONE, max_price_percent=60),
        ),
    ],
)
def test_a_record_is_capacity_of_the_kind_that_it_names(record: CapacityRecord, source: Capacity) -> None:
    assert record.source(zone_id=_ZONE) == source


@pytest.mark.parametrize("kind", [CapacityBlock, CapacityReservation, ReservationGroup, OnDemand, Spot])
def test_a_kind_has_settings_of_the_record_and_its_name_and_zone(kind: type[Capacity]) -> None:
    assert fields_of(kind).keys() <= {*fields_of(CapacityRecord), "name", "zone_id"}


# Another default replaces the compute environments of users.
@pytest.mark.parametrize(
    ("capacity", "strategy", "prepaid"),
    [
        (CapacityBlock(reservation_id=_RESERVATION, zone_id=_ZONE), "best-fit", True),
        (CapacityReservation(reservation_id=_RESERVATION, zone_id=_ZONE), "best-fit-progressive", True),
        (ReservationGroup(resource_group_arn=_GROUP, zone_id=_ZONE), "best-fit-progressive", True),
        (OnDemand(), "best-fit-progressive", False),
        (Spot(), "price-capacity-optimized", False),
    ],
)
def test_the_strategy_of_batch_has_the_default_of_the_kind(
    capacity: Capacity, strategy: str, prepaid: bool
) -> None:
    assert (capacity.strategy, capacity.prepaid) == (strategy, prepaid)


def test_an_unreadable_reservation_hides_no_other_finding() -> None:
    record = CapacityRecord(reservation_id=_RESERVATION, max_price_percent=60, allocation_strategy="best-fit")
    assert [each.path for each in findings(RECORD_RULES, record)] == ["max_price_percent"]
    known = record.without({"reservation_id"})
    assert [each.path for each in findings(RECORD_RULES, known)] == ["max_price_percent"]


def test_a_placeholder_is_a_reservation_of_the_order_and_no_other() -> None:
    assert placeholder_reservation("december").startswith("cr-000000000")
    assert placeholder_reservation("december") != placeholder_reservation("january")


@pytest.mark.parametrize("hours", [24, 336, 504, 4368])
def test_accepts_a_duration_that_is_sold(hours: int) -> None:
    assert check_block_duration(hours) == []


@pytest.mark.parametrize(
    ("hours", "nearest"),
    [
        (0, "24 hours"),
        (12, "24 hours"),
        (25, "24 hours and 48 hours"),
        (360, "336 hours and 504 hours"),
        (4369, "4368 hours"),
        (4536, "4368 hours"),
    ],
)
def test_refuses_a_duration_that_is_not_sold_and_names_the_nearest(hours: int, nearest: str) -> None:
    (finding,) = check_block_duration(hours)
    assert finding.code == "UC7101"
    assert finding.remedy == f"Nearest valid durations: {nearest}."
