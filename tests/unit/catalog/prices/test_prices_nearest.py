"""An item of the bill has the price of its kind."""

from decimal import Decimal

import pytest

from ultracluster_catalog.prices.prices import (
    BillableItem,
    Price,
    capacity_block_price,
    lustre_storage_price,
    nearest_price,
    nearest_regions,
    on_demand_price,
    price_of,
    service_price,
    spot_price,
)

REGION = "us-east-1"


@pytest.mark.parametrize(
    ("item", "price"),
    [
        (
            BillableItem(kind="capacity-block", name="trn1.32xlarge"),
            capacity_block_price("trn1.32xlarge", REGION),
        ),
        (BillableItem(kind="on-demand", name="trn1.32xlarge"), on_demand_price("trn1.32xlarge", REGION)),
        (BillableItem(kind="spot", name="trn1.32xlarge"), spot_price("trn1.32xlarge", REGION)),
        (
            BillableItem(kind="lustre", name="PERSISTENT_2", tier=250),
            lustre_storage_price("PERSISTENT_2", 250, REGION),
        ),
        (
            BillableItem(kind="service", name="public IPv4 address"),
            service_price("public IPv4 address", REGION),
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, BillableItem) else "",
)
def test_an_item_has_the_price_of_its_kind(item: BillableItem, price: Price) -> None:
    assert price_of(item, REGION) == price


def test_a_region_with_a_price_keeps_its_own() -> None:
    item = BillableItem(kind="service", name="volume gp3")

    found = nearest_price(item, "us-east-2")
    assert (found.amount, found.unit, found.borrowed_from) == (Decimal("0.08"), "GB-month", "")


def test_a_region_without_a_price_borrows_that_of_the_nearest_and_names_it() -> None:
    item = BillableItem(kind="capacity-block", name="p5en.48xlarge")

    assert price_of(item, "eu-central-1").bounds is None
    found = nearest_price(item, "eu-central-1")
    assert found.borrowed_from == "eu-north-1"
    assert found.amount == Decimal("49.928")


def test_an_instance_type_without_a_price_anywhere_takes_that_of_the_same_chips_and_names_both() -> None:
    item = BillableItem(kind="capacity-block", name="trn2u.48xlarge")

    for region, priced in (("us-east-1", "us-east-2"), ("ap-south-1", "ap-south-2")):
        found = nearest_price(item, region)
        assert (found.amount, found.borrowed_from) == (Decimal("35.7608"), f"trn2.48xlarge in {priced}")


def test_a_price_that_is_known_nowhere_stays_unknown() -> None:
    found = nearest_price(BillableItem(kind="on-demand", name="trn2u.48xlarge"), "us-east-2")

    assert (found.amount, found.borrowed_from) == (None, "")
    assert "trn2u.48xlarge in us-east-2" in found.reason


def test_regions_are_near_by_part_of_a_continent_then_by_continent_then_virginia() -> None:
    others = ["sa-east-1", "us-east-1", "us-west-2", "us-east-2", "ap-south-1"]

    assert nearest_regions("us-west-1", others) == [
        "us-west-2",
        "us-east-1",
        "us-east-2",
        "ap-south-1",
        "sa-east-1",
    ]
    assert nearest_regions("af-south-1", others)[0] == "us-east-1"
