"""Data points by metric and minute, and their statistics over a period."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

__all__ = ["Metric", "Series"]

_MINUTE: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """Identity of a metric, including all its dimensions.

    Attributes:
        namespace: Namespace.
        name: Metric name.
        dimensions: Pairs of name and value.
    """

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, namespace: str, name: str, dimensions: Mapping[str, str]) -> "Metric":
        """Create a metric from a mapping of dimensions."""
        return cls(namespace=namespace, name=name, dimensions=frozenset(dimensions.items()))


@dataclass(slots=True)
class _Minute:
    count: float = 0
    total: float = 0
    least: float = float("inf")
    most: float = float("-inf")

    def add(self, *, count: float, total: float, least: float, most: float) -> None:
        self.count += count
        self.total += total
        self.least = min(self.least, least)
        self.most = max(self.most, most)


@dataclass(slots=True)
class Series:
    """Data points by minute; shorter periods are not supported."""

    _minutes: dict[Metric, dict[int, _Minute]] = field(default_factory=dict)

    def add(self, metric: Metric, moment: datetime, value: float) -> None:
        """Add one value."""
        self.add_statistics(metric, moment, count=1, total=value, least=value, most=value)

    def add_statistics(
        self, metric: Metric, moment: datetime, *, count: float, total: float, least: float, most: float
    ) -> None:
        """Add a statistic set."""
        at = int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()) // _MINUTE
        minute = self._minutes.setdefault(metric, {}).setdefault(at, _Minute())
        minute.add(count=count, total=total, least=least, most=most)

    def metrics(self, namespace: str, name: str, *, dimensions: set[str]) -> list[Metric]:
        """Return the metrics of a name that have exactly these dimensions."""
        return [
            each
            for each in self._minutes
            if (each.namespace, each.name) == (namespace, name)
            and dimensions == {key for key, _ in each.dimensions}
        ]

    def value(self, metric: Metric, statistic: str, *, until: datetime, period: int) -> float | None:
        """Return a statistic over the period that ends at a given time, or None without data points.

        Args:
            metric: Metric.
            statistic: Average, Maximum, Minimum, SampleCount or Sum.
            until: End of the period, exclusive.
            period: Length of the period in seconds; whole minutes.

        Raises:
            ValueError: If the statistic or the period is not supported.
        """
        if period % _MINUTE:
            raise ValueError(f"the local AWS evaluates periods of whole minutes; got {period} s")
        minutes = self._minutes.get(metric)
        if minutes is None:
            return None
        end = int(until.timestamp()) // _MINUTE
        return _statistic(
            statistic, (minutes[at] for at in range(end - period // _MINUTE, end) if at in minutes)
        )


def _statistic(statistic: str, minutes: Iterable[_Minute]) -> float | None:
    whole = _Minute()
    for each in minutes:
        whole.add(count=each.count, total=each.total, least=each.least, most=each.most)
    if not whole.count:
        return None
    match statistic:
        case "Average":
            return whole.total / whole.count
        case "Maximum":
            return whole.most
        case "Minimum":
            return whole.least
        case "SampleCount":
            return whole.count
        case "Sum":
            return whole.total
    raise ValueError(f"the local AWS does not evaluate alarms on the statistic {statistic}")
