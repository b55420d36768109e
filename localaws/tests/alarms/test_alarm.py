"""Alarms over a series: when they go off and back."""

from datetime import UTC, datetime, timedelta

import pytest

from ultracluster_local.alarms.alarm import Alarms, CompositeAlarm, Expression, MetricAlarm, Query
from ultracluster_local.alarms.series import Metric, Series

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LOAD = Metric.of("Test", "Load", {"Cluster": "a"})


def alarm(**changes: object) -> MetricAlarm:
    given = {
        "name": "high",
        "watched": Query(metric=LOAD, statistic="Average"),
        "period": 60,
        "comparison": "GreaterThanOrEqualToThreshold",
        "threshold": 5.0,
        "evaluation_periods": 3,
        "to_alarm": 3,
        "missing": "notBreaching",
    }
    return MetricAlarm(**(given | changes))  # type: ignore[arg-type]


def test_an_alarm_goes_off_at_the_minute_that_completes_its_periods_and_goes_back_at_the_first_good_one() -> (
    None
):
    series = Series()
    for minute, value in enumerate([1, 5, 5, 5, 4, 5]):
        series.add(LOAD, START + minute * MINUTE + timedelta(seconds=30), value)
    alarms = Alarms([alarm()])
    changes = [each for minute in range(1, 8) for each in alarms.evaluate(series, START + minute * MINUTE)]
    assert [(each.at - START, each.before, each.state) for each in changes] == [
        (MINUTE, "INSUFFICIENT_DATA", "OK"),
        (4 * MINUTE, "OK", "ALARM"),
        (5 * MINUTE, "ALARM", "OK"),
    ]


def test_an_alarm_on_an_expression_has_no_data_where_one_of_its_metrics_has_none() -> None:
    other = Metric.of("Test", "Other", {"Cluster": "a"})
    queries = {
        "a": Query(metric=LOAD, statistic="Sum"),
        "b": Query(metric=other, statistic="Sum"),
    }
    watched = Expression(text="a - b", queries=queries)
    series = Series()
    for minute in range(3):
        series.add(LOAD, START + minute * MINUTE, 10)
    assert alarm(watched=watched).state(series, START + 3 * MINUTE, "OK") == "OK"
    for minute in range(3):
        series.add(other, START + minute * MINUTE, 1)
    assert alarm(watched=watched).state(series, START + 3 * MINUTE, "OK") == "ALARM"


def test_data_of_two_periods_before_the_evaluation_periods_counts_and_older_data_does_not() -> None:
    series = Series()
    series.add(LOAD, START, 1)
    watched = alarm(missing="breaching")
    assert watched.state(series, START + 5 * MINUTE, "OK") == "OK"
    assert watched.state(series, START + 6 * MINUTE, "OK") == "ALARM"


def test_a_composite_alarm_sees_what_its_alarms_became_in_the_same_look() -> None:
    series = Series()
    for minute in range(3):
        series.add(LOAD, START + minute * MINUTE, 9)
    alarms = Alarms([alarm()], [CompositeAlarm(name="any", rule="ALARM(high)")])
    changes = alarms.evaluate(series, START + 3 * MINUTE)
    assert [(each.name, each.state) for each in changes] == [("high", "ALARM"), ("any", "ALARM")]


def test_refuses_a_comparison_with_a_band() -> None:
    with pytest.raises(ValueError, match="GreaterThanUpperThreshold"):
        alarm(comparison="GreaterThanUpperThreshold").state(Series(), START, "OK")
