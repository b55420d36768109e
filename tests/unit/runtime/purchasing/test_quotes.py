"""Requests to EC2 for a quote, and the quote, field by field."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.purchasing.ec2_fixtures import extension, owned
from tests.unit.runtime.purchasing.example_orders import (
    block_order,
    extension_order,
    offering,
    on_demand_order,
    ultraserver_offering,
)
from tests.unit.runtime.purchasing.protocol_player import pages, play
from tests.unit.runtime.purchasing.simulation import OWNED, OWNED_END, START

from ultracluster_catalog.capacity.capacity_blocks import LONGEST_BLOCK
from ultracluster_runtime.purchasing.ec2_objects import (
    CreateReservation,
    ExtensionOffering,
    PurchaseBlock,
    PurchaseExtension,
    Quote,
)
from ultracluster_runtime.purchasing.effects import (
    DescribeExtensionHistory,
    DescribeExtensionOfferings,
    DescribeOfferings,
    DescribeReservations,
)
from ultracluster_runtime.purchasing.quotes import choose_quote, violated_terms

ANOTHER = "cr-00000000000000001"
LOOK = "Search offerings with `ultracluster capacity find`, and approve an order with other terms."


def longer(**changes: Any) -> ExtensionOffering:
    fields: dict[str, Any] = {
        "offering_id": "cbe-b",
        "reservation_id": OWNED,
        "start": OWNED_END,
        "end": OWNED_END + timedelta(days=1),
        "hours": 24,
        "fee": Decimal(9000),
        "currency": "USD",
    }
    return ExtensionOffering(**{**fields, **changes})


def extending(
    *, reservations: Any = None, history: Any = (), offered: Any = (), now: Any = START, **changes: Any
) -> tuple[list[Any], Any]:
    listings = pages(
        (DescribeReservations, [owned()] if reservations is None else list(reservations)),
        (DescribeExtensionHistory, list(history)),
        (DescribeExtensionOfferings, list(offered)),
    )
    return play(choose_quote(extension_order(**changes), now=now), listings)


def test_asks_every_region_for_every_duration_page_by_page() -> None:
    order = block_order(regions=("us-east-2", "us-west-2"), zone_ids=(), request_hours=(312, 336))

    asked, _ = play(choose_quote(order, now=START), pages())

    assert asked == [
        DescribeOfferings(
            region=region,
            instance_type="trn2.48xlarge",
            ultraserver_type=None,
            count=16,
            hours=hours,
            start_after=START,
            end_by=START + timedelta(days=30, hours=360),
            page=page,
        )
        for region in ("us-east-2", "us-west-2")
        for hours in (312, 336)
        for page in (None, "more")
    ]


def test_asks_for_ultraservers_that_end_in_time() -> None:
    end = START + timedelta(days=24)
    order = block_order(instance_type=None, ultraserver_type="u-trn2x64", count=2, end_by=end)
    offered = pages((DescribeOfferings, [ultraserver_offering()]))

    (first, *_), quote = play(choose_quote(order, now=START), offered)

    assert isinstance(first, DescribeOfferings)
    assert (first.instance_type, first.ultraserver_type, first.count) == (None, "u-trn2x64", 2)
    assert first.end_by == end
    assert quote.request.ultraserver is True


def test_quotes_the_best_of_all_regions_and_durations() -> None:
    dear, best = offering(offering_id="cb-dear", fee=Decimal(199999)), offering()

    def answer(effect: Any) -> Any:
        listed = [dear, best] if effect.region == "us-east-2" else []
        return pages((DescribeOfferings, listed))(effect)

    order = block_order(platform="Ubuntu Pro", regions=("us-east-2", "us-west-2"))
    _, quote = play(choose_quote(order, now=START), answer)

    assert quote == Quote(
        request=PurchaseBlock(
            region="us-east-2",
            offering_id="cb-good",
            platform="Ubuntu Pro",
            order_name="december",
            ultraserver=False,
        ),
        offering_id="cb-good",
        fee=Decimal("192241.66"),
        currency="USD",
        start=START + timedelta(days=10),
        end=START + timedelta(days=24),
        zone_ids=("use2-az3",),
        offering=best,
    )


def test_quotes_by_the_ranking_of_the_order() -> None:
    sooner = offering(offering_id="cb-sooner", start=START + timedelta(days=1), fee=Decimal(199999))
    offered = pages((DescribeOfferings, [offering(), sooner]))

    assert play(choose_quote(block_order(prefer="start"), now=START), offered)[1].offering_id == "cb-sooner"


@pytest.mark.parametrize(
    ("order", "offer", "broken"),
    [
        ({}, {"currency": "EUR"}, ["the currency is EUR, not USD"]),
        ({}, {"fee": Decimal("200000.01")}, ["the fee 200000.01 is above the cap 200000"]),
        ({}, {"fee": Decimal(200000)}, []),
        ({}, {"instance_count": 8}, ["it has 8 instances"]),
        ({}, {"ultraserver_type": "u-trn2x64"}, ["it has 16 instances"]),
        ({}, {"instance_type": "trn1.32xlarge"}, ["it has instances of type trn1.32xlarge"]),
        (
            {"instance_type": None, "ultraserver_type": "u-trn2x64", "count": 2},
            {"ultraserver_type": "u-trn2x64", "ultraserver_count": 1},
            ["it is 1 of UltraServer u-trn2x64"],
        ),
        (
            {"instance_type": None, "ultraserver_type": "u-trn2x64", "count": 2},
            {"ultraserver_type": "u-other", "ultraserver_count": 2},
            ["it is 2 of UltraServer u-other"],
        ),
        ({}, {"region": "us-west-2"}, ["it is in us-west-2"]),
        (
            {},
            {"zone_ids": ("use2-az1", "use2-az3"), "zone": "us-east-2a"},
            ["it is in zone use2-az1, use2-az3"],
        ),
        ({}, {"zone_ids": (), "zone": "us-east-2a"}, ["it is in zone us-east-2a"]),
        ({"zone_ids": ()}, {"zone_ids": ()}, []),
        ({}, {"start": START}, []),
        (
            {},
            {"start": START - timedelta(seconds=1)},
            ["it starts at 2026-11-20T08:59:59+00:00"],
        ),
        ({}, {"start": START + timedelta(days=30)}, []),
        (
            {},
            {"start": START + timedelta(days=30, seconds=1)},
            ["it starts at 2026-12-20T09:00:01+00:00"],
        ),
        ({"end_by": START + timedelta(days=24)}, {}, []),
        (
            {"end_by": START + timedelta(days=24, seconds=-1)},
            {},
            ["it ends at 2026-12-14T09:00:00+00:00"],
        ),
        ({}, {"duration": timedelta(hours=312)}, []),
        ({}, {"duration": timedelta(hours=360)}, []),
        ({}, {"duration": timedelta(hours=311)}, ["it lasts 12 days, 23:00:00"]),
        ({}, {"duration": timedelta(hours=361)}, ["it lasts 15 days, 1:00:00"]),
    ],
)
def test_reports_each_term_that_an_offering_violates(
    order: dict[str, Any], offer: dict[str, Any], broken: list[str]
) -> None:
    assert violated_terms(block_order(**order), offering(**offer)) == broken


def test_reports_the_violations_of_the_first_five_offerings() -> None:
    offers = [offering(offering_id=f"cb-{index}", currency="EUR", instance_count=8) for index in range(6)]

    _, lines = play(choose_quote(block_order(), now=START), pages((DescribeOfferings, offers)))

    shown = "; ".join(f"cb-{index}: the currency is EUR, not USD, it has 8 instances" for index in range(5))
    assert lines == f"UC7027: no offering meets the terms: {shown}. {LOOK}"
    _, nothing = play(choose_quote(block_order(), now=START), pages())
    assert nothing == f"UC7027: no offering meets the terms: AWS offered none. {LOOK}"


def test_extension_offerings_are_read_after_the_block_and_its_history() -> None:
    asked, quote = extending(
        reservations=[owned(reservation_id=ANOTHER), owned()],
        history=[extension(reservation_id=ANOTHER), extension(status="payment-succeeded")],
        offered=[longer(), longer(offering_id="cbe-a"), longer(offering_id="cbe-0", fee=Decimal(9001))],
    )

    of_block = {"region": "us-east-2", "reservation_id": OWNED}
    assert asked == [
        *(DescribeReservations(region="us-east-2", page=page) for page in (None, "more")),
        *(DescribeExtensionHistory(**of_block, page=page) for page in (None, "more")),
        *(DescribeExtensionOfferings(**of_block, hours=24, page=page) for page in (None, "more")),
    ]
    assert quote == Quote(
        request=PurchaseExtension(region="us-east-2", offering_id="cbe-a", reservation_id=OWNED),
        offering_id="cbe-a",
        fee=Decimal(9000),
        currency="USD",
        start=OWNED_END,
        end=OWNED_END + timedelta(days=1),
        zone_ids=("use2-az3",),
    )


def test_an_extension_of_a_block_without_a_zone_names_none() -> None:
    assert extending(reservations=[owned(zone_id=None)], offered=[longer()])[1].zone_ids == ()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (None, "does not exist"),
        ({"reservation_type": "default"}, "is of type default; only Capacity Blocks can be extended"),
        ({"state": "expired"}, "is expired; only active and scheduled blocks can be extended"),
        ({"end": None}, "ends never, not 2026-11-30T09:00:00+00:00; it may have been extended already"),
        (
            {"end": OWNED_END + timedelta(days=1)},
            "ends 2026-12-01T09:00:00+00:00, not 2026-11-30T09:00:00+00:00; it may have been extended already",
        ),
        (
            {"start": None},
            "ends 2026-11-30T09:00:00+00:00, not 2026-11-30T09:00:00+00:00; it may have been extended already",
        ),
        (
            {"start": OWNED_END + timedelta(hours=23) - LONGEST_BLOCK},
            "would be longer than 182 days in all",
        ),
    ],
)
def test_explains_why_a_block_cannot_be_extended(changes: dict[str, Any] | None, problem: str) -> None:
    asked, lines = extending(reservations=[] if changes is None else [owned(**changes)], offered=[longer()])

    assert lines == f"UC7028: {OWNED} in us-east-2 {problem}. Nothing was bought."
    assert {type(effect) for effect in asked} == {DescribeReservations}


@pytest.mark.parametrize(
    ("now", "sold"),
    [
        (OWNED_END - timedelta(hours=1), True),
        (OWNED_END - timedelta(minutes=59), False),
        (OWNED_END - timedelta(days=57), True),
        (OWNED_END - timedelta(days=57, seconds=1), False),
    ],
)
def test_an_extension_is_sold_from_57_days_to_an_hour_before_the_end(now: Any, *, sold: bool) -> None:
    _, found = extending(offered=[longer()], now=now)

    assert isinstance(found, Quote) is sold
    if not sold:
        assert "ends at 2026-11-30T09:00:00+00:00; extensions are sold from 57 days to 1 hour" in found


def test_a_block_can_be_extended_to_182_days() -> None:
    longest = owned(start=OWNED_END + timedelta(days=1) - LONGEST_BLOCK)

    assert isinstance(extending(reservations=[longest], offered=[longer()])[1], Quote)


def test_pending_extension_blocks_the_next_one() -> None:
    _, lines = extending(history=[extension()], offered=[longer()])

    assert lines == (
        f"UC7029: the payment of an extension of {OWNED} is pending. "
        "Wait until it is confirmed or fails; AWS allows one extension at a time."
    )


def test_reports_the_terms_that_each_extension_violates() -> None:
    wrong = longer(
        currency="EUR",
        reservation_id=ANOTHER,
        start=OWNED_END + timedelta(hours=1),
        hours=48,
    )

    _, lines = extending(offered=[wrong])

    assert lines == (
        "UC7027: no extension meets the terms: cbe-b: the currency is EUR, not USD, "
        f"it extends {ANOTHER}, it starts at 2026-11-30T10:00:00+00:00, it lasts 48 hours. {LOOK}"
    )


def test_quotes_an_on_demand_reservation_by_what_it_can_cost() -> None:
    group = "arn:aws:ec2:us-east-2:123456789012:placement-group/g"
    order = on_demand_order(placement_group_arn=group, platform="Ubuntu Pro", name="r" * 48)

    asked, quote = play(choose_quote(order, now=START), pages())

    assert asked == []
    assert quote == Quote(
        request=CreateReservation(
            region="us-east-2",
            instance_type="trn1.32xlarge",
            count=4,
            platform="Ubuntu Pro",
            zone_id="use2-az3",
            end=START + timedelta(days=5),
            placement_group_arn=group,
            client_token="r" * 48 + "-6fa69def1d879b1",  # of 16 digits: EC2 takes 64 characters
            order_name="r" * 48,
        ),
        offering_id=None,
        fee=Decimal("10406.00"),
        currency="USD",
        start=START,
        end=START + timedelta(days=5),
        zone_ids=("use2-az3",),
    )


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({"max_fee": Decimal(10405)}, "the fee 10406.00 is above the cap 10405"),
        ({"end": START}, "its end 2026-11-20T09:00:00+00:00 is in the past"),
    ],
)
def test_explains_why_an_on_demand_reservation_is_not_created(changes: dict[str, Any], broken: str) -> None:
    _, lines = play(choose_quote(on_demand_order(**changes), now=START), pages())

    assert lines == f"UC7027: no reservation meets the terms: {broken}. {LOOK}"
