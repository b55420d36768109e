"""Cost of a footprint for a planned usage, of the same run on another instance type, and of a change of templates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Final

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.prices.prices import BillableItem, Price, nearest_price, price_of
from ultracluster_spec.instance_type import get_instance_type
from ultracluster_stacks.cost.bill import HOURS_OF_A_MONTH, Line, Prices, Usage, additional_nodes, bill
from ultracluster_stacks.cost.footprint import Footprint, template_footprint
from ultracluster_stacks.cost.money import NOTHING, Money
from ultracluster_stacks.plan import StackTemplate

NOT_COUNTED: Final = (
    "requests to S3, AWS Lambda, EventBridge, SNS, Systems Manager and KMS, customer managed keys, snapshots, images in "
    "Amazon ECR, S3 Files, support and taxes"
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Alternative:
    """Another instance type for a cluster, with its price by the same purchase option.

    An estimate of the same run on as many nodes needs a throughput ratio.
    """

    instance_type: str
    chips_per_node: int
    own_chips_per_node: int
    price: Price
    estimate: Estimate | None


def compare_with(
    instance_type: str,
    own: Estimate,
    *,
    prices: Prices,
    throughput_ratio: Decimal | None,
    given: Mapping[str, Price] | None = None,
) -> Alternative:
    """Estimate the same run on another instance type, which must be in the catalogue (UC4001).

    The throughput ratio, measured tokens per second of one node of the other type by those of one node of the cluster,
    shortens the run. Without one, which depends on the model, only prices are compared. GPUs need no compilation.
    Given prices of nodes are ignored.
    """
    node_type = get_instance_type(instance_type)
    footprint = own.footprint
    first = footprint.supplies[0]
    known = INSTANCE_TYPES.get(first.instance_type)
    estimate = None
    if throughput_ratio is not None:
        supplies = tuple(replace(supply, instance_type=instance_type) for supply in footprint.paid_supplies())
        speed = own.usage.tokens_per_second
        usage = replace(
            own.usage,
            hours=own.usage.hours / throughput_ratio,
            tokens_per_second=None if speed is None else speed * throughput_ratio,
            compile_hours=own.usage.compile_hours if node_type.is_neuron else Decimal(0),
            savings_plan_rate=None,
        )
        estimate = estimate_cost(
            replace(footprint, supplies=supplies),
            usage=usage,
            prices=prices,
            given={name: price for name, price in (given or {}).items() if not name.startswith("nodes")},
        )
    return Alternative(
        instance_type=instance_type,
        chips_per_node=node_type.chips,
        own_chips_per_node=known.chips if known else 0,
        price=prices(BillableItem(kind=first.market, name=instance_type), footprint.region),
        estimate=estimate,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class CostDifference:
    """How a deployment changes the cost per hour in which all nodes run, and per month in which none does."""

    cluster: str
    node_hour: Money
    idle_month: Money


def cost_differences(
    before: Iterable[StackTemplate], after: Iterable[StackTemplate], *, prices: Prices
) -> tuple[CostDifference, ...]:
    """Return how a deployment changes the cost of each cluster.

    Unchanged lines cancel out, even if their price is unknown. Clusters without a stack to deploy are omitted, since
    a deployment does not touch them.
    """
    before, after = list(before), list(after)
    changes = []
    for cluster in dict.fromkeys(stack.cluster for stack in after):
        old, new = (
            estimate_cost(
                template_footprint(cluster, [stack for stack in stacks if stack.cluster == cluster]),
                usage=Usage(hours=Decimal(1)),
                prices=prices,
            )
            for stacks in (before, after)
        )
        run = _difference(old.lines, new.lines)
        idle = _difference(
            *([line for line in lines if line.charged == "always"] for lines in (old.lines, new.lines))
        )
        changes.append(CostDifference(cluster=cluster, node_hour=run, idle_month=idle * HOURS_OF_A_MONTH))
    return tuple(changes)


def _difference(before: Sequence[Line], after: Sequence[Line]) -> Money:
    """Return the cost of the lines only in `after` minus that of the lines only in `before`."""
    old, new = list(before), list(after)
    for line in before:
        if line in new:  # a line in both has the same resource and price
            old.remove(line)
            new.remove(line)
    less = Money.total(line.hour for line in old)
    more = Money.total(line.hour for line in new)
    return more + replace(less, low=-less.high, high=-less.low) if old or new else NOTHING
