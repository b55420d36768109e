"""Read the metrics of a bake-off from CloudWatch, with ListMetrics and GetMetricData only."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import product
from typing import Any, Final

from ultracluster_catalog.observability.metrics import BAKE_OFF_NAMESPACE, CANDIDATE_DIMENSION
from ultracluster_runtime.metrics.bake_off_report import Samples

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
    queries = [
        _query(f"m{number}", bake_off, figure, candidate, statistic)
        for number, (figure, candidate, statistic) in enumerate(series)
    ]
    pages = cloudwatch.get_paginator("get_metric_data").paginate(
        MetricDataQueries=queries, StartTime=start, EndTime=end, ScanBy="TimestampAscending"
    )
    for result in (result for page in pages for result in page["MetricDataResults"]):
        figure, candidate, statistic = series[int(result["Id"].removeprefix("m"))]
        for moment, value in zip(result["Timestamps"], result["Values"], strict=True):
            day = moment.astimezone(UTC).date()
            monday = day - day.weekday() * _DAY
            of_week = sums.setdefault((monday, figure, candidate), dict.fromkeys(_STATISTICS, 0.0))
            of_week[statistic] += value
    return {
        key: Samples(total=totals["Sum"], count=totals["SampleCount"])
        for key, totals in sums.items()
        if totals["SampleCount"]
    }


def _query(query_id: str, bake_off: str, figure: str, candidate: str, statistic: str) -> dict[str, Any]:
    dimension = {"Name": CANDIDATE_DIMENSION, "Value": f"{bake_off}/{candidate}"}
    return {
        "Id": query_id,
        "MetricStat": {
            "Metric": {"Namespace": BAKE_OFF_NAMESPACE, "MetricName": figure, "Dimensions": [dimension]},
            "Period": int(_DAY.total_seconds()),
            "Stat": statistic,
        },
    }
