"""The same run on another instance type."""

from decimal import Decimal

import pytest
from tests.unit.stacks.cost.estimates import estimate, names

from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.cost import catalogue_prices, compare_with


def test_the_same_run_on_another_type_ends_earlier_by_the_ratio_that_was_measured() -> None:
    own = estimate(tokens_per_second=Decimal(1000))
    rival = compare_with("p5.48xlarge", own, prices=catalogue_prices(), throughput_ratio=Decimal(3))

    assert rival.price.amount == Decimal("41.528")
    assert (rival.chips_per_node, rival.own_chips_per_node) == (8, 16)
    assert rival.estimate is not None
    assert rival.estimate.usage.hours == 8
    assert names(rival.estimate)["nodes"].run(rival.estimate.usage).low == 2 * Decimal("41.528") * 8
    assert rival.estimate.million_tokens is not None
    assert own.million_tokens is not None
    tokens = Decimal(1000) * 3600 * 24 / 1_000_000
    assert rival.estimate.million_tokens.low == pytest.approx(rival.estimate.run.low / tokens)


def test_without_a_measured_ratio_only_prices_are_compared() -> None:
    rival = compare_with("p5.48xlarge", estimate(), prices=catalogue_prices(), throughput_ratio=None)

    assert rival.estimate is None


def test_refuses_a_rival_that_the_catalogue_does_not_know() -> None:
    with pytest.raises(FindingsError, match="UC4001"):
        compare_with("p9.48xlarge", estimate(), prices=catalogue_prices(), throughput_ratio=None)
