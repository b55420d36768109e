"""What a change of the templates of a cluster adds to its bill, or takes from it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ultracluster_stacks.cost.bill import Prices
from ultracluster_stacks.cost.estimate import Estimate, estimate_cost
from ultracluster_stacks.cost.line import HOURS_OF_A_MONTH, Line, Usage
from ultracluster_stacks.cost.money import NOTHING, Money
from ultracluster_stacks.cost.template_footprint import template_footprint
from ultracluster_stacks.plan import StackTemplate

__all__ = ["CostDifference", "cost_differences"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CostDifference:
    """What a deployment does to the bill of one cluster; less is below zero.

    Attributes:
        cluster: Name of its stage, such as ``train-us-east-2``.
        node_hour: For an hour in which all nodes run.
        idle_month: For a month in which none does.
    """

    cluster: str
    node_hour: Money
    idle_month: Money


def cost_differences(
    before: Iterable[StackTemplate], after: Iterable[StackTemplate], *, prices: Prices
) -> tuple[CostDifference, ...]:
    """Say what a deployment does to the bill of each cluster.

    What is the same on both sides adds nothing, also where its price is not known.

    Args:
        before: What is there.
        after: What shall be there; clusters that are not in it are left out, since nothing happens to them.
        prices: Where prices come from.
    """
    before, after = list(before), list(after)
    found = []
    for cluster in dict.fromkeys(each.cluster for each in after):
        old, new = (
            _estimate(cluster, [each for each in side if each.cluster == cluster], prices)
            for side in (before, after)
        )
        run = _difference(old.lines, new.lines)
        idle = _difference(
            *([each for each in side if each.charged == "always"] for side in (old.lines, new.lines))
        )
        found.append(CostDifference(cluster=cluster, node_hour=run, idle_month=idle * HOURS_OF_A_MONTH))
    return tuple(found)


def _estimate(cluster: str, stacks: list[StackTemplate], prices: Prices) -> Estimate:
    return estimate_cost(template_footprint(cluster, stacks), usage=Usage(hours=Decimal(1)), prices=prices)


def _difference(before: Sequence[Line], after: Sequence[Line]) -> Money:
    """Add up the lines that are on one side only: a changed line is the old one gone and a new one."""
    old, new = list(before), list(after)
    for line in before:
        if line in new:  # the same thing, at the same price
            old.remove(line)
            new.remove(line)
    less = Money.total(each.hour for each in old)
    more = Money.total(each.hour for each in new)
    return more + Money(low=-less.high, high=-less.low, without=less.without) if old or new else NOTHING
