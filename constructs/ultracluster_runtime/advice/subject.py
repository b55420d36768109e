"""Subject and results of advice, and the figures that rules share."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from statistics import fmean
from typing import Final

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.prices.prices import Price
from ultracluster_runtime.metrics.recorded_metrics import Recording

HOURS_OF_A_MONTH: Final = 730
"""Hours in a month, 8,760 / 12: savings assume that the whole month is like the recorded time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """Cluster as its rollout describes it."""

    instance_type: InstanceType
    region: str
    node_hour: Price
    efa_interfaces: int
    file_system: LustreSettings | None
    untuned_jobs: frozenset[str]  # jobs with default settings of the Neuron compiler


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """Recommendation that saves money or time."""

    rule: str
    evidence: str  # measured value and threshold
    remedy: str
    usd_per_month: Decimal | None = None  # saving in USD in a month like the recorded time; None if unknown
    reason: str = ""  # why the saving is unknown; empty if it is known


@dataclass(frozen=True, kw_only=True, slots=True)
class SkippedRule:
    """Rule that could not be applied."""

    rule: str
    reason: str


def mean_nodes(recording: Recording) -> float | None:
    """Return the mean number of reporting nodes, or None if it was not recorded."""
    values = recording.values("NodesReporting", "Sum")
    return fmean(values) / (recording.period / timedelta(minutes=1)) if values else None


def cost_of_nodes(subject: Subject, nodes: float | None) -> tuple[Decimal | None, str]:
    """Return the cost of nodes per month in USD, or None with the reason why it is unknown."""
    if nodes is None:
        return None, "NodesReporting was not recorded"
    if subject.node_hour.amount is None:
        return None, subject.node_hour.reason
    return (subject.node_hour.amount * HOURS_OF_A_MONTH * Decimal(nodes)).quantize(Decimal(1)), ""
