"""Rules for AWS Budgets."""

from collections.abc import Sequence
from typing import Final

from ultracluster_catalog.limits.budgets import (
    MOST_BUDGET_EMAILS,
    MOST_BUDGET_NOTIFICATIONS,
    MOST_BUDGET_PERCENT,
)
from ultracluster_catalog.names.identifiers import SNS_TOPIC_ARN
from ultracluster_rules.findings import Finding, quote
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
    """Check a budget for what AWS Budgets would reject.

    Args:
        monthly_usd: Monthly limit in US dollars.
        actual_percents: Thresholds of the actual cost, in percent of the limit.
        forecast_percents: Thresholds of the forecasted cost at the end of the month, in percent of the limit.
        close_at_percent: Threshold of the actual cost that closes queues. None for never.
        emails: Recipients of notifications.

    Returns:
        UC6360 for the limit, UC6361 for thresholds, UC6362 for addresses.
    """
    findings = []
    if not 0 < monthly_usd < float("inf"):
        findings.append(
            Finding(
                code=MONTHLY_USD.code,
                problem=f"got {quote(monthly_usd)}",
                allowed="more than 0 US dollars",
                path="monthly_usd",
            )
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
            findings.append(
                Finding(code=PERCENT.code, problem=f"got {quote(list(percents))}", allowed=allowed, path=path)
            )
    count = len({*actual_percents, *closing}) + len(set(forecast_percents))
    if not 1 <= count <= MOST_BUDGET_NOTIFICATIONS:
        findings.append(
            Finding(
                code=PERCENT.code,
                problem=f"got {count} thresholds",
                allowed=f"1 to {MOST_BUDGET_NOTIFICATIONS}",
                path="actual_percents",
            )
        )
    invalid = [email for email in emails if not _is_address(email)]
    if invalid or len(emails) > MOST_BUDGET_EMAILS:
        findings.append(
            Finding(
                code=TOPIC_ARN.code,
                problem=f"got {quote(invalid[0])}" if invalid else f"got {len(emails)} addresses",
                allowed=f"up to {MOST_BUDGET_EMAILS} mail addresses, such as jane@example.com",
                path="emails",
            )
        )
    return findings


def _is_address(text: str) -> bool:
    name, at, domain = text.rpartition("@")
    return bool(name and at and "." in domain and text.isprintable() and " " not in text)
