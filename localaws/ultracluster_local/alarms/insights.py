"""A subset of Metrics Insights: the largest, smallest or total value of all metrics that have given dimensions.

(https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-metrics-insights-querylanguage.html, read 2026-11.)
Everything else is refused, never guessed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ultracluster_local.alarms.series import Series

__all__ = ["Insights"]

_QUERY: Final = re.compile(
    r'SELECT (MAX|MIN|SUM)\((\w+)\) FROM SCHEMA\("([^"]+)"((?:, \w+)+)\)(?: WHERE (.+))?'
)
_CONDITION: Final = re.compile(r"(\w+) = '([^']*)'")
_STATISTICS: Final = {"MAX": "Maximum", "MIN": "Minimum", "SUM": "Sum"}
_AGGREGATES: Final[dict[str, Callable[[list[float]], float]]] = {"MAX": max, "MIN": min, "SUM": sum}


@dataclass(frozen=True, kw_only=True, slots=True)
class Insights:
    """A Metrics Insights query that an alarm evaluates.

    Attributes:
        text: Query, such as ``SELECT MAX(Load) FROM SCHEMA("Test", Cluster, Node) WHERE Cluster = 'a'``.
    """

    text: str

    def value(self, series: Series, *, until: datetime, period: int) -> float | None:
        """Return the value over the period that ends at a given time, or None without data points.

        Raises:
            ValueError: If the query uses an unsupported feature.
        """
        read = _QUERY.fullmatch(self.text)
        conditions = (read[5] or "").split(" AND ") if read and read[5] else []
        equal = [_CONDITION.fullmatch(each) for each in conditions]
        if read is None or None in equal:
            raise ValueError(f"the local AWS does not support the query {self.text!r}")
        where = {(each[1], each[2]) for each in equal if each}
        found = [
            series.value(metric, _STATISTICS[read[1]], until=until, period=period)
            for metric in series.metrics(read[3], read[2], dimensions=set(read[4][2:].split(", ")))
            if where <= metric.dimensions
        ]
        known = [each for each in found if each is not None]
        return _AGGREGATES[read[1]](known) if known else None
