"""Weekly report of a bake-off: results of each candidate relative to the first, and per dollar."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from ultracluster_catalog.prices.prices import Price

PER_SECOND: Final = "_per_second"  # suffix of metric names that can be related to cost
_WEEK: Final = timedelta(weeks=1)


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
