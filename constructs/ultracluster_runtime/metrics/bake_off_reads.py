"""Read the metrics of a bake-off from CloudWatch, with ListMetrics and GetMetricData only."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import product
from typing import Any, Final

from ultracluster_catalog.observability.metrics import BAKE_OFF_NAMESPACE, CANDIDATE_DIMENSION
from ultracluster_runtime.metrics.bake_off_report import Samples
from ultracluster_runtime.metrics.metric_reads import read_points

# Daily values: CloudWatch's weekly periods need not begin on a Monday. Daily sums and counts give the weekly mean.
_DAY: Final = timedelta(days=1)
_STATISTICS: Final = ("Sum", "SampleCount")


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
