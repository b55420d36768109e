"""Parsing EC2's responses, complete and with all optional members missing."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from ultracluster_runtime.purchasing import ec2_answers
from ultracluster_runtime.purchasing.ec2_objects import Block, Extension, ExtensionOffering, Reservation
from ultracluster_runtime.purchasing.effects import Bought

START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
END = datetime(2026, 12, 15, 11, 30, tzinfo=UTC)
MADE = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
TAGS = [{"Key": "team", "Value": "b"}, {"Key": "uc:po", "Value": "december"}]


def test_reads_a_reservation() -> None:
    answer = {
        "CapacityReservationId": "cr-1",
        "State": "active",
        "ReservationType": "capacity-block",
        "InstanceType": "trn2.48xlarge",
        "TotalInstanceCount": 16,
        "AvailabilityZoneId": "use2-az3",
        "StartDate": START,
        "EndDate": END,
        "CreateDate": MADE,
        "Tags": TAGS,
    }

    assert ec2_answers.reservation(answer) == Reservation(
        reservation_id="cr-1",
        state="active",
        reservation_type="capacity-block",
        instance_type="trn2.48xlarge",
        instance_count=16,
        zone_id="use2-az3",
        start=START,
        end=END,
        created=MADE,
        order_name="december",
    )


def test_reads_a_reservation_with_missing_members() -> None:
    assert ec2_answers.reservation({"CapacityReservationId": "cr-1"}) == Reservation(
        reservation_id="cr-1",
        state="unknown",
        reservation_type="default",
        instance_type="",
        instance_count=0,
        zone_id=None,
        start=None,
        end=None,
        created=None,
        order_name=None,
    )


def test_reads_a_block() -> None:
    whole = {
        "CapacityBlockId": "cb-1",
        "State": "scheduled",
        "CapacityReservationIds": ["cr-1", "cr-2"],
        "Tags": TAGS,
    }

    assert ec2_answers.block(whole) == Block(
        block_id="cb-1", state="scheduled", reservation_ids=("cr-1", "cr-2"), order_name="december"
    )
    assert ec2_answers.block({"CapacityBlockId": "cb-1", "Tags": [{"Value": "x"}]}) == Block(
        block_id="cb-1", state="unknown", reservation_ids=(), order_name=None
    )


def test_reads_an_extension_offering() -> None:
    answer = {
        "CapacityBlockExtensionOfferingId": "cbe-1",
        "CapacityBlockExtensionStartDate": START,
        "CapacityBlockExtensionEndDate": END,
        "CapacityBlockExtensionDurationHours": 336,
        "UpfrontFee": "1000.50",
        "CurrencyCode": "USD",
    }

    assert ec2_answers.extension_offering(answer, reservation_id="cr-1") == ExtensionOffering(
        offering_id="cbe-1",
        reservation_id="cr-1",
        start=START,
        end=END,
        hours=336,
        fee=Decimal("1000.50"),
        currency="USD",
    )


@pytest.mark.parametrize(
    ("said", "status"),
    [({"CapacityBlockExtensionStatus": "payment-pending"}, "payment-pending"), ({}, "unknown")],
)
def test_reads_an_extension_of_the_history(said: dict[str, str], status: str) -> None:
    answer = {
        "CapacityBlockExtensionOfferingId": "cbe-1",
        "CapacityReservationId": "cr-1",
        "CapacityBlockExtensionPurchaseDate": MADE,
        "CapacityBlockExtensionStartDate": START,
    }

    assert ec2_answers.extension(answer | said) == Extension(
        offering_id="cbe-1", reservation_id="cr-1", status=status, purchased_at=MADE, start=START
    )


@pytest.mark.parametrize(
    ("answer", "reservations", "blocks"),
    [
        ({"CapacityReservation": {"CapacityReservationId": "cr-1"}}, ("cr-1",), ()),
        (
            {"CapacityReservation": {"CapacityReservationId": "cr-1", "CapacityBlockId": "cb-1"}},
            ("cr-1",),
            ("cb-1",),
        ),
        (
            {
                "CapacityReservations": [
                    {"CapacityReservationId": "cr-2"},
                    {"CapacityReservationId": "cr-1"},
                    {},
                ],
                "CapacityReservation": {"CapacityReservationId": "cr-1"},
            },
            ("cr-1", "cr-2"),
            (),
        ),
        (
            {"CapacityBlocks": [{"CapacityBlockId": "cb-1", "CapacityReservationIds": ["cr-3"]}, {}]},
            ("cr-3",),
            ("cb-1",),
        ),
        (
            {
                "CapacityReservations": [{"CapacityReservationId": "cr-1"}],
                "CapacityBlocks": [{"CapacityBlockId": "cb-2", "CapacityReservationIds": ["cr-2"]}],
            },
            ("cr-1", "cr-2"),
            ("cb-2",),
        ),
    ],
)
def test_finds_every_reservation_and_block_that_a_purchase_names(
    answer: dict[str, Any], reservations: tuple[str, ...], blocks: tuple[str, ...]
) -> None:
    assert ec2_answers.bought(answer) == Bought(reservation_ids=reservations, block_ids=blocks)


def test_a_block_without_its_reservations_is_a_purchase() -> None:
    bought = ec2_answers.bought({"CapacityBlocks": [{"CapacityBlockId": "cb-1"}]})
    assert bought == Bought(reservation_ids=(), block_ids=("cb-1",))


def test_a_response_without_ids_is_not_a_purchase() -> None:
    with pytest.raises(ValueError, match=r"^the response contains no reservation$"):
        ec2_answers.bought({"CapacityReservation": {"State": "payment-pending"}})
    with pytest.raises(ValueError, match=r"^the response contains no extension$"):
        ec2_answers.bought_extension({})


@pytest.mark.parametrize(
    ("fees", "total"), [(["1.5", "2"], "3.5"), (["1.5", None], None), ([None, None], None)]
)
def test_adds_the_fees_of_extensions_if_each_has_one(fees: list[str | None], total: str | None) -> None:
    extensions = [{"CapacityReservationId": "cr-1", "UpfrontFee": fee} for fee in fees]
    fee = ec2_answers.bought_extension({"CapacityBlockExtensions": extensions}).fee
    assert fee == (total and Decimal(total))


def test_reads_what_an_extension_and_a_reservation_on_demand_bought() -> None:
    extensions = [{"CapacityReservationId": "cr-2"}, {"CapacityReservationId": "cr-1"}]

    assert ec2_answers.bought_extension({"CapacityBlockExtensions": extensions}) == Bought(
        reservation_ids=("cr-1", "cr-2")
    )
    assert ec2_answers.created({"CapacityReservation": {"CapacityReservationId": "cr-1"}}) == Bought(
        reservation_ids=("cr-1",)
    )
