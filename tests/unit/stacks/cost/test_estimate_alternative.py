"""The same run on another instance type."""

from dataclasses import replace
from decimal import Decimal

import pytest
from tests.unit.stacks.cost.estimates import estimate, names

from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.cost import catalogue_prices, compare_with


def test_the_same_run_on_another_type_ends_earlier_by_the_ratio_that_was_measured() -> None:
    own = estimate(tokens_per_second=Decimal(1000))
    alternative = compare_with("p5.48xlarge", own, prices=catalogue_prices(), throughput_ratio=Decimal(3))

    assert alternative.price.amount == Decimal("41.528")
    assert (alternative.chips_per_node, alternative.own_chips_per_node) == (8, 16)
    assert alternative.estimate is not None
    assert alternative.estimate.usage.hours == 8
    assert (
        names(alternative.estimate)["nodes"].run(alternative.estimate.usage).low == 2 * Decimal("41.528") * 8
    )
    assert alternative.estimate.million_tokens is not None
    assert own.million_tokens is not None
    tokens = Decimal(1000) * 3600 * 24 / 1_000_000
    assert alternative.estimate.million_tokens.low == pytest.approx(alternative.estimate.run.low / tokens)


def test_prices_that_were_given_count_except_those_of_the_nodes() -> None:
    own = estimate()

    given = {
        name: replace(line.price, amount=Decimal(7)) for name, line in names(own).items() if line.price.amount
    }

    found = compare_with(
        "p5.48xlarge", own, prices=catalogue_prices(), throughput_ratio=Decimal(1), given=given
    )

    assert found.estimate is not None
    lines = names(found.estimate)
    assert {name for name in given if lines[name].price.amount != 7} == {
        name for name in given if name.startswith("nodes")
    }
    assert lines["nodes"].price.amount == Decimal("41.528")


def test_without_a_measured_ratio_only_prices_are_compared() -> None:
    alternative = compare_with("p5.48xlarge", estimate(), prices=catalogue_prices(), throughput_ratio=None)

    assert alternative.estimate is None


def test_refuses_an_alternative_that_the_catalogue_does_not_know() -> None:
    with pytest.raises(FindingsError, match="UC4001"):
        compare_with("p9.48xlarge", estimate(), prices=catalogue_prices(), throughput_ratio=None)
