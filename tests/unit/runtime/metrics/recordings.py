"""Synthetic recording of a day: a run on 16 nodes that compiles, trains, saves, and loses a node in the evening.

`python -m tests.unit.runtime.metrics.recordings` writes the sample that `ultracluster dashboard --sample` draws.
"""

import math
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean

from ultracluster_runtime.metrics.recorded_metrics import Recording, Series
from ultracluster_runtime.metrics.recording_file import write_recording

START = datetime(2026, 11, 20, tzinfo=UTC)
PERIOD = timedelta(minutes=5)
NODES = 16
SAMPLE = Path(__file__).parents[4] / "cli/ultracluster_cli/metrics/sample.json"
_OF_PERIODS = {"Average": fmean, "Sum": sum, "Minimum": min, "Maximum": max}


def series(metric: str, statistic: str, values: list[float], job: str | None = None) -> Series:
    points = tuple((START + number * PERIOD, value) for number, value in enumerate(values))
    return Series(metric=metric, statistic=statistic, job=job, points=points)


def recording(*made: Series, hours: float = 24) -> Recording:
    end = START + timedelta(hours=hours)
    return Recording(cluster="pretrain", region="us-east-2", start=START, end=end, period=PERIOD, series=made)


def day(seed: int = 7) -> Recording:
    chance = random.Random(seed)  # noqa: S311 - made up, not secret
    count = 24 * 12
    lost = 20 * 12  # when the node is gone
    compiling = 9

    def noisy(value: float, share: float = 0.02) -> float:
        return value * (1 + chance.uniform(-share, share))

    nodes = [NODES - (number >= lost) for number in range(count)]
    trains = [compiling <= number for number in range(count)]
    tokens = [(number, noisy(160_000 * nodes[number] / NODES)) for number in range(count) if trains[number]]
    minutes = PERIOD / timedelta(minutes=1)

    def of_job(metric: str, values: list[tuple[int, float]], statistic: str = "Average") -> Series:
        points = tuple((START + number * PERIOD, value) for number, value in values)
        return Series(metric=metric, statistic=statistic, job="train", points=points)

    saves = [(number, noisy(41)) for number in range(compiling, count, 12)]
    return recording(
        series("PaidNodes", "Average", [float(NODES)] * count),
        series("RunningNodes", "Average", [float(each) for each in nodes]),
        series("UnusedNodes", "Average", [float(NODES - each) for each in nodes]),
        series("NodesReporting", "Sum", [each * minutes for each in nodes]),
        series("CoreUtilization", "Average", [noisy(91) if each else noisy(4) for each in trains]),
        series("CoreUtilization", "Minimum", [noisy(86) if each else 0.0 for each in trains]),
        series("SecondsToDrain", "Minimum", [3600 * 30 - 300.0 * number for number in range(count)]),
        series("ExecutionSeconds", "Average", [noisy(0.62) for _ in range(count)]),
        series("ExecutionSeconds", "Maximum", [noisy(0.66) for _ in range(count)]),
        series("EccCorrected", "Sum", [float(chance.random() < 0.01) for _ in range(count)]),
        series("EccUncorrected", "Sum", [0.0] * count),
        series("ExecutionErrors", "Sum", [float(number == lost) for number in range(count)]),
        series("NeuronDevicesMissing", "Maximum", [0.0] * count),
        series("EfaDevicesMissing", "Maximum", [0.0] * count),
        series("HostMemoryPercent", "Maximum", [noisy(38) for _ in range(count)]),
        series("DiskPercent", "Maximum", [22 + number / 20 for number in range(count)]),
        series("EfaBytes", "Sum", [noisy(9e9 * 300 * each) for each in nodes]),
        series("TcpBytes", "Sum", [noisy(2e6 * 300 * each) for each in nodes]),
        series("EfaRetransmits", "Sum", [float(chance.randrange(3)) for _ in range(count)]),
        series("EfaDrops", "Sum", [0.0] * count),
        series("TcpFallback", "Maximum", [0.0] * count),
        series("LustreReadBytes", "Sum", [noisy(240e6 * 300) if each else 0.0 for each in trains]),
        series(
            "LustreWriteBytes",
            "Sum",
            [noisy(900e6 * 41) if number % 12 == compiling else 0.0 for number in range(count)],
        ),
        series(
            "FreeDataStorageCapacity",
            "Sum",
            [minutes * 2**30 * (4000 - 0.9 * number) for number in range(count)],
        ),
        series("RunningJobs", "Average", [1.0] * count),
        series("RunnableJobs", "Average", [float(number > lost) for number in range(count)]),
        series("BlockedJobs", "Average", [0.0] * count),
        series("WaitSeconds", "Maximum", [max(0.0, 300.0 * (number - lost)) for number in range(count)]),
        of_job("TokensPerSecond", tokens),
        of_job("StepSeconds", [(number, 4_194_304 / value) for number, value in tokens]),
        of_job("Loss", [(number, noisy(2 + 8 * math.exp(-number / 60), 0.01)) for number, _ in tokens]),
        of_job("Mfu", [(number, value * 6 * 70e9 / (667e12 * 16 * NODES)) for number, value in tokens]),
        of_job("CollectiveShare", [(number, noisy(0.14)) for number, _ in tokens]),
        of_job("CompileSeconds", [(number, noisy(280)) for number in range(compiling)], "Sum"),
        of_job("CacheMisses", [(number, 4.0) for number in range(compiling)], "Sum"),
        of_job("CacheHits", [(0, 11.0)], "Sum"),
        of_job("CheckpointSeconds", saves, "Sum"),
    )


def sample() -> Recording:
    """The day in periods of 15 minutes, to four digits, with an extension by a day at 14:00."""
    left = [3600 * 22 - 300.0 * number + 86_400 * (number >= 14 * 12) for number in range(24 * 12)]
    whole = day()
    return replace(
        whole,
        period=3 * PERIOD,
        series=tuple(
            _in_longer_periods(
                series("SecondsToDrain", "Minimum", left) if each.metric == "SecondsToDrain" else each
            )
            for each in whole.series
        ),
    )


def _in_longer_periods(shorter: Series) -> Series:
    values: dict[datetime, list[float]] = {}
    for moment, value in shorter.points:
        values.setdefault(START + (moment - START) // (3 * PERIOD) * 3 * PERIOD, []).append(value)
    join = _OF_PERIODS[shorter.statistic]
    return replace(
        shorter, points=tuple((moment, float(f"{join(part):.4g}")) for moment, part in values.items())
    )


if __name__ == "__main__":
    write_recording(sample(), SAMPLE)
