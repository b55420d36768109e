from decimal import Decimal

import pytest

from ultracluster_catalog.capacity.capacity_blocks import BLOCK_REGIONS, block_regions
from ultracluster_catalog.lustre.lustre_tiers import get_lustre_tier
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_catalog.prices.prices import (
    ON_DEMAND_PRICES,
    PRICE_TABLE,
    BillableItem,
    Price,
    capacity_block_price,
    lustre_storage_price,
    on_demand_price,
    spot_price,
)
from ultracluster_local.services.ec2.capacity_block_terms import list_price

# The guide sells blocks there; the price page of 2026-07-22 did not name them.
_WITHOUT_LIST_PRICE = {
    ("p6-b200.48xlarge", "eu-north-1"),
    ("p6-b200.48xlarge", "eu-west-3"),
    ("p6-b200.48xlarge", "ap-south-2"),
    ("p6-b300.48xlarge", "ap-northeast-2"),
    ("p6-b300.48xlarge", "ap-south-2"),
    ("p6-b300.48xlarge", "ap-southeast-3"),
    ("p5e.48xlarge", "us-east-1"),
    ("p5en.48xlarge", "ap-southeast-2"),
}

_CAPACITY_BLOCK_PRICES = {
    (item.name, region): price
    for (item, region), price in PRICE_TABLE.items()
    if item.kind == "capacity-block"
}


def _unknown(price: Price) -> bool:
    assert (price.amount is None) == bool(price.reason)
    return price.amount is None


def test_the_local_aws_sells_blocks_at_list_prices() -> None:
    for name in {name for name, _ in _CAPACITY_BLOCK_PRICES}:
        prices = {price.amount for (of, _), price in _CAPACITY_BLOCK_PRICES.items() if of == name}
        assert list_price(name) in prices


@pytest.mark.parametrize(
    ("price", "amount"),
    [
        (capacity_block_price("trn2.48xlarge", "us-east-2"), "35.7608"),
        (capacity_block_price("trn1.32xlarge", "us-west-2"), "9.532"),
        (capacity_block_price("p5.48xlarge", "us-east-1"), "41.528"),
        (capacity_block_price("p5.48xlarge", "eu-west-2"), "37.76"),
        (on_demand_price("trn1.32xlarge", "us-east-1"), "21.50"),
        (lustre_storage_price("PERSISTENT_2", 125, "us-east-1"), "0.145"),
    ],
)
def test_knows_a_price_exactly_with_its_source_and_date(price: Price, amount: str) -> None:
    assert price.amount == Decimal(amount)
    assert (price.currency, price.reason) == ("USD", "")
    assert price.source
    assert price.dated.year == 2026


def test_the_price_of_trn2_agrees_with_an_offering_seen_for_a_day() -> None:
    hourly = capacity_block_price("trn2.48xlarge", "ap-south-2").amount
    assert hourly is not None
    assert (hourly * 24).quantize(Decimal("0.01")) == Decimal("858.26")


@pytest.mark.parametrize(
    ("price", "named"),
    [
        (capacity_block_price("trn2u.48xlarge", "us-east-2"), "trn2u.48xlarge in us-east-2"),
        (capacity_block_price("trn2.48xlarge", "us-east-1"), "trn2.48xlarge in us-east-1"),
        (on_demand_price("trn2.48xlarge", "us-east-1"), "trn2.48xlarge in us-east-1"),
        (on_demand_price("trn1.32xlarge", "eu-west-1"), "trn1.32xlarge in eu-west-1"),
        (lustre_storage_price("PERSISTENT_2", 250, "af-south-1"), "PERSISTENT_2-250 in af-south-1"),
        (lustre_storage_price("SCRATCH_2", None, "ca-west-1"), "SCRATCH_2 in ca-west-1"),
        (spot_price("trn2.48xlarge", "us-east-1"), "trn2.48xlarge was seen in us-east-1"),
        (
            lustre_storage_price("PERSISTENT_2", 250, "ap-south-2"),
            "PERSISTENT_2-250 in ap-south-2, where FSx offers it",
        ),
    ],
)
def test_says_that_a_price_is_unknown_and_why_instead_of_guessing(price: Price, named: str) -> None:
    assert _unknown(price)
    assert named in price.reason
    assert price.unit == ("GB-month" if named.startswith(("PERSISTENT", "SCRATCH")) else "instance-hour")


def test_every_price_has_an_amount_above_nothing_and_a_known_subject() -> None:
    for (item, region), price in PRICE_TABLE.items():
        assert region in REGIONS or (item.kind == "capacity-block" and region.startswith("us-gov-"))
        assert price.bounds
        assert price.bounds[0] > 0
        if item.kind == "lustre":
            assert get_lustre_tier(item.name, item.tier)
            assert price.unit == "GB-month"
        elif item.kind != "service":
            assert item.name in INSTANCE_TYPES
            assert price.unit == "instance-hour"
            assert (price.amount is None) == (item.kind == "spot")


def test_the_figures_of_two_sources_are_those_of_the_table() -> None:
    # What field reports read in the Price List itself, and the table has from AWS's pricing pages.
    seoul = BillableItem(kind="lustre", name="PERSISTENT_2", tier=1000)
    assert PRICE_TABLE[seoul, "ap-northeast-2"].amount == Decimal("0.673")
    assert PRICE_TABLE[seoul, "us-east-1"].amount == Decimal("0.6")
    tokyo = lustre_storage_price("PERSISTENT_2", 500, "ap-northeast-1").amount
    assert tokyo is not None
    assert (tokyo * 9600 / 730).quantize(Decimal("0.01")) == Decimal(
        "6.19"
    )  # USD an hour, classmethod.jp, 2022


def test_every_region_with_blocks_has_a_list_price_except_the_listed_ones() -> None:
    sold = {(name, region) for name in BLOCK_REGIONS for region in block_regions(name)}
    assert set(_CAPACITY_BLOCK_PRICES) <= sold
    assert sold - set(_CAPACITY_BLOCK_PRICES) == _WITHOUT_LIST_PRICE


def test_a_block_costs_less_than_on_demand_for_the_same_type() -> None:
    compared = 0
    for (name, region), on_demand in ON_DEMAND_PRICES.items():
        block = _CAPACITY_BLOCK_PRICES.get((name, region))
        if block is not None:
            assert block.amount is not None
            assert on_demand.amount is not None
            assert block.amount < on_demand.amount
            compared += 1
    assert compared > 5


def test_a_spot_price_is_a_range_and_never_an_amount() -> None:
    price = spot_price("trn2.48xlarge", "us-east-2")

    assert price.bounds == (Decimal("8.99"), Decimal("15.37"))
    # The dearest of the zones of a Region, not the one that was seen last.
    assert spot_price("trn2.3xlarge", "sa-east-1").bounds == (Decimal("0.90"), Decimal("7.75"))
    assert all(
        _unknown(price) and price.bounds for (item, _), price in PRICE_TABLE.items() if item.kind == "spot"
    )
    assert spot_price("trn2.48xlarge", "us-east-1").bounds is None


def test_a_known_price_is_its_own_range() -> None:
    assert on_demand_price("trn1.32xlarge", "us-east-1").bounds == (Decimal("21.50"), Decimal("21.50"))
