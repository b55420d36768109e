"""Dashboard panels of a cluster, from the metrics of `ultracluster_catalog.observability.metrics` and of FSx."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Section = Literal["Capacity", "Training", "Health", "Fabric", "Storage", "Queue"]
"""Section of the dashboard."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricLine:
    """One line of a panel.

    Attributes:
        metric: Name of the metric.
        statistic: CloudWatch statistic over a period.
        label: Label in the legend.
        per_seconds: The sum of a period is shown for so many seconds: 1 for a rate, 60 where each minute has one value
            from each node. Default: the value as it is.
        scale: Factor for every value. Default: 1.
        by_job: Whether each job has its own line. Default: one line for the cluster.
        source: Namespace of the metric. Default: ``UltraCluster``.
    """

    metric: str
    statistic: Literal["Average", "Maximum", "Minimum", "Sum"]
    label: str
    per_seconds: int | None = None
    scale: float = 1
    by_job: bool = False
    source: Literal["UltraCluster", "AWS/FSx"] = "UltraCluster"


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """One chart of a section of the dashboard; `unit` is the label of its axis."""

    section: Section
    title: str
    unit: str
    lines: tuple[MetricLine, ...]


def _mean(metric: str, label: str) -> MetricLine:
    return MetricLine(metric=metric, statistic="Average", label=label)


def _most(metric: str, label: str) -> MetricLine:
    return MetricLine(metric=metric, statistic="Maximum", label=label)


def _sum(metric: str, label: str, *, by_job: bool = False) -> MetricLine:
    return MetricLine(metric=metric, statistic="Sum", label=label, by_job=by_job)


def _per_second(metric: str, label: str, scale: float) -> MetricLine:
    return MetricLine(metric=metric, statistic="Sum", label=label, per_seconds=1, scale=scale)


def _of_jobs(metric: str, label: str, scale: float = 1) -> MetricLine:
    return MetricLine(metric=metric, statistic="Average", label=label, by_job=True, scale=scale)


_SECTIONS: Final[Mapping[Section, Mapping[tuple[str, str], tuple[MetricLine, ...]]]] = {
    "Capacity": {
        ("Nodes: paid, running, unused", "nodes"): (
            _mean("PaidNodes", "paid"),
            _mean("RunningNodes", "running"),
            _mean("UnusedNodes", "paid, without an instance"),
            MetricLine(metric="NodesReporting", statistic="Sum", label="reporting", per_seconds=60),
        ),
        ("NeuronCore utilisation", "percent"): (
            _mean("CoreUtilization", "mean of the nodes"),
            MetricLine(metric="CoreUtilization", statistic="Minimum", label="lowest node"),
        ),
        ("Time left until the drain of the block", "hours"): (
            MetricLine(metric="SecondsToDrain", statistic="Minimum", label="until the drain", scale=1 / 3600),
        ),
    },
    "Training": {
        ("Throughput", "tokens a second"): (_of_jobs("TokensPerSecond", "tokens a second"),),
        ("Time of a step", "seconds"): (_of_jobs("StepSeconds", "step"),),
        ("Loss", "as reported"): (_of_jobs("Loss", "loss"),),
        ("Use of the chips, and time in collectives", "percent"): (
            _of_jobs("Mfu", "model FLOPs utilisation", 100),
            _of_jobs("CollectiveShare", "share of the step in collectives", 100),
        ),
        ("Compile cache", "graphs"): (
            _sum("CacheHits", "hits", by_job=True),
            _sum("CacheMisses", "misses", by_job=True),
        ),
        ("Time that the run waited", "seconds"): (
            _sum("CompileSeconds", "for compilation", by_job=True),
            _sum("CheckpointSeconds", "for checkpoints", by_job=True),
        ),
    },
    "Health": {
        ("Errors of nodes", "events"): (
            _sum("ExecutionErrors", "Neuron execution errors"),
            _sum("EccUncorrected", "uncorrected ECC events"),
            _sum("EccCorrected", "corrected ECC events"),
        ),
        ("Devices that are missing", "devices"): (
            _most("NeuronDevicesMissing", "Neuron, worst node"),
            _most("EfaDevicesMissing", "EFA, worst node"),
        ),
        ("Memory and disks of the fullest node", "percent"): (
            _most("HostMemoryPercent", "host memory"),
            _most("DiskPercent", "disk"),
        ),
        ("Device latency of an execution", "seconds"): (
            _mean("ExecutionSeconds", "mean of the nodes"),
            _most("ExecutionSeconds", "slowest node"),
        ),
    },
    "Fabric": {
        ("Traffic of all nodes", "GB/s"): (
            _per_second("EfaBytes", "EFA", 1e-9),
            _per_second("TcpBytes", "TCP beside Lustre", 1e-9),
        ),
        ("Trouble in the fabric", "packets, nodes"): (
            _sum("EfaRetransmits", "retransmitted packets"),
            _sum("EfaDrops", "dropped packets"),
            _most("TcpFallback", "a node fell back to TCP"),
        ),
    },
    "Storage": {
        ("Lustre throughput of all nodes", "MB/s"): (
            _per_second("LustreReadBytes", "read", 1e-6),
            _per_second("LustreWriteBytes", "written", 1e-6),
        ),
        ("Free space of the file system", "GiB"): (
            MetricLine(
                metric="FreeDataStorageCapacity",
                statistic="Sum",
                label="free",
                per_seconds=60,
                scale=2**-30,
                source="AWS/FSx",
            ),
        ),
    },
    "Queue": {
        ("Jobs", "jobs"): (
            _mean("RunningJobs", "running"),
            _mean("RunnableJobs", "waiting"),
            _mean("BlockedJobs", "blocked"),
        ),
        ("Longest wait of a job that could run", "minutes"): (
            MetricLine(metric="WaitSeconds", statistic="Maximum", label="oldest waiting job", scale=1 / 60),
        ),
    },
}
"""Lines of each panel by section, title and unit."""

PANELS: Final = tuple(
    Panel(section=section, title=title, unit=unit, lines=lines)
    for section, panels in _SECTIONS.items()
    for (title, unit), lines in panels.items()
)
"""Panels in the order of the dashboard."""
