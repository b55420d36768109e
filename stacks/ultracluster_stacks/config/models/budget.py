"""`budget` of a cluster: who is told of what it costs, and when its queues are closed."""

from typing import Annotated

from pydantic import Field

from ultracluster_rules.budgets import MONTHLY_USD, PERCENT, TOPIC_ARN
from ultracluster_stacks.config.models.constraints import constraint
from ultracluster_stacks.config.models.model import ConfigModel

__all__ = ["BudgetConfig"]

_Percent = Annotated[int, constraint(PERCENT)]
_TopicArn = Annotated[str, constraint(TOPIC_ARN)]


class BudgetConfig(ConfigModel):
    """A monthly budget of AWS Budgets over all that carries the tag of the cluster, in its Region."""

    monthly_usd: Annotated[int, constraint(MONTHLY_USD)] = Field(
        description="Limit of a month in US dollars. A Capacity Block is on the bill of the month in which it was bought."
    )
    emails: tuple[str, ...] = Field(
        default=(), description="Mail addresses that are told, up to 10. Default: none."
    )
    topic_arn: _TopicArn | None = Field(
        default=None,
        description="ARN of an SNS topic that is told; its policy must let budgets.amazonaws.com publish. Default: a new "
        "one, without subscribers.",
    )
    actual_percents: tuple[_Percent, ...] = Field(
        default=(50, 80, 100),
        description="When people are told of what was spent, in percent of the limit. Default: 50, 80 and 100.",
    )
    forecast_percents: tuple[_Percent, ...] = Field(
        default=(100,),
        description="When people are told of what AWS forecasts for the end of the month, in percent. Default: 100.",
    )
    close_queues_at_percent: _Percent | None = Field(
        default=None,
        description="When the queues of the cluster take no new jobs any more, in percent of the limit that was spent. "
        "Running jobs go on and write their checkpoints; only a person opens the queues again. Default: never, because "
        "a Capacity Block is paid whether its queue is open or not.",
    )
