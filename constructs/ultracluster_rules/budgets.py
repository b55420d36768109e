"""Rules for AWS Budgets."""

from collections.abc import Sequence

from ultracluster_catalog.limits.budgets import (
    MOST_BUDGET_EMAILS,
    MOST_BUDGET_NOTIFICATIONS,
    MOST_BUDGET_PERCENT,
)
from ultracluster_rules.findings import Finding, quote

__all__ = ["check_budget"]


def check_budget(
    *,
    monthly_usd: float,
    actual_percents: Sequence[float],
    forecast_percents: Sequence[float],
    close_at_percent: float | None,
    emails: Sequence[str],
) -> list[Finding]:
    """Find out whether AWS takes a budget.

    Args:
        monthly_usd: Limit of a month in US dollars.
        actual_percents: Thresholds of what was spent, in percent of the limit.
        forecast_percents: Thresholds of what will have been spent at the end of the month.
        close_at_percent: Threshold of what was spent at which queues are closed. None for never.
        emails: Addresses that are told.

    Returns:
        UC6360 for the limit, UC6361 for thresholds, UC6362 for addresses; empty when all is right.
    """
    findings = []
    if not 0 < monthly_usd < float("inf"):
        findings.append(
            Finding(
                code="UC6360",
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
        wrong = [each for each in percents if not 0 < each <= MOST_BUDGET_PERCENT]
        if wrong or len(set(percents)) < len(percents):
            allowed = f"each once, above 0 and up to {MOST_BUDGET_PERCENT:,} percent"
            findings.append(
                Finding(code="UC6361", problem=f"got {quote(list(percents))}", allowed=allowed, path=path)
            )
    count = len({*actual_percents, *closing}) + len(set(forecast_percents))
    if not 1 <= count <= MOST_BUDGET_NOTIFICATIONS:
        findings.append(
            Finding(
                code="UC6361",
                problem=f"got {count} thresholds",
                allowed=f"1 to {MOST_BUDGET_NOTIFICATIONS}",
                path="actual_percents",
            )
        )
    bad = [each for each in emails if not _is_address(each)]
    if bad or len(emails) > MOST_BUDGET_EMAILS:
        findings.append(
            Finding(
                code="UC6362",
                problem=f"got {quote(bad[0])}" if bad else f"got {len(emails)} addresses",
                allowed=f"up to {MOST_BUDGET_EMAILS} mail addresses, such as jane@example.com",
                path="emails",
            )
        )
    return findings


def _is_address(text: str) -> bool:
    name, at, domain = text.rpartition("@")
    return bool(name and at and "." in domain and text.isprintable() and " " not in text)
