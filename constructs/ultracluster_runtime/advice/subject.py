"""What advice is about, what it says, and what it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Final

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.prices.prices import Price
from ultracluster_runtime.metrics.recorded_metrics import Recording

__all__ = ["HOURS_OF_A_MONTH", "Advice", "SkippedRule", "Subject", "cost_of_nodes", "fraction_true", "mean_nodes"]

HOURS_OF_A_MONTH: Final = 730
"""A twelfth of a year: a saving is what the recorded time would save if the whole month were like it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A cluster as its rollout describes it.

    Attributes:
        instance_type: Type of the nodes.
        region: Region of the cluster.
        node_hour: Price of a node for an hour.
        efa_interfaces: EFA interfaces of each node.
        file_system: The file system. None for one that the rollout does not describe.
        untuned_jobs: Jobs that leave every setting of the Neuron compiler at its default.
    """

    instance_type: InstanceType
    region: str
    node_hour: Price
    efa_interfaces: int
    file_system: LustreSettings | None
    untuned_jobs: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """One thing that could cost less or go faster.

    Attributes:
        rule: Name of the rule that found it.
        evidence: What was measured, against which threshold.
        remedy: What to do.
        usd_per_month: What it would save in a month like the recorded time. None when it is not known.
        reason: Why that is not known; empty when it is.
    """

    rule: str
    evidence: str
    remedy: str
    usd_per_month: Decimal | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SkippedRule:
    """A rule that could not be applied.

    Attributes:
        rule: Its name.
        reason: What is missing.
    """

    rule: str
    reason: str


def fraction_true(flags: Sequence[bool]) -> float:
    """Give the share of true ones among some, which must not be none.

    Args:
        flags: The flags.
    """
    return sum(flags) / len(flags)


def mean_nodes(recording: Recording) -> float | None:
    """Give how many nodes reported at one time, on the average. None when that was not recorded.

    Args:
        recording: The recording.
    """
    values = recording.values("NodesReporting", "Sum")
    return sum(values) / len(values) / (recording.period / timedelta(minutes=1)) if values else None


def cost_of_nodes(subject: Subject, nodes: float | None) -> tuple[Decimal | None, str]:
    """Give what so many nodes cost in a month, or None with the reason why it is not known.

    Args:
        subject: The cluster.
        nodes: How many, also a part of one. None when it is not known.
    """
    if nodes is None:
        return None, "NodesReporting was not recorded"
    if subject.node_hour.amount is None:
        return None, subject.node_hour.reason
    return (subject.node_hour.amount * HOURS_OF_A_MONTH * Decimal(nodes)).quantize(Decimal(1)), ""
