"""Define the budget of a cluster, which can close its queues."""

from collections.abc import Sequence

from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

import ultracluster  # attributes of ultracluster are imported lazily
from ultracluster import TrainingQueue
from ultracluster_stacks.config import ClusterConfig


def define_budget(
    scope: Construct, config: ClusterConfig, *, queues: Sequence[TrainingQueue], kms_key: kms.IKey | None
) -> None:
    """Define the budget of a cluster, if it has one.

    Args:
        scope: Stack of the queues.
        config: Configuration of the cluster.
        queues: All queues of the cluster.
        kms_key: Key of its topics and log group. None for AWS managed keys.
    """
    budget = config.budget
    if budget is None:
        return
    topic = None
    if budget.topic_arn is not None:
        topic = sns.Topic.from_topic_arn(scope, "BudgetTopic", budget.topic_arn)
    close_at = budget.close_queues_at_percent
    ultracluster.ClusterBudget(
        scope,
        "Budget",
        monthly_usd=budget.monthly_usd,
        tag_value=config.name,
        actual_percents=budget.actual_percents,
        forecast_percents=budget.forecast_percents,
        emails=budget.emails,
        topic=topic,
        queues_to_close=() if close_at is None else queues,
        close_at_percent=100 if close_at is None else close_at,
        kms_key=kms_key,
    )
