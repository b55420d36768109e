"""Estimate the cost of a cluster from its configuration or templates, with dated prices, without AWS and the CDK.

A footprint lists the billable resources; an estimate prices them for a planned usage. Unknown prices are reported as
unknown, never as 0.
"""

from ultracluster_stacks.cost.bill import HOURS_OF_A_MONTH, Line, Prices, Usage
from ultracluster_stacks.cost.estimate import (
    NOT_COUNTED,
    Alternative,
    CostDifference,
    Estimate,
    catalogue_prices,
    compare_with,
    cost_differences,
    estimate_cost,
)
from ultracluster_stacks.cost.footprint import (
    Footprint,
    NodeSupply,
    configured_footprint,
    lustre_settings,
    planned_hours,
    template_footprint,
)
from ultracluster_stacks.cost.money import APPROXIMATELY, NOTHING, Money

__all__ = [
    "APPROXIMATELY",
    "HOURS_OF_A_MONTH",
    "NOTHING",
    "NOT_COUNTED",
    "Alternative",
    "CostDifference",
    "Estimate",
    "Footprint",
    "Line",
    "Money",
    "NodeSupply",
    "Prices",
    "Usage",
    "catalogue_prices",
    "compare_with",
    "configured_footprint",
    "cost_differences",
    "estimate_cost",
    "lustre_settings",
    "planned_hours",
    "template_footprint",
]
