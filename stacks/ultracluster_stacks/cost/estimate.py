"""Cost of a footprint for a planned usage: per hour, run, month and million tokens."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from ultracluster_catalog.prices.prices import BillableItem, Price, nearest_price, price_of
from ultracluster_stacks.cost.bill import Prices, additional_nodes, bill
from ultracluster_stacks.cost.footprint import Footprint
from ultracluster_stacks.cost.line import Line, Usage
from ultracluster_stacks.cost.money import Money

NOT_COUNTED: Final = (
    "requests to S3, AWS Lambda, EventBridge, SNS, Systems Manager and KMS, customer managed keys, snapshots, images in "
    "Amazon ECR, support and taxes"
)
"""Costs that estimates leave out."""

_SECONDS_OF_AN_HOUR: Final = 3600
_MILLION: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """Estimated cost of a cluster; lines of nodes used only if the others are full are in no total."""

    footprint: Footprint
    usage: Usage
    lines: tuple[Line, ...]
    if_used: tuple[Line, ...] = ()

    @property
    def hour(self) -> Money:
        """Cost per hour of a run."""
        return Money.total(line.hour for line in self.lines)

    @property
    def run(self) -> Money:
        """Cost per run."""
        return Money.total(line.run(self.usage) for line in self.lines)

    @property
    def month(self) -> Money:
        """Cost per month."""
        return Money.total(line.month(self.usage) for line in self.lines)

    @property
    def idle_hour(self) -> Money:
        """Cost per hour without a run."""
        return Money.total(line.hour for line in self.lines if line.charged == "always")

    @property
    def million_tokens(self) -> Money | None:
        """Cost per million tokens, or None without a throughput."""
        if self.usage.tokens_per_second is None:
            return None
        tokens = self.usage.tokens_per_second * _SECONDS_OF_AN_HOUR * self.usage.hours
        return self.run * (_MILLION / tokens)


def catalogue_prices(
    *, known: Mapping[tuple[BillableItem, str], Price] | None = None, fallback_region: str | None = None
) -> Prices:
    """Return a source of the catalogue's prices; a Region without one takes that of another, which the price names.

    ``known`` prices are newer, and take precedence. Default fallback: the nearest Region with a price.
    """
    newer = known or {}

    def own(thing: BillableItem, region: str) -> Price:
        return newer.get((thing, region)) or price_of(thing, region)

    def price(thing: BillableItem, region: str) -> Price:
        if fallback_region is None or own(thing, region).bounds is not None:
            return nearest_price(thing, region, prices=own)
        fallback = own(thing, fallback_region)
        return (
            own(thing, region)
            if fallback.bounds is None
            else replace(fallback, borrowed_from=fallback_region)
        )

    return price


def estimate_cost(
    footprint: Footprint, *, usage: Usage, prices: Prices, given: Mapping[str, Price] | None = None
) -> Estimate:
    """Estimate the cost of a footprint."""
    with_given_price = partial(_with_given_price, given=given or {})
    return Estimate(
        footprint=footprint,
        usage=usage,
        lines=tuple(map(with_given_price, bill(footprint, usage, prices))),
        if_used=tuple(map(with_given_price, additional_nodes(footprint, prices))),
    )


def _with_given_price(line: Line, *, given: Mapping[str, Price]) -> Line:
    price = given.get(line.name)
    return line if price is None else replace(line, price=replace(price, unit=line.price.unit))
