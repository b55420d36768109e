"""Translate `alarms` of a cluster into alarm settings."""

from aws_cdk import aws_sns as sns
from constructs import Construct

import ultracluster  # attributes of ultracluster are imported lazily
from ultracluster_stacks.config import ClusterConfig


def alarm_settings(scope: Construct, config: ClusterConfig) -> "ultracluster.AlarmSettings | None":
    """Return the alarm settings of a cluster, or None without alarms."""
    alarms = config.effective_alarms
    if alarms is None:
        return None
    arn = alarms.topic_arn
    return ultracluster.AlarmSettings(
        topic=sns.Topic.from_topic_arn(scope, "AlarmTopic", arn) if arn else None,
        emails=alarms.emails,
        thresholds=alarms.thresholds,
    )
