"""The price of a rehearsal: everything but nodes, and what is not known is said."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from ultracluster_cli.deploy.rehearsal_price import hourly_price, price_text
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.rehearsal import RehearsedCluster, rehearsed
from ultracluster_stacks.cost import Money


def rehearsals(rollout: Path, **options: Any) -> list[RehearsedCluster]:
    return [rehearsed(cluster, **options) for cluster in load_rollout(rollout).config.clusters()]


def test_nodes_are_in_no_price(quickstart: Path) -> None:
    canary = rehearsals(quickstart.with_name("two-waves.yaml"))[:1]

    hour = hourly_price(canary, pricing=None)

    assert hour.high < 1
    assert not [name for name in hour.without if "node" in name or "capacity" in name]


def test_no_file_system_has_no_price(quickstart: Path) -> None:
    with_one = hourly_price(rehearsals(quickstart), pricing=None)
    without = hourly_price(rehearsals(quickstart, file_system=False), pricing=None)

    assert with_one.high > without.high
    assert with_one.without == without.without


def test_prices_of_another_region_are_marked_and_explained(quickstart: Path) -> None:
    hour = replace(hourly_price(rehearsals(quickstart), pricing=None), approximate=True)

    said = price_text(hour)

    assert f"at most ≈ {hour.high * 3:.2f} USD" in said
    assert "≈: prices of the nearest Region are in it" in said


def test_the_price_list_is_asked_for_what_a_rehearsal_uses(quickstart: Path) -> None:
    asked: list[Any] = []

    class Pricing:
        def get_paginator(self, _: str) -> Any:
            return self

        def paginate(self, **given: Any) -> list[Any]:
            asked.append(given)
            return [{"PriceList": []}]

    hourly_price(rehearsals(quickstart), pricing=Pricing())

    assert asked


def test_says_the_worst_case_and_what_an_hour_costs() -> None:
    said = price_text(Money(low=Decimal("0.4"), high=Decimal("0.5"), without=("file system",)))

    assert "at most 1.50 USD, for 3 hours" in said
    assert "0.50 USD per hour" in said
    assert said.endswith("Not known: file system.")


def test_an_unknown_price_is_never_zero() -> None:
    said = price_text(Money(low=Decimal(0), high=Decimal(0), without=("endpoints",)))

    assert "0.00" not in said
    assert "an unknown amount" in said
