"""Rules of advice on nodes, jobs and file systems. Each is pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from statistics import fmean
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.lustre.lustre import INTELLIGENT_TIERING, LustreSettings
from ultracluster_catalog.lustre.lustre_figures import throughput_mb_per_s
from ultracluster_catalog.lustre.lustre_tiers import get_lustre_tier
from ultracluster_catalog.prices.prices import lustre_storage_price
from ultracluster_runtime.advice.subject import Advice, Subject, cost_of_nodes, mean_nodes
from ultracluster_runtime.metrics.recorded_metrics import Recording

_UNUSED_SHARE: Final = 0.05  # share of paid node-hours without an instance
_IDLE_PERCENT: Final = 5  # the alarm on idle nodes has the same threshold
_BUSY_PERCENT: Final = 50
_IDLE_SHARE: Final = 0.1  # share of the recorded time
_LAG: Final = 1.25  # slowest node relative to the mean
_LAG_SHARE: Final = 0.5
_COLLECTIVE_SHARE: Final = 0.25  # share of a step, as in the alarm
_LOW_MFU: Final = 0.2  # our own threshold, not AWS's
_WAIT_SHARE: Final = 0.05  # share of the recorded time
_FULLEST: Final = 0.7  # maximum fill level of a smaller file system
_BUSIEST: Final = 0.5  # maximum share of its baseline throughput in the busiest period
_MEASURE: Final = "the saving is unknown until it is measured"


class NotEvaluatedError(Exception):
    """A rule cannot be evaluated, because its metrics were not recorded."""


def unused_nodes(recording: Recording, subject: Subject) -> Iterator[Advice]:
    """Find nodes that are paid for without a running instance."""
    paid, unused = (recording.values(name, "Average") for name in ("PaidNodes", "UnusedNodes"))
    if not (sum(paid) and unused):
        raise NotEvaluatedError("PaidNodes and UnusedNodes were not recorded, or no nodes were paid for")
    share = sum(unused) / sum(paid)
    if share >= _UNUSED_SHARE:
        amount, reason = cost_of_nodes(subject, fmean(unused))
        yield Advice(
            rule="unused-nodes",
            evidence=f"{share:.0%} of the paid node-hours had no instance, {fmean(unused):.1f} nodes on average "
            f"(threshold {_UNUSED_SHARE:.0%})",
            remedy="`ultracluster jobs why` explains why jobs wait; queue jobs before a block "
            "starts, and buy fewer nodes if no jobs wait",
            usd_per_month=amount,
            reason=reason,
        )


def idle_nodes(recording: Recording, subject: Subject) -> Iterator[Advice]:
    """Find times when nodes run with idle NeuronCores."""
    busy = recording.points("CoreUtilization", "Average")
    if not busy:
        raise NotEvaluatedError("CoreUtilization was not recorded")
    idle = {moment for moment, percent in busy if percent < _IDLE_PERCENT}
    share = len(idle) / len(busy)
    if share >= _IDLE_SHARE:
        reporting = [
            value if moment in idle else 0.0 for moment, value in recording.points("NodesReporting", "Sum")
        ]
        nodes = fmean(reporting) / (recording.period / timedelta(minutes=1)) if reporting else None
        amount, reason = cost_of_nodes(subject, nodes)
        yield Advice(
            rule="idle-nodes",
            evidence=f"NeuronCore utilization was below {_IDLE_PERCENT}% in {share:.0%} of the time "
            f"(threshold {_IDLE_SHARE:.0%})",
            remedy="Compile before the block starts (a precompile job), queue more jobs, or release "
            "nodes when the queue is empty",
            usd_per_month=amount,
            reason=reason,
        )


def node_without_work(recording: Recording, subject: Subject) -> Iterator[Advice]:
    """Find a node that is idle while the others work."""
    lowest = dict(recording.points("CoreUtilization", "Minimum"))
    mean = recording.points("CoreUtilization", "Average")
    flags = [lowest[at] < _IDLE_PERCENT and value >= _BUSY_PERCENT for at, value in mean if at in lowest]
    if not flags:
        raise NotEvaluatedError("CoreUtilization was not recorded with its minimum")
    share = fmean(flags)
    if share >= _IDLE_SHARE:
        amount, reason = cost_of_nodes(subject, share)
        yield Advice(
            rule="node-without-work",
            evidence=f"in {share:.0%} of the time a node was below {_IDLE_PERCENT}% utilization while the mean was "
            f"{_BUSY_PERCENT}% or more (threshold {_IDLE_SHARE:.0%})",
            remedy="Use all nodes for the job (`nodes` of the job), or add a queue for the remaining nodes",
            usd_per_month=amount,
            reason=reason,
        )


def lagging_node(recording: Recording, subject: Subject) -> Iterator[Advice]:
    """Find a node that executes slower than the others, which all wait for it."""
    mean = dict(recording.points("ExecutionSeconds", "Average"))
    slowest = recording.points("ExecutionSeconds", "Maximum")
    lags = [value / mean[at] for at, value in slowest if mean.get(at)]
    if not lags:
        raise NotEvaluatedError("ExecutionSeconds was not recorded with its maximum")
    late = [lag for lag in lags if lag >= _LAG]
    if len(late) / len(lags) >= _LAG_SHARE:
        lost = sum(1 - 1 / lag for lag in late) / len(lags)
        nodes = mean_nodes(recording)
        amount, reason = cost_of_nodes(subject, None if nodes is None else nodes * lost)
        yield Advice(
            rule="lagging-node",
            evidence=f"in {len(late) / len(lags):.0%} of the time the slowest node took at least {_LAG} times the mean "
            f"per execution, {fmean(late):.2f} times on average (threshold {_LAG_SHARE:.0%})",
            remedy="Find it by ExecutionSeconds in the log of the node metrics, replace it, and run a fabric gate "
            "before the job; the saving is an upper bound, if all nodes wait for it in every step",
            usd_per_month=amount,
            reason=reason,
        )


def tcp_fallback(recording: Recording, subject: Subject) -> Iterator[Advice]:
    """Find nodes that used TCP instead of EFA."""
    del subject
    values = recording.values("TcpFallback", "Maximum")
    if not values:
        raise NotEvaluatedError("TcpFallback was not recorded")
    if any(values):
        yield Advice(
            rule="tcp-fallback",
            evidence=f"a node used TCP in {fmean(value > 0 for value in values):.0%} of the time (threshold: ever)",
            remedy="Check FI_PROVIDER and the EFA devices in the log of the job; run a fabric gate before the job",
            reason=_MEASURE,
        )


def collectives(recording: Recording, subject: Subject) -> Iterator[Advice]:
    """Find jobs that spend much of their steps in collectives, and network layouts that leave EFA interfaces unused."""
    most = subject.instance_type.efa_interfaces
    fewer = subject.efa_interfaces < most
    shares = _means(recording, "CollectiveShare")
    found = {f"{job} spent {share:.0%} of its steps in collectives": share for job, share in shares.items()}
    for text, share in (found or _traffic(recording, subject)).items():
        if share >= _COLLECTIVE_SHARE:
            evidence = f"{text} (threshold {_COLLECTIVE_SHARE:.0%})"
            yield Advice(
                rule="network-layout" if fewer else "collectives",
                evidence=f"{evidence}, with {subject.efa_interfaces} of {most} EFA interfaces"
                if fewer
                else evidence,
                remedy="Choose a network layout with EFA on every network card"
                if fewer
                else "Every card uses EFA: overlap collectives with computation, or shard over fewer nodes",
                reason=_MEASURE,
            )


def _traffic(recording: Recording, subject: Subject) -> dict[str, float]:
    """Return the least share of their time that busy nodes need EFA for, where no job says how long its collectives take.

    The bytes of a node, half of them in each direction, at the peak of its network cards: what overlaps with computation is
    counted, what stays in a node or waits for others is not.
    """
    node_type = subject.instance_type
    gbps = node_type.network_gbps * subject.efa_interfaces / max(node_type.efa_interfaces, 1)
    minutes = dict(recording.points("NodesReporting", "Sum"))
    busy = {at for at, percent in recording.points("CoreUtilization", "Average") if percent >= _IDLE_PERCENT}
    moved = {at: count for at, count in recording.points("EfaBytes", "Sum") if at in busy and minutes.get(at)}
    if not (moved and gbps):
        raise NotEvaluatedError("no job reported CollectiveShare, and no busy node EfaBytes")
    rate = sum(moved.values()) * 8e-9 / 2 / (60 * sum(minutes[at] for at in moved))
    share = rate / gbps
    text = (
        f"busy nodes sent {rate:,.1f} Gbit/s each by EFA and received as much, {share:.0%} of its published "
        f"{gbps:,.0f}: at least as much of their time, by estimate, because no job reported CollectiveShare"
    )
    if share < _COLLECTIVE_SHARE:
        raise NotEvaluatedError(text)
    return {text: share}


def compiler_settings(recording: Recording, subject: Subject) -> Iterator[Advice]:
    """Find jobs with low utilization and default compiler settings."""
    uses = _means(recording, "Mfu")
    if not uses:
        raise NotEvaluatedError("no job reported Mfu, which needs flops_per_token")
    for job, use in uses.items():
        if use < _LOW_MFU and job in subject.untuned_jobs:
            yield Advice(
                rule="compiler-settings",
                evidence=f"{job} used {use:.0%} of the peak of its chips (threshold {_LOW_MFU:.0%}) with default Neuron compiler "
                "settings and precision",
                remedy="Set `neuron` of the job (model_type, llm_training, and auto_cast with auto_cast_type if the "
                "model is FP32) and compare 100 steps",
                reason=_MEASURE,
            )


def compilations(recording: Recording, subject: Subject) -> Iterator[Advice]:
    """Find jobs that compile on paid nodes."""
    remedy = "Fill the compile cache with a precompile job on a small node first; `depends_on` submits it automatically"
    yield from _waits(recording, subject, "compilations", "CompileSeconds", remedy)


def checkpoints(recording: Recording, subject: Subject) -> Iterator[Advice]:
    """Find jobs that are blocked by checkpoints for long."""
    remedy = "Write checkpoints asynchronously, less often, or to a file system with more throughput"
    yield from _waits(recording, subject, "checkpoints", "CheckpointSeconds", remedy)


def _waits(recording: Recording, subject: Subject, rule: str, metric: str, remedy: str) -> Iterator[Advice]:
    waited = {job: values for job in recording.jobs if (values := recording.values(metric, "Sum", job=job))}
    if not waited:
        raise NotEvaluatedError(f"no job reported {metric}")
    nodes = mean_nodes(recording)
    for job, values in waited.items():
        share = sum(values) / (recording.end - recording.start).total_seconds()
        if share >= _WAIT_SHARE:
            amount, reason = cost_of_nodes(subject, None if nodes is None else nodes * share)
            yield Advice(
                rule=rule,
                evidence=f"{job} waited {sum(values):,.0f} seconds for {rule}, {share:.0%} of the recorded time "
                f"(threshold {_WAIT_SHARE:.0%})",
                remedy=f"{remedy}; the saving assumes that the job used all nodes",
                usd_per_month=amount,
                reason=reason,
            )


def _means(recording: Recording, metric: str) -> dict[str, float]:
    values = {job: recording.values(metric, "Average", job=job) for job in recording.jobs}
    return {job: fmean(figures) for job, figures in values.items() if figures}


def oversize_file_system(recording: Recording, subject: Subject) -> Iterator[Advice]:
    """Find the smallest sufficient file system of the same kind."""
    settings = subject.file_system
    if settings is None or settings.storage_type == INTELLIGENT_TIERING or not settings.storage_capacity_gib:
        raise NotEvaluatedError("the rollout has no file system of a fixed size")
    free = recording.values("FreeDataStorageCapacity", "Sum")
    moved = _bytes_moved(recording)
    if not (free and moved):
        reason = "FreeDataStorageCapacity (--file-system) and LustreReadBytes or LustreWriteBytes were not recorded"
        raise NotEvaluatedError(reason)
    size = settings.storage_capacity_gib
    used = max(0.0, size - min(free) / (recording.period / timedelta(minutes=1)) / 2**30)
    peak = max(moved) / recording.period.total_seconds() / 1e6
    smaller = _smallest(settings, used_gib=used, peak_mb_per_s=peak)
    if smaller < size:
        price = lustre_storage_price(
            settings.deployment_type, settings.per_unit_storage_throughput, subject.region
        )
        saved = None if price.amount is None else (price.amount * (size - smaller)).quantize(Decimal(1))
        yield Advice(
            rule="oversize-file-system",
            evidence=f"at most {used:,.0f} of {size:,} GiB were used, with a peak throughput of {peak:,.0f} MB/s",
            remedy=f"{smaller:,} GiB of the same kind would have been less than {_FULLEST:.0%} full and {_BUSIEST:.0%} busy; a "
            "file system cannot shrink, so use the smaller size for the next cluster. Less capacity means less "
            "throughput for checkpoints",
            usd_per_month=saved,
            reason=price.reason,
        )


def _bytes_moved(recording: Recording) -> list[float]:
    moved: dict[object, float] = {}
    for metric in ("LustreReadBytes", "LustreWriteBytes"):
        for moment, value in recording.points(metric, "Sum"):
            moved[moment] = moved.get(moment, 0) + value
    return list(moved.values())


def _smallest(settings: LustreSettings, *, used_gib: float, peak_mb_per_s: float) -> int:
    size = settings.storage_capacity_gib or 0
    tier = get_lustre_tier(settings.deployment_type, settings.per_unit_storage_throughput)
    sizes = sorted({*tier.small_capacities_gib, *range(tier.capacity_step_gib, size, tier.capacity_step_gib)})
    return next(
        (
            capacity
            for capacity in sizes
            if tier.allows(capacity, efa_enabled=settings.efa_enabled)
            and used_gib <= _FULLEST * capacity
            and peak_mb_per_s
            <= _BUSIEST * throughput_mb_per_s(replace(settings, storage_capacity_gib=capacity), writing=True)
        ),
        size,
    )


RULES: Final[Mapping[str, Callable[[Recording, Subject], Iterator[Advice]]]] = MappingProxyType(
    {
        "unused-nodes": unused_nodes,
        "idle-nodes": idle_nodes,
        "node-without-work": node_without_work,
        "lagging-node": lagging_node,
        "tcp-fallback": tcp_fallback,
        "collectives": collectives,
        "compiler-settings": compiler_settings,
        "compilations": compilations,
        "checkpoints": checkpoints,
        "oversize-file-system": oversize_file_system,
    }
)
"""Rules by name; each raises `NotEvaluatedError` if its metrics are missing."""
