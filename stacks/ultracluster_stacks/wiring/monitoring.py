"""Alarms, budget and blocked-queue events of a cluster."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

import ultracluster  # attributes of ultracluster are imported lazily
from ultracluster import TrainingQueue
from ultracluster_spec.cluster import Cluster


def define_budget(
    scope: Construct, config: Cluster, *, queues: Sequence[TrainingQueue], kms_key: kms.IKey | None
) -> None:
    """Define the budget of a cluster, if it has one, in the stack of its queues."""
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


def define_capacity_watch(scope: Construct, config: Cluster, *, kms_key: kms.IKey | None) -> None:
    """Define the watch for capacity of a cluster, if it has one; it tells those that the cluster notifies."""
    if config.capacity_watch is None:
        return
    arns = [recipient for recipient in config.notify if recipient.startswith("arn:")]
    ultracluster.CapacityWatch(
        scope,
        "CapacityWatch",
        order=config.capacity_watch,
        instance_type=config.node_type,
        emails=() if arns else config.notify,
        topic=sns.Topic.from_topic_arn(scope, "CapacityWatchTopic", arns[0]) if arns else None,
        kms_key=kms_key,
    )


def notify_of_blocked_queues(
    scope: Construct,
    config: Cluster,
    *,
    own: TrainingQueue,
    additional: Mapping[str, TrainingQueue],
    kms_key: kms.IKey | None,
) -> None:
    """Publish AWS Batch's blocked-queue events to one topic, if any queue has `notify_blocked`."""
    queues = [own] if config.queue.notify_blocked else []
    queues += [additional[queue.name] for queue in config.additional_queues if queue.notify_blocked]
    if not queues:
        return
    target = targets.SnsTopic(sns.Topic(scope, "BlockedQueues", enforce_ssl=True, master_key=kms_key))
    for queue in queues:
        queue.on_blocked("Blocked", target)
