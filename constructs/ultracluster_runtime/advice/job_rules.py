"""Rules about jobs: collectives, compiler settings, compilations and checkpoints."""

from collections.abc import Iterator
from statistics import fmean
from typing import Final

from ultracluster_runtime.advice.subject import Advice, SkippedRule, Subject, cost_of_nodes, mean_nodes
from ultracluster_runtime.metrics.recorded_metrics import Recording

_COLLECTIVE_SHARE: Final = 0.25  # share of a step, as in the alarm
_LOW_MFU: Final = 0.2  # our own threshold, not AWS's
_WAIT_SHARE: Final = 0.05  # share of the recorded time
_MEASURE: Final = "the saving is unknown until it is measured"


def tcp_fallback(recording: Recording, subject: Subject) -> Iterator[Advice | SkippedRule]:
    """Find nodes that used TCP instead of EFA."""
    del subject
    values = recording.values("TcpFallback", "Maximum")
    if not values:
        yield SkippedRule(rule="tcp-fallback", reason="TcpFallback was not recorded")
    elif any(values):
        yield Advice(
            rule="tcp-fallback",
            evidence=f"a node used TCP in {fmean(value > 0 for value in values):.0%} of the time (threshold: ever)",
            remedy="Check FI_PROVIDER and the EFA devices in the log of the job; run a fabric gate before the job",
            reason=_MEASURE,
        )


def collectives(recording: Recording, subject: Subject) -> Iterator[Advice | SkippedRule]:
    """Find jobs that spend much of their steps in collectives, and network layouts that leave EFA interfaces unused."""
    shares = _means(recording, "CollectiveShare")
    if not shares:
        yield SkippedRule(rule="collectives", reason="no job reported CollectiveShare")
    most = subject.instance_type.efa_interfaces
    fewer = subject.efa_interfaces < most
    for job, share in shares.items():
        if share >= _COLLECTIVE_SHARE:
            evidence = (
                f"{job} spent {share:.0%} of its steps in collectives (threshold {_COLLECTIVE_SHARE:.0%})"
            )
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


def compiler_settings(recording: Recording, subject: Subject) -> Iterator[Advice | SkippedRule]:
    """Find jobs with low utilization and default compiler settings."""
    uses = _means(recording, "Mfu")
    if not uses:
        yield SkippedRule(rule="compiler-settings", reason="no job reported Mfu, which needs flops_per_token")
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


def compilations(recording: Recording, subject: Subject) -> Iterator[Advice | SkippedRule]:
    """Find jobs that compile on paid nodes."""
    remedy = "Fill the compile cache with a precompile job on a small node first; `depends_on` submits it automatically"
    yield from _waits(recording, subject, "compilations", "CompileSeconds", remedy)


def checkpoints(recording: Recording, subject: Subject) -> Iterator[Advice | SkippedRule]:
    """Find jobs that are blocked by checkpoints for long."""
    remedy = "Write checkpoints asynchronously, less often, or to a file system with more throughput"
    yield from _waits(recording, subject, "checkpoints", "CheckpointSeconds", remedy)


def _waits(
    recording: Recording, subject: Subject, rule: str, metric: str, remedy: str
) -> Iterator[Advice | SkippedRule]:
    waited = {job: values for job in recording.jobs if (values := recording.values(metric, "Sum", job=job))}
    if not waited:
        yield SkippedRule(rule=rule, reason=f"no job reported {metric}")
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
