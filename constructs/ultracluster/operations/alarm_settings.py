"""Settings of the alarms of a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from aws_cdk import aws_sns as sns

from ultracluster_catalog.observability.alarms import AlarmThresholds


@dataclass(frozen=True, kw_only=True, slots=True)
class AlarmSettings:
    """Alarm recipients and thresholds of an `UltraCluster`.

    Attributes:
        cluster_name: Value of the cluster dimension of the metrics, unique in an account and Region. Default: the name that its
            jobs use, from the rollout file or the stack.
        topic: SNS topic to notify. Default: a new one.
        emails: Addresses to subscribe to a new topic; each must confirm. Default: none.
        thresholds: Thresholds of the alarms. Default: those of `AlarmThresholds`.
    """

    cluster_name: str | None = None
    topic: sns.ITopic | None = None
    emails: Sequence[str] = ()
    thresholds: AlarmThresholds = field(default_factory=AlarmThresholds)
