"""Planned usage of a cluster, and one line of its bill."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Literal

from ultracluster_catalog.prices.prices import Price
from ultracluster_stacks.cost.money import NOTHING, Money

HOURS_OF_A_MONTH: Final = 730
"""Hours of a twelfth of a year, to convert between monthly and hourly prices."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Planned usage of a cluster. Lines that depend on a value that is None are reported as left out.

    Attributes:
        hours: Hours of one run, in which all nodes are billed.
        tokens_per_second: Training throughput of the whole cluster.
        savings_plan_rate: Price of a node-hour under a Savings Plan, billed whether used or not. Applies to on-demand
            nodes only.
        logs_gb: GB of logs ingested per month.
        nat_gb: GB through the NAT gateway per month.
        endpoint_gb: GB through the interface endpoints per month.
        transfer_gb: GB out to the internet per month.
        tiered_gb: GB on a file system with Intelligent-Tiering.
        custom_metrics: Custom metrics besides those of the footprint. Default: none.
        compile_hours: Hours of compilation before the first run. Default: 0.
        compile_reuse: Number of runs that share the compiled graphs and their cost. Default: 1.
    """

    hours: Decimal
    runs_per_month: int = 1
    tokens_per_second: Decimal | None = None
    savings_plan_rate: Price | None = None
    stored_gb: Decimal | None = None
    logs_gb: Decimal | None = None
    nat_gb: Decimal | None = None
    endpoint_gb: Decimal | None = None
    transfer_gb: Decimal | None = None
    backup_gb: Decimal | None = None
    tiered_gb: Decimal | None = None
    custom_metrics: int = 0
    compile_hours: Decimal = Decimal(0)
    compile_reuse: int = 1

    @property
    def node_hours_of_a_month(self) -> Decimal:
        """Hours per month in which the nodes are billed."""
        return min(self.hours * self.runs_per_month, Decimal(HOURS_OF_A_MONTH))


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of a bill.

    Attributes:
        name: Name, unique in an estimate.
        quantity: Number of units of the price; GB are per month. None if it depends on an unknown usage.
        charged: When it is billed: in the hours of a run, always, or once before the first run.
    """

    name: str
    what: str
    quantity: Decimal | None
    price: Price
    charged: Literal["run", "always", "once"]

    def _amount(self) -> Money:
        bounds = self.price.bounds
        if bounds is None or self.quantity is None:
            return replace(NOTHING, without=(self.name,))
        return Money(
            low=bounds[0] * self.quantity,
            high=bounds[1] * self.quantity,
            approximate=bool(self.price.borrowed_from and self.quantity),
        )

    @property
    def hour(self) -> Money:
        """Cost per hour of a run; nothing for a line that is billed once."""
        if self.charged == "once":
            return NOTHING
        is_hourly = self.price.unit in {"hour", "instance-hour"}
        return self._amount() * (Decimal(1) if is_hourly else 1 / Decimal(HOURS_OF_A_MONTH))

    def run(self, usage: Usage) -> Money:
        """Return the cost per run, including a share of a line that is billed once."""
        if self.charged == "once":
            return self._amount() * (1 / Decimal(usage.compile_reuse))
        return self.hour * usage.hours

    def month(self, usage: Usage) -> Money:
        """Return the cost per month."""
        match self.charged:
            case "once":
                return self.run(usage) * usage.runs_per_month
            case "always":
                return self.hour * HOURS_OF_A_MONTH
            case "run":
                return self.hour * usage.node_hours_of_a_month
