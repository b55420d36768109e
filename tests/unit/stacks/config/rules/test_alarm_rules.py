"""Alarms reach somebody."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.alarm_edits import with_alarms

from ultracluster_rules.findings import Finding

TOPIC = "arn:aws:sns:us-east-2:123456789012:alarms"


@pytest.mark.parametrize(
    "alarms", ["{emails: [ml@example.com, on-call@example.com]}", f'{{topic_arn: "{TOPIC}"}}']
)
def test_alarms_need_only_recipients(findings: Callable[..., list[Finding]], alarms: str) -> None:
    assert findings(with_alarms(alarms)) == []


def test_warns_about_alarms_without_recipients(findings: Callable[..., list[Finding]]) -> None:
    assert [each.code for each in findings(with_alarms("{}"))] == ["UC2250"]


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
