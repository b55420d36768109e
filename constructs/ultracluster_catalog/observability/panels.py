"""Dashboard panels of a cluster, from the metrics of `ultracluster_catalog.observability.metrics` and of FSx."""

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["PANELS", "MetricLine", "Panel"]


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
    """One chart.

    Attributes:
        section: Section of the dashboard.
        title: Title of the panel.
        unit: Label of the axis.
        lines: Lines of the panel.
    """

    section: Literal["Capacity", "Training", "Health", "Fabric", "Storage", "Queue"]
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


PANELS: Final = (
    Panel(
        section="Capacity",
        title="Nodes: paid, running, unused",
        unit="nodes",
        lines=(
            _mean("PaidNodes", "paid"),
            _mean("RunningNodes", "running"),
            _mean("UnusedNodes", "paid, without an instance"),
            MetricLine(metric="NodesReporting", statistic="Sum", label="reporting", per_seconds=60),
        ),
    ),
    Panel(
        section="Capacity",
        title="NeuronCore utilisation",
        unit="percent",
        lines=(
            _mean("CoreUtilization", "mean of the nodes"),
            MetricLine(metric="CoreUtilization", statistic="Minimum", label="lowest node"),
        ),
    ),
    Panel(
        section="Capacity",
        title="Time left until the drain of the block",
        unit="hours",
        lines=(
            MetricLine(metric="SecondsToDrain", statistic="Minimum", label="until the drain", scale=1 / 3600),
        ),
    ),
    Panel(
        section="Training",
        title="Throughput",
        unit="tokens a second",
        lines=(_of_jobs("TokensPerSecond", "tokens a second"),),
    ),
    Panel(
        section="Training", title="Time of a step", unit="seconds", lines=(_of_jobs("StepSeconds", "step"),)
    ),
    Panel(section="Training", title="Loss", unit="as reported", lines=(_of_jobs("Loss", "loss"),)),
    Panel(
        section="Training",
        title="Use of the chips, and time in collectives",
        unit="percent",
        lines=(
            _of_jobs("Mfu", "model FLOPs utilisation", 100),
            _of_jobs("CollectiveShare", "share of the step in collectives", 100),
        ),
    ),
    Panel(
        section="Training",
        title="Compile cache",
        unit="graphs",
        lines=(_sum("CacheHits", "hits", by_job=True), _sum("CacheMisses", "misses", by_job=True)),
    ),
    Panel(
        section="Training",
        title="Time that the run waited",
        unit="seconds",
        lines=(
            _sum("CompileSeconds", "for compilation", by_job=True),
            _sum("CheckpointSeconds", "for checkpoints", by_job=True),
        ),
    ),
    Panel(
        section="Health",
        title="Errors of nodes",
        unit="events",
        lines=(
            _sum("ExecutionErrors", "Neuron execution errors"),
            _sum("EccUncorrected", "uncorrected ECC events"),
            _sum("EccCorrected", "corrected ECC events"),
        ),
    ),
    Panel(
        section="Health",
        title="Devices that are missing",
        unit="devices",
        lines=(
            _most("NeuronDevicesMissing", "Neuron, worst node"),
            _most("EfaDevicesMissing", "EFA, worst node"),
        ),
    ),
    Panel(
        section="Health",
        title="Memory and disks of the fullest node",
        unit="percent",
        lines=(
            _most("HostMemoryPercent", "host memory"),
            _most("DiskPercent", "disk"),
        ),
    ),
    Panel(
        section="Health",
        title="Device latency of an execution",
        unit="seconds",
        lines=(
            _mean("ExecutionSeconds", "mean of the nodes"),
            _most("ExecutionSeconds", "slowest node"),
        ),
    ),
    Panel(
        section="Fabric",
        title="Traffic of all nodes",
        unit="GB/s",
        lines=(_per_second("EfaBytes", "EFA", 1e-9), _per_second("TcpBytes", "TCP beside Lustre", 1e-9)),
    ),
    Panel(
        section="Fabric",
        title="Trouble in the fabric",
        unit="packets, nodes",
        lines=(
            _sum("EfaRetransmits", "retransmitted packets"),
            _sum("EfaDrops", "dropped packets"),
            _most("TcpFallback", "a node fell back to TCP"),
        ),
    ),
    Panel(
        section="Storage",
        title="Lustre throughput of all nodes",
        unit="MB/s",
        lines=(
            _per_second("LustreReadBytes", "read", 1e-6),
            _per_second("LustreWriteBytes", "written", 1e-6),
        ),
    ),
    Panel(
        section="Storage",
        title="Free space of the file system",
        unit="GiB",
        lines=(
            MetricLine(
                metric="FreeDataStorageCapacity",
                statistic="Sum",
                label="free",
                per_seconds=60,
                scale=2**-30,
                source="AWS/FSx",
            ),
        ),
    ),
    Panel(
        section="Queue",
        title="Jobs",
        unit="jobs",
        lines=(
            _mean("RunningJobs", "running"),
            _mean("RunnableJobs", "waiting"),
            _mean("BlockedJobs", "blocked"),
        ),
    ),
    Panel(
        section="Queue",
        title="Longest wait of a job that could run",
        unit="minutes",
        lines=(
            MetricLine(metric="WaitSeconds", statistic="Maximum", label="oldest waiting job", scale=1 / 60),
        ),
    ),
)
"""Panels in the order of the dashboard."""
