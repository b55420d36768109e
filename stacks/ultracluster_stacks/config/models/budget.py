"""`budget` of a cluster: notifications of its cost, and when its queues are closed."""

from typing import Annotated

from pydantic import Field

from ultracluster_catalog.limits.budgets import MOST_BUDGET_PERCENT
from ultracluster_catalog.names.identifiers import SNS_TOPIC_ARN
from ultracluster_stacks.config.models.constraints import Between, Form
from ultracluster_stacks.config.models.model import ConfigModel

__all__ = ["BudgetConfig"]

_Percent = Annotated[int, Between(code="UC6361", least=1, most=MOST_BUDGET_PERCENT)]
_TopicArn = Annotated[
    str,
    Form(
        code="UC6362",
        pattern=SNS_TOPIC_ARN,
        allowed="the ARN of an SNS topic, such as arn:aws:sns:us-east-2:123456789012:costs",
    ),
]


class BudgetConfig(ConfigModel):
    """A monthly budget of AWS Budgets for everything with the cluster's tag in its Region."""

    monthly_usd: Annotated[int, Between(code="UC6360", least=1, most=10_000_000_000)] = Field(
        description="Monthly limit in US dollars. A Capacity Block is billed in the month of its purchase."
    )
    emails: tuple[str, ...] = Field(
        default=(), description="Email addresses to notify, up to 10. Default: none."
    )
    topic_arn: _TopicArn | None = Field(
        default=None,
        description="ARN of an SNS topic to notify; its policy must let budgets.amazonaws.com publish. Default: a new "
        "topic without subscribers.",
    )
    actual_percents: tuple[_Percent, ...] = Field(
        default=(50, 80, 100),
        description="Actual cost at which to notify, in percent of the limit. Default: 50, 80 and 100.",
    )
    forecast_percents: tuple[_Percent, ...] = Field(
        default=(100,),
        description="Forecast cost of the month at which to notify, in percent of the limit. Default: 100.",
    )
    close_queues_at_percent: _Percent | None = Field(
        default=None,
        description="Actual cost at which the queues of the cluster stop accepting jobs, in percent of the limit. Running "
        "jobs continue; the queues must be reopened manually. Default: never, because a Capacity Block is paid for whether "
        "its queue is open or not.",
    )
