"""What a Capacity Block gave for its money: paid minutes by use, and what a dollar bought. Pure: no AWS calls, no clock."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean
from typing import Final

from ultracluster_runtime.metrics.recorded_metrics import Recording

TRAINING: Final = "training"
_CHECKPOINTS: Final = "checkpoints"
_COMPILATION: Final = "compilation"
_START: Final = "start of jobs"
_WAITING: Final = "jobs that wait"
_NO_WORK: Final = "no work"
_NO_NODE: Final = "no node"
_DRAIN: Final = "drain"
_NO_STOP: Final = (0.0, 0.0)

USES: Final[Mapping[str, str]] = {
    TRAINING: "a job made steps",
    _CHECKPOINTS: "a job waited for its checkpoint",
    _COMPILATION: "a job waited for the compiler",
    _START: "a job ran and had not made a step",
    _WAITING: "jobs waited and none ran",
    _NO_WORK: "no job ran or waited",
    _NO_NODE: "an instance of the reservation did not run",
    _DRAIN: "after the drain",
}
"""What the minutes of paid nodes were used for, with its meaning. Of several jobs at once, the slowest decides for all nodes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """Prices and peaks of the nodes, and of those that they are compared with; None where no source states one."""

    usd: float | None  # of a node-hour
    other_usd: float | None  # of a node-hour of the other type
    peak_ratio: float | None  # peak of a node of the other type divided by that of a node


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockReport:
    """Figures of a block; None where a metric that they need was not recorded."""

    minutes: Mapping[str, float]  # minutes of nodes by use
    tokens: float | None
    mfu: float | None  # mean while jobs train
    usd: float | None  # paid
    usd_per_million_tokens: float | None
    usd_per_million_tokens_without_losses: float | None  # if all paid minutes had been training
    usd_per_million_tokens_other: float | None  # on the other type with the same MFU and losses
    other_mfu_of_same_cost: float | None  # of the other type, at which tokens cost the same
    seconds_per_graph: float | None  # of a compilation
    graphs: float  # found in the compile cache
    cache_minutes: float | None  # of nodes, that the compile cache saved
    cache_usd: float | None

    @property
    def paid_minutes(self) -> float:
        """Paid minutes of nodes."""
        return sum(self.minutes.values())

    def usd_of(self, use: str) -> float | None:
        """Return the dollars of a use."""
        return None if self.usd is None else self.usd * self.minutes[use] / self.paid_minutes

    def node_hours_for(self, tokens: float) -> float | None:
        """Return the node-hours that so many tokens take with the speed and the losses of this block."""
        return self.paid_minutes / 60 * tokens / self.tokens if self.tokens else None

    def usd_for(self, tokens: float) -> float | None:
        """Return the dollars that so many tokens cost with the price, the speed and the losses of this block."""
        cost = self.usd_per_million_tokens
        return None if cost is None else cost * tokens / 1e6


def usd_text(amount: float | None) -> str:
    """Return an amount as it is read."""
    return "not known" if amount is None else f"{amount:,.2f} USD" if amount >= 1 else f"{amount:,.4f} USD"


def number_text(value: float | None) -> str:
    """Return a number as it is read."""
    return "not recorded" if value is None else f"{value:,.0f}"


def percent_text(share: float | None) -> str:
    """Return a share as it is read."""
    return "not recorded" if share is None else f"{share:.1%}"


