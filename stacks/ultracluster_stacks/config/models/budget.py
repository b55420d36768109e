"""`budget` of a cluster: notifications of its cost, and when its queues are closed."""

from typing import Annotated

from ultracluster_rules.budgets import MONTHLY_USD, PERCENT, TOPIC_ARN
from ultracluster_stacks.config.models.constraints import constraint
from ultracluster_stacks.config.models.model import ConfigModel

_Percent = Annotated[int, constraint(PERCENT)]
_TopicArn = Annotated[str, constraint(TOPIC_ARN)]


class BudgetConfig(ConfigModel):
    """A monthly budget of AWS Budgets for everything with the cluster's tag in its Region."""

    monthly_usd: Annotated[int, constraint(MONTHLY_USD)]
    """Monthly limit in US dollars. A Capacity Block is billed in the month of its purchase."""

    emails: tuple[str, ...] = ()
    """Email addresses to notify, up to 10. Default: none."""

    topic_arn: _TopicArn | None = None
    """ARN of an SNS topic to notify; its policy must let budgets.amazonaws.com publish. Default: a new topic without
    subscribers."""

    actual_percents: tuple[_Percent, ...] = (50, 80, 100)
    """Actual cost at which to notify, in percent of the limit. Default: 50, 80 and 100."""

    forecast_percents: tuple[_Percent, ...] = (100,)
    """Forecast cost of the month at which to notify, in percent of the limit. Default: 100."""

    close_queues_at_percent: _Percent | None = None
    """Actual cost at which the queues of the cluster stop accepting jobs, in percent of the limit. Running jobs continue;
    the queues must be reopened manually. Default: never, because a Capacity Block is paid for whether its queue is open
    or not."""
