"""Read the metrics of a cluster from CloudWatch into a recording, with ListMetrics and GetMetricData only."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

from ultracluster_catalog.observability.metrics import CLUSTER_DIMENSION, JOB_DIMENSION, NAMESPACE
from ultracluster_catalog.observability.panels import PANELS, MetricLine
from ultracluster_runtime.metrics.recorded_metrics import Recording, Series

_MOST_QUERIES = 500  # limit of one GetMetricData request
_MOST_POINTS = 1440  # limit of one series: one value per minute for a day, and what a chart can show
# Retention of values with a period of one and of five minutes (GetMetricData, read 2026-11-21).
_MINUTES_KEPT = timedelta(days=15)
_FIVE_MINUTES_KEPT = timedelta(days=63)


def recording_period(start: datetime, end: datetime, *, now: datetime) -> timedelta:
    """Return the shortest period for which CloudWatch still has values and a chart can show all of them."""
    age = now - start
    least = 60 if age <= _MINUTES_KEPT else 300 if age <= _FIVE_MINUTES_KEPT else 3600
    return timedelta(seconds=least * max(1, ceil((end - start).total_seconds() / _MOST_POINTS / least)))


def record_metrics(
    cloudwatch: Any,
    *,
    cluster: str,
    region: str,
    start: datetime,
    end: datetime,
    period: timedelta,
    file_system_id: str | None = None,
) -> Recording:
    """Record the metrics of a cluster that its dashboard shows, and the free space of a file system if one is specified.

    `period` is that of one value, in whole minutes.
    """
    jobs = _jobs(cloudwatch, cluster)
    queries = list(dict.fromkeys(_queries(cluster, jobs, file_system_id)))
    series: list[Series] = []
    for first in range(0, len(queries), _MOST_QUERIES):
        series += _read(cloudwatch, queries[first : first + _MOST_QUERIES], start, end, period)
    return Recording(
        cluster=cluster, region=region, start=start, end=end, period=period, series=tuple(series)
    )


_Query = tuple[str, str, str, str | None, tuple[tuple[str, str], ...]]


def _jobs(cloudwatch: Any, cluster: str) -> list[str]:
    pages = cloudwatch.get_paginator("list_metrics").paginate(
        Namespace=NAMESPACE, MetricName="Steps", Dimensions=[{"Name": CLUSTER_DIMENSION, "Value": cluster}]
    )
    return sorted(
        dimension["Value"]
        for page in pages
        for metric in page["Metrics"]
        for dimension in metric["Dimensions"]
        if dimension["Name"] == JOB_DIMENSION
    )


def _queries(cluster: str, jobs: Sequence[str], file_system_id: str | None) -> Iterator[_Query]:
    for line in (line for panel in PANELS for line in panel.lines):
        for job, dimensions in _dimensions(line, cluster, jobs, file_system_id):
            yield line.source, line.metric, line.statistic, job, dimensions


def _dimensions(
    line: MetricLine, cluster: str, jobs: Sequence[str], file_system_id: str | None
) -> Iterator[tuple[str | None, tuple[tuple[str, str], ...]]]:
    if line.source != NAMESPACE:
        if file_system_id is not None:
            yield None, (("FileSystemId", file_system_id),)
    elif line.by_job:
        yield from ((job, ((CLUSTER_DIMENSION, cluster), (JOB_DIMENSION, job))) for job in jobs)
    else:
        yield None, ((CLUSTER_DIMENSION, cluster),)


def _read(
    cloudwatch: Any, wanted: Sequence[_Query], start: datetime, end: datetime, period: timedelta
) -> list[Series]:
    metrics = [
        (namespace, metric, statistic, dimensions) for namespace, metric, statistic, _, dimensions in wanted
    ]
    points = read_points(cloudwatch, metrics, start=start, end=end, period=period)
    return [
        Series(metric=metric, statistic=statistic, job=job, points=tuple(sorted(values.items())))
        for (_, metric, statistic, job, _), values in zip(wanted, points, strict=True)
        if values
    ]


def read_points(
    cloudwatch: Any,
    metrics: Sequence[tuple[str, str, str, tuple[tuple[str, str], ...]]],
    *,
    start: datetime,
    end: datetime,
    period: timedelta,
) -> list[dict[datetime, float]]:
    """Return the values of metrics by the start of their period.

    Each metric is a namespace, a name, a statistic and its dimensions; one request has 500 of them at most.
    """
    queries = [
        {
            "Id": f"m{number}",
            "MetricStat": {
                "Metric": {
                    "Namespace": namespace,
                    "MetricName": name,
                    "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions],
                },
                "Period": int(period.total_seconds()),
                "Stat": statistic,
            },
        }
        for number, (namespace, name, statistic, dimensions) in enumerate(metrics)
    ]
    points: list[dict[datetime, float]] = [{} for _ in metrics]
    pages = cloudwatch.get_paginator("get_metric_data").paginate(
        MetricDataQueries=queries, StartTime=start, EndTime=end, ScanBy="TimestampAscending"
    )
    for result in (result for page in pages for result in page["MetricDataResults"]):
        times = (moment.astimezone(UTC) for moment in result["Timestamps"])
        points[int(result["Id"].removeprefix("m"))].update(zip(times, result["Values"], strict=True))
    return points
