"""A bake-off week by week: what each contestant reached, against the first, and what a dollar bought of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from ultracluster_catalog.prices.prices import Price

__all__ = ["PER_SECOND", "Candidate", "Figure", "Result", "Samples", "Week", "compare_weeks", "weeks_until"]

PER_SECOND: Final = "_per_second"
"""How the names of figures end that a dollar can buy."""

_WEEK: Final = timedelta(weeks=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A contestant, as far as its money goes.

    Attributes:
        name: Its name in the bake-off.
        nodes: How many nodes it ran on. None if not said.
        price: Price of one of them for an hour. None if neither price nor instance type was said.
    """

    name: str
    nodes: int | None = None
    price: Price | None = None

    @property
    def usd_per_hour(self) -> Decimal | None:
        """What all its nodes cost in an hour. None when that is not known."""
        if self.nodes is None or self.price is None or self.price.amount is None:
            return None
        return self.nodes * self.price.amount


@dataclass(frozen=True, kw_only=True, slots=True)
class Samples:
    """What CloudWatch has of a figure of a contestant in a time.

    Attributes:
        total: Sum of all values that were reported.
        count: How many there were, 1 or more.
    """

    total: float
    count: float

    @property
    def mean(self) -> float:
        """Mean of all values."""
        return self.total / self.count


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What a contestant reached in a week.

    Attributes:
        mean: Of all values that it reported.
        count: How many there were.
        ratio: Mean over that of the first contestant. None when that has no figure, or zero.
        for_a_dollar: How much a dollar bought. None when the price is not known, or the figure is not by the second.
        ratio_for_a_dollar: That over what it bought of the first contestant. None when either is not known.
    """

    mean: float
    count: float
    ratio: float | None
    per_dollar: float | None
    ratio_per_dollar: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A figure in a week.

    Attributes:
        name: Its name.
        reached: What each contestant reached, by its name in the order of the sides. None for nothing reported.
    """

    name: str
    reached: Mapping[str, Result | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Week:
    """A week of the report.

    Attributes:
        first: Its Monday, in UTC.
        over: Whether it is over.
        figures: In the order in which they were asked for.
    """

    first: date
    over: bool
    figures: tuple[Figure, ...]

    @property
    def last(self) -> date:
        """Its Sunday."""
        return self.first + _WEEK - timedelta(days=1)


def weeks_until(today: date, count: int) -> list[date]:
    """Give the Mondays of the last weeks, the earliest first, that of today as the last.

    Args:
        today: The day.
        count: How many weeks.
    """
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
    """Set the contestants beside each other.

    Args:
        reports: What there is, by Monday, name of the figure and name of the contestant.
        mondays: The weeks.
        figures: The figures.
        sides: The contestants; the others are compared with the first.
        today: The day.
    """
    return [
        Week(
            first=monday,
            over=monday + _WEEK <= today,
            figures=tuple(
                Figure(
                    name=figure,
                    reached=dict(
                        _results(figure, {candidate: reports.get((monday, figure, candidate.name)) for candidate in candidates})
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
