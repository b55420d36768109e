"""Recorded metrics of a cluster as time series. Functions read them too, so this imports nothing of the spec."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """Time series of one metric."""

    metric: str
    statistic: str  # statistic of each period: Average, Sum, Minimum or Maximum
    job: str | None = None  # job of the metric; None for the whole cluster
    # Start of each period that has a value, and the value, in chronological order
    points: tuple[tuple[datetime, float], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """Recorded metrics of one cluster."""

    cluster: str
    region: str
    start: datetime
    end: datetime
    period: timedelta
    series: tuple[Series, ...]

    def values(self, metric: str, statistic: str, *, job: str | None = None) -> list[float]:
        """Return the values of a metric in chronological order; empty if it was not recorded."""
        return [value for _, value in self.points(metric, statistic, job=job)]

    def points(self, metric: str, statistic: str, *, job: str | None = None) -> list[tuple[datetime, float]]:
        """Return the values of a metric with their times; empty if it was not recorded."""
        return [
            point
            for series in self.series
            if (series.metric, series.statistic, series.job) == (metric, statistic, job)
            for point in series.points
        ]

    @property
    def jobs(self) -> tuple[str, ...]:
        """Names of the jobs that have metrics, sorted."""
        return tuple(sorted({series.job for series in self.series if series.job is not None}))
