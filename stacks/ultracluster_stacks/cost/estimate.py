"""The bill of a footprint for a planned use: what an hour, a run, a month and a million tokens cost."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from ultracluster_catalog.prices.billable_items import PricedThing, price_of
from ultracluster_catalog.prices.prices import Price
from ultracluster_stacks.cost.bill import Prices, additional_nodes, bill
from ultracluster_stacks.cost.footprint import Footprint
from ultracluster_stacks.cost.line import Line, Usage
from ultracluster_stacks.cost.money import Money

__all__ = ["NOT_COUNTED", "Estimate", "catalogue_prices", "estimate_cost"]

NOT_COUNTED: Final = (
    "requests to S3, AWS Lambda, EventBridge, SNS, Systems Manager and KMS, customer managed keys, snapshots, images in "
    "Amazon ECR, support and taxes"
)
"""What no line of an estimate stands for."""

_SECONDS_OF_AN_HOUR: Final = 3600
_MILLION: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """What a cluster will cost.

    Attributes:
        footprint: What is paid for.
        usage: The planned use.
        lines: The bill.
        if_used: Lines of nodes that are paid only when the others have no room; in no sum.
    """

    footprint: Footprint
    usage: Usage
    lines: tuple[Line, ...]
    if_used: tuple[Line, ...] = ()

    @property
    def hour(self) -> Money:
        """What an hour of a run costs."""
        return Money.total(each.hour for each in self.lines)

    @property
    def run(self) -> Money:
        """What a run costs."""
        return Money.total(each.run(self.usage) for each in self.lines)

    @property
    def month(self) -> Money:
        """What a month costs."""
        return Money.total(each.month(self.usage) for each in self.lines)

    @property
    def idle_hour(self) -> Money:
        """What an hour without a run costs: all that is paid at all times."""
        return Money.total(each.hour for each in self.lines if each.charged == "always")

    @property
    def million_tokens(self) -> Money | None:
        """What a million tokens cost; None where the throughput is not said."""
        if self.usage.tokens_per_second is None:
            return None
        tokens = self.usage.tokens_per_second * _SECONDS_OF_AN_HOUR * self.usage.hours
        return self.run * (_MILLION / tokens)


def catalogue_prices(
    *,
    known: Mapping[tuple[PricedThing, str], Price] | None = None,
    fallback_region: str | None = None,
) -> Prices:
    """Give the prices of the catalogue.

    Args:
        known: Newer prices by thing and Region, which win. Default: none.
        fallback_region: Region whose price stands in where that of the Region is not known; its source then says so.
            Default: none, such a price is unknown.
    """
    newer = known or {}

    def price(thing: PricedThing, region: str) -> Price:
        found = newer.get((thing, region)) or price_of(thing, region)
        if found.bounds is not None or fallback_region is None:
            return found
        other = newer.get((thing, fallback_region)) or price_of(thing, fallback_region)
        if other.bounds is None:
            return found
        return replace(other, source=f"{other.source}; that of {fallback_region}, not of {region}")

    return price


def estimate_cost(
    footprint: Footprint, *, usage: Usage, prices: Prices, given: Mapping[str, Price] | None = None
) -> Estimate:
    """Put prices to a footprint.

    Args:
        footprint: What is paid for.
        usage: The planned use.
        prices: Where prices come from.
        given: Prices by the name of their line, which win over all others. Default: none.
    """
    find = partial(_priced, given=given or {})
    return Estimate(
        footprint=footprint,
        usage=usage,
        lines=tuple(find(each) for each in bill(footprint, usage, prices)),
        if_used=tuple(find(each) for each in additional_nodes(footprint, prices)),
    )


def _priced(line: Line, *, given: Mapping[str, Price]) -> Line:
    price = given.get(line.name)
    return line if price is None else replace(line, price=replace(price, unit=line.price.unit))
