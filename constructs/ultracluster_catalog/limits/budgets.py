"""Limits of AWS Budgets, and the tag of queues that a budget has closed.

Figures: AWS::Budgets::Budget in the CloudFormation guide and the model of botocore 1.44.5, read 2026-11.
"""

from typing import Final

CLOSED_BY_BUDGET_TAG: Final = "ultracluster:closed-by-budget"
"""Tag of a job queue that a budget has closed, with the time. Remove the tag before you enable the queue again."""

MOST_BUDGET_NOTIFICATIONS: Final = 10
"""Maximum number of notifications of a budget."""

MOST_BUDGET_EMAILS: Final = 10
"""Maximum number of email addresses of a notification, in addition to one SNS topic."""

MOST_BUDGET_PERCENT: Final = 1_000_000
"""Highest threshold in percent of the limit."""
