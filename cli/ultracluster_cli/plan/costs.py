"""Show the cost difference of a plan for each cluster."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ultracluster_cli.cost.output import money_json
from ultracluster_stacks.cost import CostDifference, Money

Windows = Mapping[str, tuple[datetime | None, datetime | None]]
"""Start and end of the capacity of each cluster, as far as known, by stage name such as ``train-us-east-2``."""


def costs_json(costs: Iterable[CostDifference], windows: Windows) -> list[dict[str, Any]]:
    """Return the cost difference of each cluster of a plan as plain values."""
    rows = []
    for cost in costs:
        start, end = windows.get(cost.cluster, (None, None))
        rows.append(
            {
                "name": cost.cluster,
                "start": start and start.isoformat(),
                "end": end and end.isoformat(),
                "node_hour": money_json(cost.node_hour),
                "idle_month": money_json(cost.idle_month),
            }
        )
    return rows


def cost_lines(costs: Iterable[CostDifference], windows: Windows) -> Iterator[str]:
    """Return one line of text for each cluster of a plan."""
    for cost in costs:
        start, end = windows.get(cost.cluster, (None, None))
        window = "unknown" if start is end is None else f"{_time(start)} to {_time(end)}"
        yield (
            f"{cost.cluster}: capacity {window}; list prices: {_signed(cost.node_hour)} USD per hour of all nodes, "
            f"{_signed(cost.idle_month)} USD per month without nodes"
        )


def _time(time: datetime | None) -> str:
    return "unknown" if time is None else f"{time:%Y-%m-%d %H:%M} UTC"


def _signed(amount: Money) -> str:
    if not amount.is_known:
        return f"unknown ({', '.join(amount.without)})"
    without = f" (without {', '.join(amount.without)}: unknown)" if amount.without else ""
    return f"{amount.text(signed=True)}{without}"
