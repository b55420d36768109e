"""A budget has a limit, percentages and recipients that AWS Budgets accepts."""

from pathlib import Path

import pytest
from tests.unit.stacks.config.budget_edits import load_with_budget

from ultracluster_rules.findings import FindingsError


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ("{monthly_usd: 1, emails: [a@example.com], actual_percents: [0]}", "UC6361"),
        ("{monthly_usd: 1, emails: [a@example.com], actual_percents: [50, 50]}", "UC6361"),
        ("{monthly_usd: 1, emails: [a@example.com], actual_percents: [], forecast_percents: []}", "UC6361"),
        ("{monthly_usd: 1, emails: [a@example.com], close_queues_at_percent: 0}", "UC6361"),
        ("{monthly_usd: 1, emails: [jane]}", "UC6362"),
        ("{monthly_usd: 1, topic_arn: costs}", "UC6362"),
    ],
)
def test_refuses_a_budget_with_its_line(budget: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(FindingsError) as refused:
        load_with_budget(budget, tmp_path)

    assert [each.code for each in refused.value.findings] == [said]
    assert "rollout.yaml:" in refused.value.findings[0].location
