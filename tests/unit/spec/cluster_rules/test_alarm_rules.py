"""Alarms reach recipients, and budgets have amounts and percentages that AWS Budgets accepts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.stacks.config.alarm_edits import NOTIFY_LINE, ON_DEMAND, with_alarms
from tests.unit.stacks.config.budget_edits import load_with_budget

from ultracluster_spec.findings import Finding, FindingsError

NOBODY = (NOTIFY_LINE, "")
TOPIC = "arn:aws:sns:us-east-2:123456789012:alarms"


@pytest.mark.parametrize(
    "alarms", ["{emails: [ml@example.com, on-call@example.com]}", f'{{topic_arn: "{TOPIC}"}}']
)
def test_alarms_need_only_recipients(findings: Callable[..., list[Finding]], alarms: str) -> None:
    assert findings(with_alarms(alarms)) == []


def test_warns_about_alarms_without_recipients(findings: Callable[..., list[Finding]]) -> None:
    assert [each.code for each in findings(with_alarms("{}"), NOBODY, ON_DEMAND)] == ["UC2250"]
    assert findings(with_alarms("{}"), ON_DEMAND) == []


@pytest.mark.parametrize(
    ("alarms", "code", "path"),
    [
        ("{emails: [nobody]}", "UC6446", "emails[0]"),
        ("{emails: [a@example.com, b@example.com, a@example.com]}", "UC6446", "emails[2]"),
        (f'{{emails: [a@example.com], topic_arn: "{TOPIC}"}}', "UC6445", "emails"),
        ('{topic_arn: "alarms"}', "UC6447", "topic_arn"),
        (f'{{topic_arn: "{TOPIC.replace("us-east-2", "us-east-1")}"}}', "UC6447", "topic_arn"),
    ],
)
def test_refuses_recipients_that_nothing_reaches(
    findings: Callable[..., list[Finding]], alarms: str, code: str, path: str
) -> None:
    found = findings(with_alarms(alarms))
    assert [(each.code, each.path) for each in found] == [(code, f"waves[0].clusters[0].alarms.{path}")]


@pytest.mark.parametrize(
    ("edits", "codes"),
    [
        ([NOBODY], ["UC6448"]),
        ([NOBODY, with_alarms("{enabled: false}")], ["UC6448"]),
        ([NOBODY, with_alarms("{emails: [ml@example.com]}")], []),
        ([NOBODY, with_alarms("{enabled: false, emails: [ml@example.com]}")], ["UC6448"]),
        ([NOBODY, ON_DEMAND], []),
        ([("[ml@example.com]", "[nobody]")], ["UC6449"]),
        ([("[ml@example.com]", "[a@example.com, b@example.com, a@example.com]")], ["UC6449"]),
        ([("[ml@example.com]", f'["{TOPIC}"]')], []),
        ([("[ml@example.com]", f'["{TOPIC}", "{TOPIC}2"]')], ["UC6449"]),
        ([("[ml@example.com]", f'["{TOPIC.replace("us-east-2", "us-east-1")}"]')], ["UC6449"]),
    ],
)
def test_a_capacity_block_has_recipients_of_notifications(
    findings: Callable[..., list[Finding]], edits: list[tuple[str, str]], codes: list[str]
) -> None:
    assert [each.code for each in findings(*edits)] == codes


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
