"""Compute the cost difference of a plan for each cluster."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ultracluster_cli.cost.output import money_json
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.cost import CostDifference, Money, catalogue_prices, cost_differences
from ultracluster_stacks.plan import StackTemplate


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedCluster:
    """A cluster of a plan.

    Attributes:
        name: Stage name, such as ``train-us-east-2``.
        start: Start of its capacity. None if unknown.
        end: End of its capacity. None if unknown.
    """

    name: str
    start: datetime | None
    end: datetime | None
    difference: CostDifference


def planned_clusters(
    before: Sequence[StackTemplate], after: Sequence[StackTemplate], clusters: Sequence[ClusterConfig]
) -> list[PlannedCluster]:
    """Return the cost difference of each cluster at list prices."""
    capacity = {cluster.stage: cluster.capacity for cluster in clusters}
    return [
        PlannedCluster(
            name=cluster.cluster,
            start=capacity[cluster.cluster].start if cluster.cluster in capacity else None,
            end=capacity[cluster.cluster].end if cluster.cluster in capacity else None,
            difference=cluster,
        )
        for cluster in cost_differences(before, after, prices=catalogue_prices())
    ]


def planned_clusters_json(clusters: Sequence[PlannedCluster]) -> list[dict[str, Any]]:
    """Return the clusters of a plan as plain values."""
    return [
        {
            "name": cluster.name,
            "start": cluster.start and cluster.start.isoformat(),
            "end": cluster.end and cluster.end.isoformat(),
            "node_hour": money_json(cluster.difference.node_hour),
            "idle_month": money_json(cluster.difference.idle_month),
        }
        for cluster in clusters
    ]


def planned_lines(clusters: Sequence[PlannedCluster]) -> Iterator[str]:
    """Return one line of text for each cluster."""
    for cluster in clusters:
        start, end = (_time(time) for time in (cluster.start, cluster.end))
        window = "unknown" if cluster.start is cluster.end is None else f"{start} to {end}"
        difference = cluster.difference
        yield (
            f"{cluster.name}: capacity {window}; list prices: {_signed(difference.node_hour)} USD per hour of all nodes, "
            f"{_signed(difference.idle_month)} USD per month without nodes"
        )


def _time(time: datetime | None) -> str:
    return "unknown" if time is None else f"{time:%Y-%m-%d %H:%M} UTC"


def _signed(amount: Money) -> str:
    if not amount.is_known:
        return f"unknown ({', '.join(amount.without)})"
    without = f" (without {', '.join(amount.without)}: unknown)" if amount.without else ""
    return f"{amount.text(signed=True)}{without}"
