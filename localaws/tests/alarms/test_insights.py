"""Queries over all metrics that have given dimensions."""

from datetime import UTC, datetime, timedelta

import pytest

from ultracluster_local.alarms.insights import Insights
from ultracluster_local.alarms.series import Metric, Series

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
OF = 'FROM SCHEMA("Test", System, Target)'


@pytest.fixture
def series() -> Series:
    """Two targets of one system, one of another, and a metric of the system without a target."""
    filled = Series()
    for system, target, value in (("a", "0", 3), ("a", "1", 90), ("b", "0", 95), ("a", None, 1000)):
        dimensions = {"System": system} | ({"Target": target} if target else {})
        filled.add(Metric.of("Test", "Used", dimensions), START, value)
    return filled


@pytest.mark.parametrize(
    ("query", "value"),
    [
        (f"SELECT MAX(Used) {OF} WHERE System = 'a'", 90),
        (f"SELECT MIN(Used) {OF} WHERE System = 'a'", 3),
        (f"SELECT SUM(Used) {OF} WHERE System = 'a'", 93),
        (f"SELECT MAX(Used) {OF}", 95),
        (f"SELECT MAX(Used) {OF} WHERE System = 'a' AND Target = '0'", 3),
        (f"SELECT MAX(Used) {OF} WHERE System = 'c'", None),
        (f"SELECT MAX(Free) {OF}", None),
    ],
)
def test_a_query_sees_the_metrics_with_its_dimensions(
    series: Series, query: str, value: float | None
) -> None:
    asked = Insights(text=query)
    assert asked.value(series, until=START + MINUTE, period=60) == value
    assert asked.value(series, until=START + 2 * MINUTE, period=60) is None


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT AVG(Used) {OF}",
        "SELECT MAX(Used) FROM Test",
        f"SELECT MAX(Used) {OF} WHERE System != 'a'",
        f"SELECT MAX(Used) {OF} GROUP BY Target",
    ],
)
def test_another_query_is_refused(series: Series, query: str) -> None:
    with pytest.raises(ValueError, match="does not support the query"):
        Insights(text=query).value(series, until=START + MINUTE, period=60)
