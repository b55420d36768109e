"""Rules over the budget of a cluster."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ultracluster_rules.budgets import check_budget
from ultracluster_stacks.config.reading.problem import Problem

if TYPE_CHECKING:  # the model runs these rules
    from ultracluster_stacks.config.models.cluster import ClusterConfig

__all__ = ["RULES"]


def _budget_is_one(cluster: "ClusterConfig") -> Iterator[Problem]:
    budget = cluster.budget
    if budget is None:
        return
    for finding in check_budget(
        monthly_usd=budget.monthly_usd,
        actual_percents=budget.actual_percents,
        forecast_percents=budget.forecast_percents,
        close_at_percent=budget.close_queues_at_percent,
        emails=budget.emails,
    ):
        yield Problem(
            loc=("budget", finding.path), code=finding.code, problem=finding.problem, allowed=finding.allowed
        )


def _somebody_is_told(cluster: "ClusterConfig") -> Iterator[Problem]:
    budget = cluster.budget
    if budget and not budget.emails and budget.topic_arn is None:
        yield Problem(
            loc=("budget",),
            code="UC2250",
            problem="the budget gets a new topic without a subscriber",
            remedy="Give emails or topic_arn, or subscribe somebody to the topic",
        )


RULES: Final = (_budget_is_one, _somebody_is_told)
