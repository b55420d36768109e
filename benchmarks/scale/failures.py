"""A day of failures of a layout, simulated: nodes that fail, jobs that go back to a checkpoint, blocks that end."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from random import Random
from typing import Final

from scale.assumptions import Assumptions
from scale.layout import Layout
from ultracluster_catalog.capacity.capacity_blocks import BLOCK_END_UTC, drain_before_end
from ultracluster_catalog.limits.service_limits import SERVICE_LIMITS

__all__ = ["DayOfFailures", "JobSize", "simulate_day", "simulate_job_sizes"]

_DAY: Final = 1440.0  # minutes
_SIZES: Final = (1, 4, 16, 64, 256, 1000)
_DAYS_OF_A_SIZE: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class DayOfFailures:
    """How a day went, with one job on all nodes of each cluster.

    Attributes:
        seed: What it was drawn with.
        failures: Failures that ended a job.
        clusters_hit: Clusters with one failure or more.
        blocks_ended: Blocks that ended and were followed by another at once.
        useful_percent: Part of the paid time whose work was kept.
        worst_cluster_percent: The same of the cluster that lost most.
        repeated_chip_hours: Chip-hours of work that was done again.
        down_chip_hours: Chip-hours without work.
        most_chips_down: Most chips without work at one time.
    """

    seed: int
    failures: int
    clusters_hit: int
    blocks_ended: int
    useful_percent: float
    worst_cluster_percent: float
    repeated_chip_hours: float
    down_chip_hours: float
    most_chips_down: int


@dataclass(frozen=True, kw_only=True, slots=True)
class JobSize:
    """What is left of a day for one job of a size.

    Attributes:
        nodes: Nodes of the job.
        chips: Chips of it.
        failures_per_day: Failures that end it on a mean day.
        useful_percent: Part of the time whose work is kept, on a mean day.
        possible: Whether AWS Batch has jobs of so many nodes, and blocks are so large.
    """

    nodes: int
    chips: int
    failures_per_day: float
    useful_percent: float
    possible: bool


@dataclass(slots=True)
class _JobDay:
    failures: int
    repeated: float  # minutes of work done again
    down: list[tuple[float, float]]  # from minute, to minute

    @property
    def useful(self) -> float:
        return _DAY - self.repeated - sum(until - since for since, until in self.down)


def simulate_day(layout: Layout, *, seed: int = 0) -> DayOfFailures:
    """Live through one day.

    Failures come at random, at the rate of the chips of a job while it trains. A failure costs the work since the last
    checkpoint, its detection, the replacement of the node, and the restart. Ends of blocks are spread evenly over
    days; a block that ends is drained in time, and another one starts when it is gone.

    Args:
        layout: The layout.
        seed: The same seed gives the same day. Default: 0.
    """
    random = Random(seed)  # noqa: S311 - a simulation
    ended = ceil(layout.clusters / layout.assumptions.block_days)
    days = [
        _job_day(
            layout.assumptions,
            layout.chips_per_block,
            random,
            outage=_outage(layout) if index < ended else None,
        )
        for index in range(layout.clusters)
    ]
    hours_of_chips = layout.chips_per_block / 60
    return DayOfFailures(
        seed=seed,
        failures=sum(day.failures for day in days),
        clusters_hit=sum(day.failures > 0 for day in days),
        blocks_ended=ended,
        useful_percent=100 * sum(day.useful for day in days) / (_DAY * len(days)),
        worst_cluster_percent=100 * min(day.useful for day in days) / _DAY,
        repeated_chip_hours=hours_of_chips * sum(day.repeated for day in days),
        down_chip_hours=hours_of_chips * sum(until - since for day in days for since, until in day.down),
        most_chips_down=layout.chips_per_block * _most_at_once([span for day in days for span in day.down]),
    )


def simulate_job_sizes(layout: Layout, *, seed: int = 0) -> tuple[JobSize, ...]:
    """Say what is left of a mean day for jobs of several sizes, up to one job on all chips of the layout.

    Args:
        layout: The layout; its chips, type and assumptions.
        seed: The same seed gives the same days. Default: 0.
    """
    sizes = sorted({*(size for size in _SIZES if size < layout.nodes), layout.nodes})
    largest = min(SERVICE_LIMITS["job-nodes"].value, layout.nodes_per_block)
    return tuple(_size(layout, nodes, seed, possible=nodes <= largest) for nodes in sizes)


def _size(layout: Layout, nodes: int, seed: int, *, possible: bool) -> JobSize:
    random = Random(f"{seed} {nodes}")  # noqa: S311 - a simulation
    chips = nodes * layout.instance_type.chips
    days = [_job_day(layout.assumptions, chips, random, outage=None) for _ in range(_DAYS_OF_A_SIZE)]
    return JobSize(
        nodes=nodes,
        chips=chips,
        failures_per_day=sum(day.failures for day in days) / len(days),
        useful_percent=100 * sum(day.useful for day in days) / (_DAY * len(days)),
        possible=possible,
    )


def _outage(layout: Layout) -> tuple[float, float]:
    """From the drain of a block until the job trains in the next one."""
    end = BLOCK_END_UTC.hour * 60 + BLOCK_END_UTC.minute
    drain = drain_before_end(layout.instance_type).total_seconds() / 60
    return end - drain, end + layout.assumptions.boot_minutes + layout.assumptions.restart_minutes


def _job_day(
    given: Assumptions, chips: int, random: Random, *, outage: tuple[float, float] | None
) -> _JobDay:
    """One day of one job. It trains in stretches that a failure, the end of its block or the end of the day ends."""
    per_minute = given.failures_per_chip_day * chips / _DAY
    day = _JobDay(failures=0, repeated=0, down=[])
    now, since_checkpoint = 0.0, random.uniform(0, given.checkpoint_minutes)
    while now < _DAY:
        ahead = outage[0] if outage and now <= outage[0] else _DAY
        gap = random.expovariate(per_minute) if per_minute else _DAY
        if now + gap < ahead:
            now += gap
            day.failures += 1
            # Of a checkpoint that was written before midnight, only the work of this day is lost on this day.
            day.repeated += min((since_checkpoint + gap) % given.checkpoint_minutes, gap)
            back = now + given.detect_minutes + given.replace_minutes + given.restart_minutes
        elif outage and ahead == outage[0]:
            now, back = outage  # drained: a checkpoint was written
            outage = None
        else:
            break
        if outage and now < outage[0] < back:  # still down when its block is drained
            back, outage = max(back, outage[1]), None
        day.down.append((now, min(back, _DAY)))
        now, since_checkpoint = back, 0.0
    return day


def _most_at_once(spans: Sequence[tuple[float, float]]) -> int:
    steps = sorted([(since, 1) for since, _ in spans] + [(until, -1) for _, until in spans])
    most = down = 0
    for _, step in steps:
        down += step
        most = max(most, down)
    return most
