"""List prices to compare an offering with."""

from decimal import Decimal

from ultracluster_runtime.costs.price_comparison import compare_prices


def test_compares_with_dated_list_prices() -> None:
    prices = compare_prices("trn2.48xlarge", "us-east-2")
    block, on_demand, alternative = prices
    assert (block.price.amount, block.per_chip_hour) == (Decimal("35.7608"), Decimal("2.23505"))  # 16 chips
    assert on_demand.price.amount is None
    assert on_demand.price.reason
    assert (alternative.price.amount, alternative.per_chip_hour) == (
        Decimal("41.528"),
        Decimal("5.191"),
    )  # 8 GPUs
    assert all(price.price.source and price.price.dated.year >= 2026 for price in prices)
