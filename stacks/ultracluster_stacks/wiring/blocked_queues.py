"""The topic that people subscribe to for queues that a job at their head holds up."""

from collections.abc import Mapping

from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster import TrainingQueue
from ultracluster_stacks.config import ClusterConfig

__all__ = ["notify_of_blocked_queues"]


def notify_of_blocked_queues(
    scope: Construct,
    config: ClusterConfig,
    *,
    own: TrainingQueue,
    additional: Mapping[str, TrainingQueue],
    kms_key: kms.IKey | None,
) -> None:
    """Send AWS Batch's events about blocked queues to one topic; where nobody wants to be told there is none.

    Args:
        scope: The stack of the queues.
        config: The cluster, which says of which queues somebody wants to be told.
        own: The queue of the cluster.
        additional: Its other queues by their names.
        kms_key: Key that encrypts the topic. None for none.
    """
    queues = [own] if config.queue.notify_blocked else []
    queues += [additional[queue.name] for queue in config.additional_queues if queue.notify_blocked]
    if not queues:
        return
    target = targets.SnsTopic(sns.Topic(scope, "BlockedQueues", enforce_ssl=True, master_key=kms_key))
    for queue in queues:
        queue.on_blocked("Blocked", target)
