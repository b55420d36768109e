"""Data points of metrics and their statistics."""

from datetime import UTC, datetime, timedelta

import pytest

from ultracluster_local.alarms.series import Metric, Series

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LOAD = Metric.of("Test", "Load", {"Cluster": "a"})


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [("Average", 2.5), ("Maximum", 4), ("Minimum", 1), ("SampleCount", 4), ("Sum", 10)],
)
def test_a_period_ends_before_its_end_and_slides_by_the_minute(statistic: str, expected: float) -> None:
    series = Series()
    for minute, value in enumerate([100, 1, 2, 3, 4, 100]):
        series.add(LOAD, START + minute * MINUTE, value)
    assert series.value(LOAD, statistic, until=START + 5 * MINUTE, period=240) == expected


def test_a_period_without_data_has_no_value_and_other_dimensions_are_another_metric() -> None:
    series = Series()
    series.add(Metric.of("Test", "Load", {"Cluster": "a", "Job": "b"}), START, 1)
    assert series.value(LOAD, "Sum", until=START + MINUTE, period=60) is None


@pytest.mark.parametrize(
    ("statistic", "period", "named"), [("p99", 60, "p99"), ("Sum", 30, "30"), ("Sum", 90, "90")]
)
def test_what_is_not_known_is_refused(statistic: str, period: int, named: str) -> None:
    series = Series()
    series.add(LOAD, START, 1)
    with pytest.raises(ValueError, match=named):
        series.value(LOAD, statistic, until=START + MINUTE, period=period)
