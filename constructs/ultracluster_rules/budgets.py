"""Rules for AWS Budgets."""

from collections.abc import Sequence
from typing import Final

from ultracluster_catalog.limits.budgets import (
    MOST_BUDGET_EMAILS,
    MOST_BUDGET_NOTIFICATIONS,
    MOST_BUDGET_PERCENT,
)
from ultracluster_catalog.names.identifiers import SNS_TOPIC_ARN
from ultracluster_rules.findings import Finding, quote, require
from ultracluster_rules.record import RuleRecord
from ultracluster_rules.values import Between, Form

MONTHLY_USD: Final = Between(code="UC6360", least=1, most=10_000_000_000)
"""Monthly limit in whole US dollars."""

PERCENT: Final = Between(code="UC6361", least=1, most=MOST_BUDGET_PERCENT)
"""Threshold in whole percent of the limit."""

TOPIC_ARN: Final = Form(
    code="UC6362",
    pattern=SNS_TOPIC_ARN,
    allowed="the ARN of an SNS topic, such as arn:aws:sns:us-east-2:123456789012:costs",
)
"""Topic of the notifications."""


def check_budget(
    *,
    monthly_usd: float,
    actual_percents: Sequence[float],
    forecast_percents: Sequence[float],
    close_at_percent: float | None,
    emails: Sequence[str],
) -> list[Finding]:
    """Check a budget: its limit (UC6360), thresholds in percent of it (UC6361) and recipients (UC6362)."""
    findings = []
    findings += require(
        0 < monthly_usd < float("inf"),
        MONTHLY_USD.code,
        f"got {quote(monthly_usd)}",
        allowed="more than 0 US dollars",
        path="monthly_usd",
    )
    closing = [] if close_at_percent is None else [close_at_percent]
    for path, percents in (
        ("actual_percents", actual_percents),
        ("forecast_percents", forecast_percents),
        ("close_at_percent", closing),
    ):
        outside = [percent for percent in percents if not 0 < percent <= MOST_BUDGET_PERCENT]
        if outside or len(set(percents)) < len(percents):
            allowed = f"each once, above 0 and up to {MOST_BUDGET_PERCENT:,} percent"
            findings.append(Finding(PERCENT.code, f"got {quote(list(percents))}", allowed=allowed, path=path))
    count = len({*actual_percents, *closing}) + len(set(forecast_percents))
    findings += require(
        1 <= count <= MOST_BUDGET_NOTIFICATIONS,
        PERCENT.code,
        f"got {count} thresholds",
        allowed=f"1 to {MOST_BUDGET_NOTIFICATIONS}",
        path="actual_percents",
    )
    invalid = [email for email in emails if not _is_address(email)]
    findings += require(
        not invalid and len(emails) <= MOST_BUDGET_EMAILS,
        TOPIC_ARN.code,
        f"got {quote(invalid[0])}" if invalid else f"got {len(emails)} addresses",
        allowed=f"up to {MOST_BUDGET_EMAILS} email addresses, such as jane@example.com",
        path="emails",
    )
    return findings


def _is_address(text: str) -> bool:
    name, at, domain = text.rpartition("@")
    return bool(name and at and "." in domain and text.isprintable() and " " not in text)


RECORDS: Final = (
    RuleRecord(
        "UC6360",
        "The limit of a budget is above zero.",
        remedy="Specify the monthly budget of the cluster in US dollars; `ultracluster cost` estimates it.",
        source="botocore 1.44.5, Budgets Spend, 2026.",
        example="budget: {monthly_usd: 50000, emails: [ml@example.com]}",
    ),
    RuleRecord(
        "UC6361",
        "A budget has 1 to 10 thresholds, each once, in percent above zero.",
        remedy="Specify 1 to 10 different thresholds in percent above zero.",
        source="AWS Budgets quotas: 10 notifications for a budget.",
        example="budget: {monthly_usd: 50000, actual_percents: [50, 90], emails: [ml@example.com]}",
    ),
    RuleRecord(
        "UC6362",
        "A budget notifies up to 10 email addresses.",
        remedy="Specify up to 10 email addresses; subscribe others to the topic.",
        source="AWS Budgets quotas: 10 addresses for a notification.",
        example="budget: {monthly_usd: 50000, emails: [jane@example.com]}",
    ),
)
