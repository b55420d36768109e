"""AWS Budgets: what a budget takes, and how a queue shows that one has closed it.

Figures: AWS::Budgets::Budget in the CloudFormation guide and the model of botocore 1.44.5, read 2026-11.
"""

from typing import Final

__all__ = ["CLOSED_BY_BUDGET_TAG", "MOST_BUDGET_EMAILS", "MOST_BUDGET_NOTIFICATIONS", "MOST_BUDGET_PERCENT"]

CLOSED_BY_BUDGET_TAG: Final = "ultracluster:closed-by-budget"
"""Tag of a job queue that a budget has closed, with the time. Who opens the queue again removes it first."""

MOST_BUDGET_NOTIFICATIONS: Final = 10
"""Notifications of one budget."""

MOST_BUDGET_EMAILS: Final = 10
"""Mail addresses of one notification, beside one SNS topic."""

MOST_BUDGET_PERCENT: Final = 1_000_000
"""The highest threshold, in percent of the limit."""
