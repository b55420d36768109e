"""Convert a recording to the lines of its charts, in the units of their axes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from ultracluster_catalog.observability.panels import MetricLine, Panel
from ultracluster_runtime.metrics.recorded_metrics import Recording


@dataclass(frozen=True, kw_only=True, slots=True)
class ChartedLine:
    """One line of a chart.

    Attributes:
        points: Times and values in the unit of the axis. None marks a gap in the recording.
    """

    label: str
    points: tuple[tuple[datetime, float | None], ...]

    @property
    def values(self) -> list[float]:
        """Values without gaps."""
        return [value for _, value in self.points if value is not None]


def charted_lines(recording: Recording, panel: Panel) -> list[ChartedLine]:
    """Return the lines of a panel that have a value."""
    lines = [
        ChartedLine(label=label, points=tuple(_with_gaps(recording, line, job)))
        for line in panel.lines
        for job, label in _labels(recording, line)
    ]
    return [line for line in lines if line.points]


def _labels(recording: Recording, line: MetricLine) -> Iterator[tuple[str | None, str]]:
    if not line.by_job:
        yield None, line.label
        return
    for job in recording.jobs:
        yield job, f"{job}: {line.label}"


def _with_gaps(
    recording: Recording, line: MetricLine, job: str | None
) -> Iterator[tuple[datetime, float | None]]:
    factor = line.scale
    if line.per_seconds is not None:
        factor *= line.per_seconds / recording.period.total_seconds()
    previous: datetime | None = None
    for moment, value in recording.points(line.metric, line.statistic, job=job):
        if previous is not None and moment - previous > recording.period:
            yield previous + recording.period, None
        yield moment, value * factor
        previous = moment


def node_hours(recording: Recording, metric: str) -> float | None:
    """Sum the node-hours of a metric that counts nodes; None if it is not in the recording."""
    values = recording.values(metric, "Average")
    return sum(values) * (recording.period / timedelta(hours=1)) if values else None
