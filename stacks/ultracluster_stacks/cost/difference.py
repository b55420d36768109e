"""How a change of templates changes the cost of a cluster."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from ultracluster_stacks.cost.bill import Prices
from ultracluster_stacks.cost.estimate import estimate_cost
from ultracluster_stacks.cost.line import HOURS_OF_A_MONTH, Line, Usage
from ultracluster_stacks.cost.money import NOTHING, Money
from ultracluster_stacks.cost.template_footprint import template_footprint
from ultracluster_stacks.plan import StackTemplate


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
