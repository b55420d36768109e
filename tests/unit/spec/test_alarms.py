"""Alarms, their recipients and the budget of a cluster."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.stacks.config.capacity_edits import lines

from ultracluster_spec.alarms import Alarms, check_budget, check_recipients
from ultracluster_stacks.config import LoadedRollout

ON_DEMAND = ("market_type: capacity-block", "market_type: on-demand")


def test_a_capacity_block_has_alarms_by_default_and_other_capacity_has_not(
    load: Callable[..., LoadedRollout],
) -> None:
    by_default = load().config.waves[0].clusters[0].effective_alarms
    assert by_default is not None
    assert by_default == Alarms(dashboard=False)
    assert load(ON_DEMAND).config.waves[0].clusters[0].effective_alarms is None
    disabled = lines("alarms: {enabled: false}")
    assert load(disabled).config.waves[0].clusters[0].effective_alarms is None
    asked = load(lines("alarms: {idle_minutes: 5}"), ON_DEMAND).config.waves[0].clusters[0].effective_alarms
    assert asked is not None
    assert (asked.idle_minutes, asked.dashboard) == (5, True)


def test_a_recipient_that_only_a_deployment_knows_is_an_address_or_the_one_topic() -> None:
    topic = "arn:aws:sns:us-east-2:123456789012:alarms"
    found = check_recipients([None, topic], region="us-east-2")
    assert [(each.code, each.path) for each in found] == [("UC6449", "notify[1]")]
    assert check_recipients([None, "a@example.com"], region="us-east-2") == []


def test_only_the_limit_is_needed_and_no_queue_is_closed_unasked(load: Callable[..., LoadedRollout]) -> None:
    budget = load(lines("budget: {monthly_usd: 50000}")).config.waves[0].clusters[0].budget

    assert budget is not None
    assert (budget.actual_percents, budget.forecast_percents) == ((50, 80, 100), (100,))
    assert (budget.close_queues_at_percent, budget.emails) == (None, ())
    assert load().config.waves[0].clusters[0].budget is None


def budget_findings(**changes: Any) -> list[str]:
    budget: dict[str, Any] = {
        "monthly_usd": 50_000,
        "actual_percents": (50, 100),
        "forecast_percents": (100,),
        "close_at_percent": None,
        "emails": (),
    }
    return [str(finding) for finding in check_budget(**{**budget, **changes})]


PERCENT = "Allowed: each once, above 0 and up to 1,000,000 percent."


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"monthly_usd": 0}, "UC6360: monthly_usd: got 0. Allowed: more than 0 US dollars."),
        ({"monthly_usd": -1}, "UC6360: monthly_usd: got -1. Allowed: more than 0 US dollars."),
        ({"monthly_usd": float("inf")}, "UC6360: monthly_usd: got inf. Allowed: more than 0 US dollars."),
        ({"monthly_usd": float("nan")}, "UC6360: monthly_usd: got nan. Allowed: more than 0 US dollars."),
        ({"actual_percents": (0,)}, f"UC6361: actual_percents: got [0]. {PERCENT}"),
        ({"actual_percents": (50, 50)}, f"UC6361: actual_percents: got [50, 50]. {PERCENT}"),
        ({"forecast_percents": (1_000_001,)}, f"UC6361: forecast_percents: got [1000001]. {PERCENT}"),
        ({"close_at_percent": 0}, f"UC6361: close_at_percent: got [0]. {PERCENT}"),
        (
            {"actual_percents": (), "forecast_percents": ()},
            "UC6361: actual_percents: got 0 thresholds. Allowed: 1 to 10.",
        ),
        (
            {"actual_percents": range(1, 10), "close_at_percent": 10},
            "UC6361: actual_percents: got 11 thresholds. Allowed: 1 to 10.",
        ),
    ],
)
def test_refuses_what_aws_does_not_take(changes: dict[str, Any], line: str) -> None:
    assert budget_findings(**changes) == [line]


@pytest.mark.parametrize(
    "changes",
    [
        {"monthly_usd": 0.01},
        {"actual_percents": (0.5, 1_000_000)},
        {"actual_percents": (), "forecast_percents": (), "close_at_percent": 1},
        {"actual_percents": range(1, 10)},
        {"actual_percents": range(1, 10), "close_at_percent": 9},
    ],
)
def test_takes_what_is_just_allowed(changes: dict[str, Any]) -> None:
    assert budget_findings(**changes) == []
