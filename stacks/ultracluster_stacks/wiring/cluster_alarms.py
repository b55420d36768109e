"""The alarms that a rollout asks for."""

from aws_cdk import aws_sns as sns
from constructs import Construct

import ultracluster  # by its full name, what few clusters have is imported when one has it
from ultracluster_stacks.config import ClusterConfig

__all__ = ["alarm_settings"]


def alarm_settings(scope: Construct, config: ClusterConfig) -> "ultracluster.AlarmSettings | None":
    """Give what a cluster needs to watch itself; None when nothing was asked for.

    Args:
        scope: The stack of the cluster.
        config: The cluster.
    """
    if config.alarms is None:
        return None
    arn = config.alarms.topic_arn
    return ultracluster.AlarmSettings(
        topic=sns.Topic.from_topic_arn(scope, "AlarmTopic", arn) if arn else None,
        emails=config.alarms.emails,
        thresholds=config.alarms.thresholds,
    )
