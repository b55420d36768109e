"""Alarms reach recipients, and budgets have amounts and percentages that AWS Budgets accepts."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.alarm_edits import NOTIFY_LINE, ON_DEMAND, with_alarms

from ultracluster_spec.findings import Finding

NOBODY = (NOTIFY_LINE, "")


def test_warns_about_alarms_without_recipients(findings: Callable[..., list[Finding]]) -> None:
    assert [each.code for each in findings(with_alarms("{}"), NOBODY, ON_DEMAND)] == ["UC2250"]
    assert findings(with_alarms("{}"), ON_DEMAND) == []


@pytest.mark.parametrize(
    ("edits", "codes"),
    [
        ([NOBODY], ["UC6448"]),
        ([NOBODY, with_alarms("{enabled: false}")], ["UC6448"]),
        ([NOBODY, with_alarms("{emails: [ml@example.com]}")], []),
        ([NOBODY, with_alarms("{enabled: false, emails: [ml@example.com]}")], ["UC6448"]),
        ([NOBODY, ON_DEMAND], []),
        ([("[ml@example.com]", "[a@example.com, b@example.com, a@example.com]")], ["UC6449"]),
    ],
)
def test_a_capacity_block_has_recipients_of_notifications(
    findings: Callable[..., list[Finding]], edits: list[tuple[str, str]], codes: list[str]
) -> None:
    assert [each.code for each in findings(*edits)] == codes
