"""Compute what a plan changes in the cost of each cluster."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ultracluster_cli.cost.output import money_json
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.cost import CostDifference, Money, catalogue_prices, cost_differences
from ultracluster_stacks.plan import StackTemplate

__all__ = ["PlannedCluster", "planned_clusters", "planned_clusters_json", "planned_lines"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedCluster:
    """A cluster of a plan.

    Attributes:
        name: Name of its stage, such as ``train-us-east-2``.
        start: When its capacity starts. None if not known.
        end: When its capacity ends. None if not known.
        difference: What the plan does to its bill.
    """

    name: str
    start: datetime | None
    end: datetime | None
    difference: CostDifference


def planned_clusters(
    before: Sequence[StackTemplate], after: Sequence[StackTemplate], clusters: Sequence[ClusterConfig]
) -> list[PlannedCluster]:
    """Return what a plan changes in the cost of each cluster, at list prices.

    Args:
        before: What is there.
        after: What shall be there.
        clusters: The clusters of the rollout, whose capacity the rollout may give times for.
    """
    capacity = {each.stage: each.capacity for each in clusters}
    return [
        PlannedCluster(
            name=each.cluster,
            start=capacity[each.cluster].start if each.cluster in capacity else None,
            end=capacity[each.cluster].end if each.cluster in capacity else None,
            difference=each,
        )
        for each in cost_differences(before, after, prices=catalogue_prices())
    ]


def planned_clusters_json(clusters: Sequence[PlannedCluster]) -> list[dict[str, Any]]:
    """Return the clusters of a plan as plain values.

    Args:
        clusters: The clusters.
    """
    return [
        {
            "name": each.name,
            "start": each.start and each.start.isoformat(),
            "end": each.end and each.end.isoformat(),
            "node_hour": money_json(each.difference.node_hour),
            "idle_month": money_json(each.difference.idle_month),
        }
        for each in clusters
    ]


def planned_lines(clusters: Sequence[PlannedCluster]) -> Iterator[str]:
    """Return one line of text for each cluster.

    Args:
        clusters: The clusters.
    """
    for each in clusters:
        start, end = (_time(time) for time in (each.start, each.end))
        window = "not known" if each.start is each.end is None else f"{start} to {end}"
        difference = each.difference
        yield (
            f"{each.name}: capacity {window}; list prices: {_signed(difference.node_hour)} USD for an hour of all nodes, "
            f"{_signed(difference.idle_month)} USD for a month without nodes"
        )


def _time(time: datetime | None) -> str:
    return "not known" if time is None else f"{time:%Y-%m-%d %H:%M} UTC"


def _signed(amount: Money) -> str:
    if not amount.is_known:
        return f"not known ({', '.join(amount.without)})"
    sign = "+" if amount.low > 0 else ""
    without = f" (without {', '.join(amount.without)}, not known)" if amount.without else ""
    return f"{sign}{amount.text()}{without}"
