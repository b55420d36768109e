"""Rules about nodes that are paid for and idle, or slower than the others."""

from collections.abc import Iterator
from datetime import timedelta
from statistics import fmean
from typing import Final

from ultracluster_runtime.advice.subject import Advice, SkippedRule, Subject, cost_of_nodes, mean_nodes
from ultracluster_runtime.metrics.recorded_metrics import Recording

_UNUSED_SHARE: Final = 0.05  # share of paid node-hours without an instance
_IDLE_PERCENT: Final = 5  # the alarm on idle nodes has the same threshold
_BUSY_PERCENT: Final = 50
_IDLE_SHARE: Final = 0.1  # share of the recorded time
_LAG: Final = 1.25  # slowest node relative to the mean
_LAG_SHARE: Final = 0.5


def unused_nodes(recording: Recording, subject: Subject) -> Iterator[Advice | SkippedRule]:
    """Find nodes that are paid for without a running instance."""
    paid, unused = (recording.values(name, "Average") for name in ("PaidNodes", "UnusedNodes"))
    if not (sum(paid) and unused):
        yield SkippedRule(
            rule="unused-nodes",
            reason="PaidNodes and UnusedNodes were not recorded, or no nodes were paid for",
        )
        return
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


def idle_nodes(recording: Recording, subject: Subject) -> Iterator[Advice | SkippedRule]:
    """Find times when nodes run with idle NeuronCores."""
    busy = recording.points("CoreUtilization", "Average")
    if not busy:
        yield SkippedRule(rule="idle-nodes", reason="CoreUtilization was not recorded")
        return
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


def node_without_work(recording: Recording, subject: Subject) -> Iterator[Advice | SkippedRule]:
    """Find a node that is idle while the others work."""
    lowest = dict(recording.points("CoreUtilization", "Minimum"))
    mean = recording.points("CoreUtilization", "Average")
    flags = [lowest[at] < _IDLE_PERCENT and value >= _BUSY_PERCENT for at, value in mean if at in lowest]
    if not flags:
        yield SkippedRule(
            rule="node-without-work", reason="CoreUtilization was not recorded with its minimum"
        )
        return
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


def lagging_node(recording: Recording, subject: Subject) -> Iterator[Advice | SkippedRule]:
    """Find a node that executes slower than the others, which all wait for it."""
    mean = dict(recording.points("ExecutionSeconds", "Average"))
    slowest = recording.points("ExecutionSeconds", "Maximum")
    lags = [value / mean[at] for at, value in slowest if mean.get(at)]
    if not lags:
        yield SkippedRule(rule="lagging-node", reason="ExecutionSeconds was not recorded with its maximum")
        return
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
