"""The evaluator against CloudWatch's own worked examples, and the parts that they do not show."""

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import get_args

import pytest

from ultracluster_local.alarms.alarm import Alarms, CompositeAlarm, Expression, MetricAlarm, Query
from ultracluster_local.alarms.alarm_rules import is_in_alarm
from ultracluster_local.alarms.evaluation import State, next_state
from ultracluster_local.alarms.metric_math import evaluate
from ultracluster_local.alarms.series import Metric, Series

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LOAD = Metric.of("Test", "Load", {"Cluster": "a"})
KEEPS = "keeps"

# The two tables of the CloudWatch User Guide, "Configuring how CloudWatch alarms treat missing data", and the sequences of its
# section on premature transitions: data points, M, then missing, ignore, breaching, notBreaching. N is 3.
DOCUMENTED = [
    ("0-X-X", 3, ("OK", "OK", "OK", "OK")),
    ("0----", 3, ("OK", "OK", "OK", "OK")),
    ("-----", 3, ("INSUFFICIENT_DATA", KEEPS, "ALARM", "OK")),
    ("0XX-X", 3, ("ALARM", "ALARM", "ALARM", "ALARM")),
    ("--X--", 3, ("ALARM", KEEPS, "ALARM", "OK")),
    ("0-X-X", 2, ("ALARM", "ALARM", "ALARM", "ALARM")),
    ("00X0X", 2, ("ALARM", "ALARM", "ALARM", "ALARM")),
    ("0-X--", 2, ("OK", "OK", "ALARM", "OK")),
    ("----0", 2, ("OK", "OK", "ALARM", "OK")),
    ("---X-", 2, ("ALARM", KEEPS, "ALARM", "OK")),
]


def points(text: str) -> list[bool | None]:
    return [{"0": False, "X": True, "-": None}[each] for each in text]


@pytest.mark.parametrize(("data", "to_alarm", "documented"), DOCUMENTED)
@pytest.mark.parametrize("before", get_args(State))
def test_every_row_of_the_documented_tables(
    before: State, data: str, to_alarm: int, documented: tuple[str, ...]
) -> None:
    got = tuple(
        next_state(points(data), evaluation_periods=3, to_alarm=to_alarm, missing=treatment, before=before)
        for treatment in ("missing", "ignore", "breaching", "notBreaching")
    )
    assert got == tuple(before if each == KEEPS else each for each in documented)


@pytest.mark.parametrize("data", ["----X", "---X-"])
def test_one_breach_that_is_too_young_waits_for_more(data: str) -> None:
    assert (
        next_state(points(data), evaluation_periods=3, to_alarm=3, missing="missing", before="OK") != "ALARM"
    )


def test_without_missing_data_an_alarm_is_m_of_the_last_n_whatever_the_treatment() -> None:
    for data in product([False, True], repeat=5):
        for treatment in ("missing", "ignore", "breaching", "notBreaching"):
            state = next_state(data, evaluation_periods=3, to_alarm=2, missing=treatment, before="OK")
            assert state == ("ALARM" if sum(data[2:]) >= 2 else "OK")


def test_more_data_never_breaks_the_order_of_the_treatments() -> None:
    badness = {"OK": 0, "INSUFFICIENT_DATA": 1, "ALARM": 2}
    for data in product([False, True, None], repeat=5):
        for to_alarm in (1, 2, 3):
            lenient, between, strict = (
                badness[next_state(data, evaluation_periods=3, to_alarm=to_alarm, missing=each, before="OK")]
                for each in ("notBreaching", "missing", "breaching")
            )
            assert lenient <= between <= strict


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


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a - b", 1),
        ("-a + b * 2", 1),
        ("a / zero", None),
        ("a + gone", None),
        ("FILL(gone, 0) + a", 3),
        ("FILL(a, 0)", 3),
        ("IF(a > b, a, zero)", 3),
        ("IF(a <= b, a, zero)", 0),
        ("IF(a > b, gone, zero)", None),
        ("IF(gone > 0, a, b)", None),
    ],
)
def test_metric_math(expression: str, expected: float | None) -> None:
    assert evaluate(expression, {"a": 3, "b": 2, "zero": 0, "gone": None}) == expected


@pytest.mark.parametrize(
    "expression", ["SUM([a, b])", "a ** 2", "unknown + 1", "FILL(a, REPEAT)", "a +", "'a'", "a < b < 3"]
)
def test_refuses_metric_math_that_it_does_not_know(expression: str) -> None:
    with pytest.raises(ValueError, match="does not support the metric math"):
        evaluate(expression, {"a": 3, "b": 2})


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


STATES = {"a": "ALARM", "b": "OK", "c": "INSUFFICIENT_DATA", "d e": "ALARM"}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("ALARM(a)", True),
        ('ALARM("d e")', True),
        ('ALARM("arn:aws:cloudwatch:us-east-2:123456789012:alarm:d e")', True),
        ("ALARM(b) OR ALARM(c)", False),
        ("ALARM(b) OR INSUFFICIENT_DATA(c)", True),
        ("ALARM(a) AND NOT OK(b)", False),
        ("NOT ALARM(b) AND ALARM(a)", True),
        ("ALARM(a) OR ALARM(b) AND ALARM(b)", True),
        ("(ALARM(a) OR ALARM(b)) AND ALARM(b)", False),
        ("TRUE AND NOT FALSE", True),
    ],
)
def test_rules_of_composite_alarms(rule: str, expected: bool) -> None:
    assert is_in_alarm(rule, STATES) is expected


@pytest.mark.parametrize(
    "rule", ["", "ALARM(a) ALARM(b)", "(ALARM(a)", "ALARM(a) XOR ALARM(b)", "NOT", "ALARM(no)"]
)
def test_refuses_a_rule_that_cannot_be_read(rule: str) -> None:
    with pytest.raises(ValueError, match="composite alarm"):
        is_in_alarm(rule, STATES)


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
