"""An SNS topic for events about blocked job queues."""

from collections.abc import Mapping

from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster import TrainingQueue
from ultracluster_stacks.config import ClusterConfig


def notify_of_blocked_queues(
    scope: Construct,
    config: ClusterConfig,
    *,
    own: TrainingQueue,
    additional: Mapping[str, TrainingQueue],
    kms_key: kms.IKey | None,
) -> None:
    """Publish AWS Batch's blocked-queue events to one topic, if any queue has `notify_blocked`.

    Args:
        scope: Stack of the queues.
        config: Configuration of the cluster.
        own: The cluster's own queue.
        additional: Additional queues by name.
        kms_key: Key to encrypt the topic. None for no encryption.
    """
    queues = [own] if config.queue.notify_blocked else []
    queues += [additional[queue.name] for queue in config.additional_queues if queue.notify_blocked]
    if not queues:
        return
    target = targets.SnsTopic(sns.Topic(scope, "BlockedQueues", enforce_ssl=True, master_key=kms_key))
    for queue in queues:
        queue.on_blocked("Blocked", target)
