"""Estimate the cost of a cluster from its configuration or templates, with dated prices, without AWS and the CDK.

A footprint lists the billable resources; an estimate prices them for a planned usage. Unknown prices are reported as
unknown, never as 0.
"""

from ultracluster_stacks.cost.alternative import Alternative, compare_with
from ultracluster_stacks.cost.bill import Prices
from ultracluster_stacks.cost.config_footprint import configured_footprint, planned_hours
from ultracluster_stacks.cost.difference import CostDifference, cost_differences
from ultracluster_stacks.cost.estimate import NOT_COUNTED, Estimate, catalogue_prices, estimate_cost
from ultracluster_stacks.cost.footprint import Footprint, NodeSupply
from ultracluster_stacks.cost.line import HOURS_OF_A_MONTH, Line, Usage
from ultracluster_stacks.cost.money import APPROXIMATELY, NOTHING, Money
from ultracluster_stacks.cost.template_footprint import lustre_settings, template_footprint

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
