"""Parsing offerings, and ranking them by their exact duration."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.purchasing.ec2_fixtures import answered_offering
from tests.unit.runtime.purchasing.example_orders import block_order, offering, ultraserver_offering

from ultracluster_runtime.purchasing.offerings import RANKINGS, Offering, parse_offering, rank_offerings
from ultracluster_runtime.purchasing.quotes import violated_terms

START = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
ZONES = {"us-east-2a": "use2-az1", "us-east-2c": "use2-az3"}
LASTS: dict[str, Any] = {
    "EndDate": START + timedelta(hours=23, minutes=30),
    "CapacityBlockDurationHours": 23,
    "CapacityBlockDurationMinutes": 30,
}
ANSWER = answered_offering(START, **LASTS)
SEGMENT: dict[str, Any] = {
    "InstanceType": "trn2.48xlarge",
    "AvailabilityZone": "us-east-2a",
    "InstanceCount": 8,
    "StartDate": START,
    "UpfrontFee": "6723.03",
    "CurrencyCode": "USD",
    **LASTS,
}


def parse(**changes: Any) -> Offering:
    return parse_offering({**ANSWER, **changes}, region="us-east-2", zone_ids=ZONES)


def test_reads_an_offering() -> None:
    read = parse()
    assert read.fee == Decimal("13446.06")
    assert read.zone_ids == ("use2-az3",)
    assert read.duration == timedelta(hours=23, minutes=30)
    assert read.node_hours == Decimal(376)


def test_counts_hours_and_minutes_exactly() -> None:
    # 13,446.06 for 16 instances of 23.5 hours: 35.7608 for each instance-hour, the list price.
    assert round(parse().fee_per_node_hour, 4) == Decimal("35.7608")
    assert round(parse().fee_per_chip_hour or 0, 6) == Decimal("2.235050")
    assert round(parse().fee_per_core_hour or 0, 6) == Decimal(
        "0.279381"
    )  # 8 NeuronCores for each of 16 chips


def test_leaves_the_drain_out_of_the_usable_hours() -> None:
    assert parse().usable_node_hours == 16 * (Decimal(1410 - 40) / 60)
    ultraserver = ultraserver_offering()
    drained = ultraserver.node_hours - ultraserver.usable_node_hours
    assert round(drained, 9) == round(ultraserver.instance_count * Decimal(70) / 60, 9)


def test_reads_the_segments_of_an_offering() -> None:
    read = parse(CapacityBlockOfferingSegments=[SEGMENT, {**SEGMENT, "AvailabilityZone": "us-east-2c"}])
    assert read.zone_ids == ("use2-az1", "use2-az3")
    assert [segment.instance_count for segment in read.segments] == [8, 8]
    assert violated_terms(block_order(), read)


def test_segment_in_an_unknown_zone_makes_all_zones_unknown() -> None:
    read = parse(CapacityBlockOfferingSegments=[SEGMENT, {**SEGMENT, "AvailabilityZone": "us-east-2z"}])
    assert read.zone_ids == ()
    assert any("zone" in reason for reason in violated_terms(block_order(), read))


def test_mixed_offering_has_no_price_per_chip() -> None:
    other = {**SEGMENT, "InstanceType": "trn1.32xlarge"}
    assert parse(CapacityBlockOfferingSegments=[SEGMENT, other]).fee_per_chip_hour is None


def test_counts_the_instances_of_ultraservers() -> None:
    read = parse(InstanceType=None, InstanceCount=None, UltraserverType="u-trn2x64", UltraserverCount=2)
    assert read.instance_count == 8
    assert read.fee_per_chip_hour is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"UpfrontFee": None},
        {"UpfrontFee": ""},
        {"UpfrontFee": "0"},
        {"UpfrontFee": "-5"},
        {"UpfrontFee": "NaN"},
        {"UpfrontFee": "Infinity"},
        {"UpfrontFee": 13446.06},
        {"UpfrontFee": "13,446.06"},
        {"InstanceCount": 0},
        {"InstanceCount": None},
        {"InstanceCount": True},
        {"StartDate": datetime(2026, 12, 1)},  # noqa: DTZ001 - that is the mistake
        {"StartDate": "2026-12-01T12:00:00Z"},
        {"EndDate": START},
        {"CapacityBlockDurationHours": 0, "CapacityBlockDurationMinutes": 0},
        {"CapacityBlockDurationHours": None},
    ],
)
def test_refuses_invalid_offerings(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(**changes)


@pytest.mark.parametrize(
    "missing", ["CapacityBlockOfferingId", "StartDate", "EndDate", "UpfrontFee", "CurrencyCode"]
)
def test_refuses_an_offering_with_a_missing_member(missing: str) -> None:
    answer = {name: value for name, value in ANSWER.items() if name != missing}
    with pytest.raises(ValueError, match="cannot be read"):
        parse_offering(answer, region="us-east-2", zone_ids=ZONES)


def test_the_examples_have_the_members_of_the_api() -> None:
    from botocore.session import get_session

    shape = get_session().get_service_model("ec2").shape_for("CapacityBlockOffering")
    assert set(ANSWER) <= set(shape.members)
    assert set(SEGMENT) <= set(shape.members["CapacityBlockOfferingSegments"].member.members)


CHEAP_LATE = offering(
    offering_id="late", fee=Decimal(1000), start=START + timedelta(days=9), end=START + timedelta(days=10)
)
DEAR_SOON = offering(offering_id="soon", fee=Decimal(9000), start=START, end=START + timedelta(days=14))
ONE_DAY = offering(
    offering_id="day",
    fee=Decimal(1500),
    start=START + timedelta(days=1),
    end=START + timedelta(days=2),
    duration=timedelta(days=1),
)


@pytest.mark.parametrize(
    ("ranking", "best"),
    [
        ("total", "late"),
        ("start", "soon"),
        ("chip-hour", "late"),
        ("core-hour", "late"),
        ("node-hours", "late"),
    ],
)
def test_ranks_by(ranking: str, best: str) -> None:
    ranked = rank_offerings([DEAR_SOON, ONE_DAY, CHEAP_LATE], by=ranking)
    assert ranked[0].offering_id == best
    assert len(ranked) == 3


def test_unknown_figures_rank_last() -> None:
    unknown = offering(offering_id="unknown", instance_type="trn9.huge", fee=Decimal(1))
    assert rank_offerings([unknown, DEAR_SOON], by="chip-hour")[-1].offering_id == "unknown"


def test_every_ranking_is_tested_here() -> None:
    assert set(RANKINGS) == {"total", "start", "chip-hour", "core-hour", "node-hours"}
