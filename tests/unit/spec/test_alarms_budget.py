from pathlib import Path

import pytest
from tests.unit.stacks.config.budget_edits import QUICKSTART, load_with_budget

from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.config import load_rollout


def test_only_the_limit_is_needed_and_no_queue_is_closed_unasked(tmp_path: Path) -> None:
    budget = load_with_budget("{monthly_usd: 50000}", tmp_path)

    assert budget is not None
    assert (budget.actual_percents, budget.forecast_percents) == ((50, 80, 100), (100,))
    assert (budget.close_queues_at_percent, budget.emails) == (None, ())
    assert load_rollout(QUICKSTART).config.waves[0].clusters[0].budget is None


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ("{monthly_usd: 0, emails: [a@example.com]}", "UC6360"),
        ("{emails: [jane@example.com]}", "UC1021"),
    ],
)
def test_refuses_a_budget_with_its_line(budget: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(FindingsError) as refused:
        load_with_budget(budget, tmp_path)

    assert [each.code for each in refused.value.findings] == [said]
    assert "rollout.yaml:" in refused.value.findings[0].location


@pytest.mark.parametrize(
    "budget",
    [
        "{monthly_usd: 1}",
        "{monthly_usd: 1, emails: [a@example.com], actual_percents: [1], close_queues_at_percent: 1000000}",
        "{monthly_usd: 1, topic_arn: 'arn:aws:sns:us-east-2:123456789012:costs'}",
    ],
)
def test_takes_a_budget_that_is_just_allowed(budget: str, tmp_path: Path) -> None:
    assert load_with_budget(budget, tmp_path)