def report_block(
    recording: Recording, rates: Rates, *, paid_usd: float | None = None, reuses: int | None = None
) -> BlockReport | None:
    """Compute the report of what was recorded; None if no paid node was recorded.

    Args:
        recording: Metrics of the cluster.
        rates: Prices and peaks.
        paid_usd: What was paid for the recorded time, from the ledger or the bill. Default: paid node-hours at their price.
        reuses: Times that a job found all graphs in the compile cache that it compiled here. Default: the graphs found in
            it while this was recorded.
    """
    paid = recording.points("PaidNodes", "Average")
    if not any(nodes for _, nodes in paid):
        return None
    minutes = _minutes_by_use(recording, paid)
    total = sum(minutes.values())
    usd = paid_usd if paid_usd is not None else None if rates.usd is None else rates.usd * total / 60
    tokens = _tokens(recording)
    mfus = [value for job in recording.jobs for value in recording.values("Mfu", "Average", job=job)]
    mfu = fmean(mfus) if mfus else None
    cost = usd / tokens * 1e6 if usd is not None and tokens else None
    other = None
    if tokens and rates.other_usd is not None and rates.peak_ratio:
        other = rates.other_usd * total / 60 / (tokens * rates.peak_ratio) * 1e6
    compiled, missed, found = (
        _total(recording, name) for name in ("CompileSeconds", "CacheMisses", "CacheHits")
    )
    saved = found * compiled / missed if reuses is None and missed else (reuses or 0) * compiled
    nodes = fmean(nodes for _, nodes in paid)
    cache_minutes = saved / 60 * nodes if compiled else None
    return BlockReport(
        minutes=minutes,
        tokens=tokens,
        mfu=mfu,
        usd=usd,
        usd_per_million_tokens=cost,
        usd_per_million_tokens_without_losses=cost * minutes[TRAINING] / total if cost is not None else None,
        usd_per_million_tokens_other=other,
        other_mfu_of_same_cost=mfu * other / cost if mfu and other and cost else None,
        seconds_per_graph=compiled / missed if missed else None,
        graphs=found,
        cache_minutes=cache_minutes,
        cache_usd=None if cache_minutes is None or usd is None else usd * cache_minutes / total,
    )


def _minutes_by_use(recording: Recording, paid: list[tuple[datetime, float]]) -> dict[str, float]:
    unused, running, waiting, left = (
        dict(recording.points(metric, statistic))
        for metric, statistic in (
            ("UnusedNodes", "Average"),
            ("RunningJobs", "Average"),
            ("RunnableJobs", "Average"),
            ("SecondsToDrain", "Minimum"),
        )
    )
    stepping = {
        moment
        for job in recording.jobs
        for metric in ("TokensPerSecond", "StepSeconds")
        for moment, _ in recording.points(metric, "Average", job=job)
    }
    stops = [_stops(recording, job) for job in recording.jobs]
    used = dict.fromkeys(USES, 0.0)
    length = recording.period / timedelta(minutes=1)
    for moment, nodes in paid:
        absent = min(nodes, unused.get(moment, 0))
        here = (nodes - absent) * length
        if left.get(moment, 1) <= 0:
            used[_DRAIN] += nodes * length
            continue
        used[_NO_NODE] += absent * length
        if running.get(moment, 0) <= 0 and moment not in stepping:
            used[_WAITING if waiting.get(moment, 0) > 0 else _NO_WORK] += here
            continue
        compiling, saving = max((each.get(moment, _NO_STOP) for each in stops), default=_NO_STOP, key=sum)
        used[_COMPILATION] += here * compiling
        used[_CHECKPOINTS] += here * saving
        used[TRAINING if moment in stepping else _START] += here * (1 - compiling - saving)
    return used


def _stops(recording: Recording, job: str) -> Mapping[datetime, tuple[float, float]]:
    """Return the shares of each period in which a job waited for the compiler and for a checkpoint."""
    seconds = recording.period.total_seconds()
    compiled, saved = (
        dict(recording.points(metric, "Sum", job=job)) for metric in ("CompileSeconds", "CheckpointSeconds")
    )
    stops = {}
    for moment in compiled.keys() | saved.keys():
        compiling = min(1.0, compiled.get(moment, 0.0) / seconds)
        stops[moment] = compiling, min(1 - compiling, saved.get(moment, 0.0) / seconds)
    return stops


def _tokens(recording: Recording) -> float | None:
    """Return the tokens of all jobs: their speed while they made steps, without compilation and checkpoints."""
    seconds = recording.period.total_seconds()
    counted = [
        speed * seconds * (1 - sum(stops.get(moment, _NO_STOP)))
        for job in recording.jobs
        for stops in [_stops(recording, job)]
        for moment, speed in recording.points("TokensPerSecond", "Average", job=job)
    ]
    return sum(counted) if counted else None


def _total(recording: Recording, metric: str) -> float:
    return sum(value for job in recording.jobs for value in recording.values(metric, "Sum", job=job))
