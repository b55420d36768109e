"""Evidence of a purchase in EC2's listings, and what only resembles it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.runtime.purchasing.ec2_fixtures import BEGIN, END, block, extension, reservation, sent
from tests.unit.runtime.purchasing.example_orders import block_order, extension_order, on_demand_order
from tests.unit.runtime.purchasing.protocol_player import pages, play
from tests.unit.runtime.purchasing.simulation import OWNED, OWNED_END, START

from ultracluster_runtime.purchasing.effects import (
    DescribeBlocks,
    DescribeExtensionHistory,
    DescribeReservations,
    ReadFailed,
)
from ultracluster_runtime.purchasing.evidence import Evidence, find_evidence
from ultracluster_runtime.purchasing.orders import Order, OrderState, Record

MINUTES_5 = timedelta(minutes=5)


def find(record: Record, reservations: Any = (), blocks: Any = (), extensions: Any = ()) -> Evidence:
    listings = pages(
        (DescribeReservations, list(reservations)),
        (DescribeBlocks, list(blocks)),
        (DescribeExtensionHistory, list(extensions)),
    )
    evidence = play(find_evidence(record), listings)[1]
    assert isinstance(evidence, Evidence), evidence
    return evidence


def test_looks_where_the_request_was_sent_and_before_that_in_every_region() -> None:
    order = block_order(regions=("us-east-2", "us-west-2"), zone_ids=())

    def regions(record: Record) -> list[Any]:
        asked, _ = play(find_evidence(record), pages())
        return asked

    def both_listings(*regions: str) -> list[Any]:
        return [
            kind(region=region, page=page)
            for region in regions
            for kind in (DescribeReservations, DescribeBlocks)
            for page in (None, "more")
        ]

    assert regions(sent(order, region="us-west-2")) == both_listings("us-west-2")
    assert regions(sent(order, region=None)) == both_listings("us-east-2", "us-west-2")
    assert regions(sent(on_demand_order())) == [
        DescribeReservations(region="us-east-2", page=page) for page in (None, "more")
    ]


def test_collects_the_reservations_and_blocks_of_all_regions() -> None:
    order = block_order(regions=("us-east-2", "us-west-2"), zone_ids=())

    def answer(effect: Any) -> Any:
        here = effect.region == "us-west-2"
        listed = (
            [reservation(2, zone_id="usw2-az1", end=END + timedelta(days=1))] if here else [reservation(1)]
        )
        return pages((DescribeReservations, listed))(effect)

    _, evidence = play(find_evidence(sent(order, region=None)), answer)

    assert evidence == Evidence(
        reservation_ids=("cr-1", "cr-2"),
        states=("cr-1=scheduled", "cr-2=scheduled"),
        verdict=OrderState.PAID,
        end=END + timedelta(days=1),
        zone_ids=("use2-az3", "usw2-az1"),
    )


def test_a_tag_on_either_the_block_or_a_reservation_is_enough() -> None:
    whole = [reservation(1), reservation(2, order_name=None)]

    by_reservation = find(sent(), whole, [block(1, "cr-1", "cr-2"), block(2, "cr-3")])
    by_block = find(
        sent(),
        [replace(each, order_name=None) for each in whole],
        [block(1, "cr-1", "cr-2", order_name="december"), block(2, "cr-3", order_name="january")],
    )

    assert by_reservation.reservation_ids == by_block.reservation_ids == ("cr-1", "cr-2")
    assert by_reservation.block_ids == by_block.block_ids == ("cb-1",)


def test_a_block_can_be_visible_before_its_reservations() -> None:
    mine = block(1, "cr-1", "cr-2", order_name="december", state="payment-pending")

    assert find(sent(), [reservation(1, order_name=None)], [mine]) == Evidence(
        reservation_ids=("cr-1", "cr-2"),
        block_ids=("cb-1",),
        states=("cr-1=scheduled", "cr-2=payment-pending"),
        verdict=OrderState.PURCHASED,
        end=END,
        zone_ids=("use2-az3",),
    )
    assert find(sent(), [], [mine]).end is None
    assert find(sent(), [], [mine]).zone_ids == ()


@pytest.mark.parametrize(
    ("states", "verdict"),
    [
        (["payment-pending"], OrderState.PURCHASED),
        (["scheduled", "payment-pending"], OrderState.PURCHASED),
        (["something-new"], OrderState.PURCHASED),
        (["scheduled", "active", "expired"], OrderState.PAID),
        (["cancelled", "cancelling", "unavailable", "payment-succeeded"], OrderState.PAID),
        (
            ["scheduled", "active", "expired", "cancelled", "cancelling", "unavailable", "payment-succeeded"],
            OrderState.PAID,
        ),
        (["payment-failed"], OrderState.FAILED),
        (["payment-failed", "failed", "unsupported"], OrderState.FAILED),
        (["payment-failed", "scheduled"], OrderState.PURCHASED),
    ],
)
def test_verdict_depends_on_the_states_of_all_reservations(states: list[str], verdict: OrderState) -> None:
    listed = [reservation(number, state=state) for number, state in enumerate(states)]

    assert find(sent(), listed).verdict is verdict


@pytest.mark.parametrize(
    ("changes", "resembles"),
    [
        ({}, True),
        ({"order_name": "january"}, False),
        ({"created": None}, False),
        ({"created": START - MINUTES_5}, True),
        ({"created": START - MINUTES_5 - timedelta(seconds=1)}, False),
        ({"start": BEGIN + timedelta(days=1)}, False),
        ({"end": END + timedelta(days=1)}, False),
    ],
)
def test_an_untagged_reservation_of_the_same_time_made_after_sending_resembles_it(
    changes: dict[str, Any], *, resembles: bool
) -> None:
    listed = [
        reservation(2, order_name=None, created=None),
        reservation(1, **{"order_name": None, **changes}),
    ]

    assert find(sent(), listed) == Evidence(lookalikes=("cr-1",) if resembles else ())
    assert find(sent(sent_at=None), listed) == Evidence()


def test_lookalikes_of_all_regions_are_named() -> None:
    order = block_order(regions=("us-east-2", "us-west-2"), zone_ids=())

    def answer(effect: Any) -> Any:
        number = 1 if effect.region == "us-west-2" else 2
        return pages((DescribeReservations, [reservation(number, order_name=None)]))(effect)

    assert play(find_evidence(sent(order, region=None)), answer)[1].lookalikes == ("cr-1", "cr-2")


def test_extension_history_is_read_for_the_block() -> None:
    asked, _ = play(find_evidence(sent(extension_order())), pages())

    assert asked == [
        DescribeExtensionHistory(region="us-east-2", reservation_id=OWNED, page=page)
        for page in (None, "more")
    ]


@pytest.mark.parametrize(
    ("changes", "mine"),
    [
        ({}, True),
        ({"offering_id": "cbe-other"}, False),
        ({"reservation_id": "cr-other"}, False),
        ({"start": OWNED_END + timedelta(days=1)}, False),
        ({"purchased_at": START - MINUTES_5}, True),
        ({"purchased_at": START - MINUTES_5 - timedelta(seconds=1)}, False),
    ],
)
def test_extension_is_identified_by_offering_block_start_and_time(
    changes: dict[str, Any], *, mine: bool
) -> None:
    evidence = find(sent(extension_order()), extensions=[extension(**changes)])

    assert evidence == (
        Evidence(reservation_ids=(OWNED,), states=(f"{OWNED}=payment-pending",), verdict=OrderState.PURCHASED)
        if mine
        else Evidence()
    )


def test_every_state_of_an_extension_has_a_verdict() -> None:
    listed = [extension(status="payment-succeeded"), extension(status="payment-failed")]

    evidence = find(sent(extension_order()), extensions=listed)

    assert evidence.states == (f"{OWNED}=payment-failed", f"{OWNED}=payment-succeeded")
    assert evidence.verdict is OrderState.PURCHASED


@pytest.mark.parametrize(
    "changes",
    [
        {"offering_id": None},
        {"sent_at": None},
        {"state": OrderState.REJECTED},
        {"state": OrderState.CLOSED},
    ],
)
def test_an_extension_that_was_not_sent_has_no_evidence(changes: dict[str, Any]) -> None:
    assert play(find_evidence(sent(extension_order(), **changes)), pages()) == ([], Evidence())


@pytest.mark.parametrize(
    ("order", "listing", "what"),
    [
        (block_order(), DescribeReservations, "the Capacity Reservations in us-east-2"),
        (block_order(), DescribeBlocks, "the Capacity Blocks in us-east-2"),
        (extension_order(), DescribeExtensionHistory, "the history of extensions"),
    ],
)
def test_unreadable_listing_is_named(order: Order, listing: type, what: str) -> None:
    def answer(effect: Any) -> Any:
        if isinstance(effect, listing):
            return ReadFailed(code="Denied", message="no", transient=False)
        return pages()(effect)

    _, lines = play(find_evidence(sent(order)), answer)

    assert lines.startswith(f"UC7035: {what} could not be read: Denied: no. ")
