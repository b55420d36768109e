"""List prices to compare an offering with."""

from ultracluster_runtime.costs.price_comparison import compare_prices


def test_compares_with_dated_list_prices() -> None:
    prices = compare_prices("trn2.48xlarge", "us-east-2")
    block, on_demand, alternative = prices
    assert block.per_chip_hour is not None
    assert block.price.amount == block.per_chip_hour * 16
    assert on_demand.price.amount is None
    assert on_demand.price.reason
    assert alternative.per_chip_hour is not None
    assert all(price.price.source and price.price.dated.year >= 2026 for price in prices)
