"""Weekly report of a bake-off from CloudWatch: results of each candidate relative to the first, and per dollar."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import product
from typing import Any, Final

from ultracluster_catalog.observability.metrics import BAKE_OFF_NAMESPACE, CANDIDATE_DIMENSION
from ultracluster_catalog.prices.prices import Price
from ultracluster_runtime.metrics.metric_reads import read_points

PER_SECOND: Final = "_per_second"  # suffix of metric names that can be related to cost
_WEEK: Final = timedelta(weeks=1)
# Daily values: CloudWatch's weekly periods need not begin on a Monday. Daily sums and counts give the weekly mean.
_DAY: Final = timedelta(days=1)
_STATISTICS: Final = ("Sum", "SampleCount")


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """Candidate with its cost."""

    name: str
    nodes: int | None = None
    # Price of a node per hour. None if neither price nor instance type was specified.
    price: Price | None = None

    @property
    def usd_per_hour(self) -> Decimal | None:
        """Cost of all nodes in USD per hour. None if unknown."""
        if self.nodes is None or self.price is None or self.price.amount is None:
            return None
        return self.nodes * self.price.amount


@dataclass(frozen=True, kw_only=True, slots=True)
class Samples:
    """Samples of a metric that a candidate reported."""

    total: float  # sum of all values
    count: float  # number of values, 1 or more

    @property
    def mean(self) -> float:
        """Mean of all values."""
        return self.total / self.count


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """Result of a candidate in a week."""

    mean: float
    count: float
    ratio: float | None  # mean relative to the first candidate; None if that has no value, or zero
    # Amount per US dollar. None if the price is unknown, or the metric is not a rate per second.
    per_dollar: float | None
    # Amount per dollar relative to the first candidate. None if either is unknown.
    ratio_per_dollar: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """Metric in a week."""

    name: str
    # Result of each candidate, by name, in the order of the candidates. None without values.
    reached: Mapping[str, Result | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Week:
    """Week of the report."""

    first: date  # Monday of the week, in UTC
    over: bool  # whether the week has ended
    figures: tuple[Figure, ...]

    @property
    def last(self) -> date:
        """Sunday of the week."""
        return self.first + _WEEK - timedelta(days=1)


def weeks_until(today: date, count: int) -> list[date]:
    """Return the Mondays of the last weeks, earliest first, including the current week."""
    monday = today - timedelta(days=today.weekday())
    return [monday - back * _WEEK for back in reversed(range(count))]


def compare_weeks(
    reports: Mapping[tuple[date, str, str], Samples],
    *,
    mondays: Sequence[date],
    figures: Sequence[str],
    candidates: Sequence[Candidate],
    today: date,
) -> list[Week]:
    """Compare candidates week by week."""
    return [
        Week(
            first=monday,
            over=monday + _WEEK <= today,
            figures=tuple(
                Figure(
                    name=figure,
                    reached=dict(
                        _results(
                            figure,
                            {
                                candidate: reports.get((monday, figure, candidate.name))
                                for candidate in candidates
                            },
                        )
                    ),
                )
                for figure in figures
            ),
        )
        for monday in mondays
    ]


def _results(figure: str, samples: Mapping[Candidate, Samples | None]) -> Iterator[tuple[str, Result | None]]:
    means = {candidate: None if sample is None else sample.mean for candidate, sample in samples.items()}
    bought = {candidate: _per_dollar(figure, candidate, mean) for candidate, mean in means.items()}
    first = next(iter(samples))
    for candidate, sample in samples.items():
        reached = None
        if sample is not None:
            reached = Result(
                mean=sample.mean,
                count=sample.count,
                ratio=_ratio(means[candidate], means[first]),
                per_dollar=bought[candidate],
                ratio_per_dollar=_ratio(bought[candidate], bought[first]),
            )
        yield candidate.name, reached


def _per_dollar(figure: str, candidate: Candidate, mean: float | None) -> float | None:
    hourly = candidate.usd_per_hour
    if mean is None or not hourly or not figure.endswith(PER_SECOND):
        return None
    return mean * 3600 / float(hourly)


def _ratio(value: float | None, baseline: float | None) -> float | None:
    return value / baseline if value is not None and baseline else None


def find_figures(cloudwatch: Any, *, bake_off: str) -> dict[str, list[str]]:
    """Return the candidates of a bake-off that reported within the last two weeks, with their metric names."""
    figures: dict[str, list[str]] = {}
    for page in cloudwatch.get_paginator("list_metrics").paginate(Namespace=BAKE_OFF_NAMESPACE):
        for metric in page["Metrics"]:
            for dimension in metric["Dimensions"]:
                path, _, candidate = dimension["Value"].rpartition("/")
                if dimension["Name"] == CANDIDATE_DIMENSION and path == bake_off:
                    figures.setdefault(candidate, []).append(metric["MetricName"])
    return figures


def read_samples(
    cloudwatch: Any,
    *,
    bake_off: str,
    candidates: Sequence[str],
    figures: Sequence[str],
    mondays: Sequence[date],
) -> Mapping[tuple[date, str, str], Samples]:
    """Return the reported samples by Monday of the week, metric name and candidate.

    `bake_off` is its path in its app. There are at most 250 pairs of `candidates` and `figures`.
    """
    start = datetime.combine(mondays[0], time(), UTC)
    end = datetime.combine(mondays[-1] + 7 * _DAY, time(), UTC)
    sums: dict[tuple[date, str, str], dict[str, float]] = {}
    series = list(product(figures, candidates, _STATISTICS))  # a bake-off has 200 of these at most
    metrics = [
        (BAKE_OFF_NAMESPACE, figure, statistic, ((CANDIDATE_DIMENSION, f"{bake_off}/{candidate}"),))
        for figure, candidate, statistic in series
    ]
    points = read_points(cloudwatch, metrics, start=start, end=end, period=_DAY)
    for (figure, candidate, statistic), values in zip(series, points, strict=True):
        for moment, value in values.items():
            monday = moment.date() - moment.weekday() * _DAY
            of_week = sums.setdefault((monday, figure, candidate), dict.fromkeys(_STATISTICS, 0.0))
            of_week[statistic] += value
    return {
        key: Samples(total=totals["Sum"], count=totals["SampleCount"])
        for key, totals in sums.items()
        if totals["SampleCount"]
    }
