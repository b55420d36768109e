"""The topic that people subscribe to for queues that a job at their head holds up."""

from collections.abc import Sequence

from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster import TrainingQueue

__all__ = ["notify_of_blocked_queues"]


def notify_of_blocked_queues(
    scope: Construct, queues: Sequence[TrainingQueue], *, kms_key: kms.IKey | None
) -> None:
    """Send AWS Batch's events about blocked queues to one topic; without queues there is none.

    Args:
        scope: The stack of the queues.
        queues: The queues that somebody wants to be told of.
        kms_key: Key that encrypts the topic. None for none.
    """
    if not queues:
        return
    target = targets.SnsTopic(sns.Topic(scope, "BlockedQueues", enforce_ssl=True, master_key=kms_key))
    for queue in queues:
        queue.on_blocked("Blocked", target)
