"""What a cluster is given to watch itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from aws_cdk import aws_sns as sns

from ultracluster_catalog.observability.alarms import AlarmThresholds

__all__ = ["AlarmSettings"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AlarmSettings:
    """What an `UltraCluster` needs to watch itself.

    Attributes:
        cluster_name: What the cluster is called in its metrics, once in an account and Region. Default: as its jobs call it, the
            name in the rollout file or that of the stack.
        topic: SNS topic to tell. Default: a new one.
        emails: Addresses that are subscribed to a new topic; each is asked first. Default: none.
        thresholds: Where the alarms go off. Default: `AlarmThresholds` says.
    """

    cluster_name: str | None = None
    topic: sns.ITopic | None = None
    emails: Sequence[str] = ()
    thresholds: AlarmThresholds = field(default_factory=AlarmThresholds)
