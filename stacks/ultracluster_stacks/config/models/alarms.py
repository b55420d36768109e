"""`alarms` of a cluster: recipients and thresholds."""

from typing import Annotated, Final

from ultracluster_catalog.observability.alarms import THRESHOLD_BOUNDS, AlarmThresholds
from ultracluster_rules import alarms
from ultracluster_stacks.config.models.constraints import constraint
from ultracluster_stacks.config.models.model import ConfigModel

EMAIL: Final = constraint(alarms.EMAIL)
TOPIC_ARN: Final = constraint(alarms.TOPIC_ARN)

_DEFAULTS = AlarmThresholds()


def _threshold(name: str) -> object:
    return constraint(alarms.THRESHOLDS[name])


class AlarmsConfig(ConfigModel):
    """Alarms with remedies, with the metrics of all nodes, a function that watches the cluster, and a dashboard."""

    enabled: bool = True
    """Whether there are alarms. Default: yes; without this section, for Capacity Blocks."""

    emails: tuple[Annotated[str, EMAIL], ...] = ()
    """Email addresses to subscribe to a new SNS topic; each must confirm. Default: `notify` of the cluster."""

    topic_arn: Annotated[str, TOPIC_ARN] | None = None
    """ARN of an existing SNS topic, whose policy lets CloudWatch publish. Default: `notify` of the cluster."""

    dashboard: bool = True
    """Whether to create a CloudWatch dashboard of the cluster. Default: yes."""

    idle_percent: Annotated[int, _threshold("idle_percent")] = _DEFAULTS.idle_percent
    """NeuronCore utilization below which a node counts as idle, in percent."""

    idle_minutes: Annotated[int, _threshold("idle_minutes")] = _DEFAULTS.idle_minutes
    """Minutes that nodes may be idle or missing in paid capacity."""

    drain_minutes: Annotated[int, _threshold("drain_minutes")] = _DEFAULTS.drain_minutes
    """Minutes before the drain of a Capacity Block at which to notify."""

    wait_minutes: Annotated[int, _threshold("wait_minutes")] = _DEFAULTS.wait_minutes
    """Minutes that a job that could run may wait."""

    collective_percent: Annotated[int, _threshold("collective_percent")] = _DEFAULTS.collective_percent
    """Share of a training step spent in collectives, in percent."""

    stalled_steps: Annotated[int, _threshold("stalled_steps")] = _DEFAULTS.stalled_steps
    """Time without a training step, as a multiple of the median step; at least five minutes."""

    free_percent: Annotated[int, _threshold("free_percent")] = _DEFAULTS.free_percent
    """Free space of the file system, in percent."""

    cache_misses: Annotated[int, _threshold("cache_misses")] = _DEFAULTS.cache_misses
    """Graphs compiled within 15 minutes while nodes run."""

    @property
    def thresholds(self) -> AlarmThresholds:
        """Thresholds for the constructs."""
        return AlarmThresholds(**{name: getattr(self, name) for name in THRESHOLD_BOUNDS})
