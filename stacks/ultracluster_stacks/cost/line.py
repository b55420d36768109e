"""The planned use of a cluster, and one line of its bill."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Literal

from ultracluster_catalog.prices.prices import Price
from ultracluster_stacks.cost.money import NOTHING, Money

__all__ = ["HOURS_OF_A_MONTH", "Line", "Usage"]

HOURS_OF_A_MONTH: Final = 730
"""A twelfth of a year: how prices for a month and prices for an hour are converted here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """How a cluster is planned to be used. What is None is not said, and its lines are named as left out.

    Attributes:
        hours: Hours of one run, in which all nodes are paid.
        runs_per_month: Runs in a month.
        tokens_per_second: What the whole cluster trains in a second.
        savings_plan_rate: What a node-hour costs under a Savings Plan, in US dollars; such hours are paid whether they
            are used or not. For on-demand nodes only.
        stored_gb: GB in the buckets.
        logs_gb: GB of logs that are written in a month.
        nat_gb: GB through the NAT gateway in a month.
        endpoint_gb: GB through the interface endpoints in a month.
        transfer_gb: GB out to the internet in a month.
        backup_gb: GB of backups of the file system.
        tiered_gb: GB on a file system with Intelligent-Tiering.
        custom_metrics: Custom metrics beside those of the footprint. Default: none.
        compile_hours: Hours of compiling before the first run. Default: none.
        compile_reuse: Runs that use what was compiled, which share its cost. Default: one.
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
        """Hours of a month in which the nodes are paid."""
        return min(self.hours * self.runs_per_month, Decimal(HOURS_OF_A_MONTH))


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One thing that is paid.

    Attributes:
        name: What it is called on the bill, once in an estimate.
        what: What it is, in words.
        quantity: How many units of the price; for ``GB`` those of a month. None where it depends on a use that is not
            said.
        price: The price of one unit.
        charged: In the hours of a run, at all times, or once before the first run.
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
        return Money(low=bounds[0] * self.quantity, high=bounds[1] * self.quantity)

    @property
    def hour(self) -> Money:
        """What an hour of a run costs; nothing for what is paid once."""
        if self.charged == "once":
            return NOTHING
        by_the_hour = self.price.unit in {"hour", "instance-hour"}
        return self._amount() * (Decimal(1) if by_the_hour else 1 / Decimal(HOURS_OF_A_MONTH))

    def run(self, usage: Usage) -> Money:
        """What a run costs; of what is paid once, its share.

        Args:
            usage: The planned use.
        """
        if self.charged == "once":
            return self._amount() * (1 / Decimal(usage.compile_reuse))
        return self.hour * usage.hours

    def month(self, usage: Usage) -> Money:
        """What a month costs.

        Args:
            usage: The planned use.
        """
        match self.charged:
            case "once":
                return self.run(usage) * usage.runs_per_month
            case "always":
                return self.hour * HOURS_OF_A_MONTH
            case "run":
                return self.hour * usage.node_hours_of_a_month
