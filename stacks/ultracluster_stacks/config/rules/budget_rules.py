"""Rules about the budget of a cluster."""

from collections.abc import Iterator
from typing import Final

from ultracluster_rules.budgets import check_budget
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.reading.problem import Problem
from ultracluster_stacks.config.rules.alarm_rules import topic_has_subscribers


def _budget_is_valid(cluster: ClusterConfig) -> Iterator[Problem]:
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
        yield Problem(("budget", finding.path), finding)


def _budget_has_recipients(cluster: ClusterConfig) -> Iterator[Problem]:
    if cluster.budget:
        yield from topic_has_subscribers("budget", cluster.budget)


RULES: Final = (_budget_is_valid, _budget_has_recipients)
