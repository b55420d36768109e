"""Alarms, metric data and dashboards that CloudWatch refuses."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture
def cloudwatch(local_aws: LocalAws) -> Any:
    return local_aws.client("cloudwatch")


@pytest.mark.parametrize(
    ("name", "body", "code"),
    [
        ("a b", "{}", "InvalidParameterValue"),
        ("a", "{", "InvalidParameterInput"),
        ("a", "[]", "InvalidParameterInput"),
    ],
)
def test_a_dashboard_has_a_plain_name_and_a_body_of_json(
    cloudwatch: Any, name: str, body: str, code: str
) -> None:
    assert refusal(cloudwatch.put_dashboard, DashboardName=name, DashboardBody=body)[0] == code
    assert cloudwatch.list_dashboards()["DashboardEntries"] == []


@pytest.mark.parametrize(
    "other",
    [{"Values": [1.0]}, {"StatisticValues": {"SampleCount": 1, "Sum": 1, "Minimum": 1, "Maximum": 1}}],
)
def test_a_datum_has_its_value_in_one_form(cloudwatch: Any, other: dict[str, Any]) -> None:
    data = [{"MetricName": "m", "Value": 1}, {"MetricName": "m", "Value": 1, **other}]

    code, message = refusal(cloudwatch.put_metric_data, Namespace="n", MetricData=data)

    names = f"MetricData.member.2.Value and MetricData.member.2.{next(iter(other))}"
    assert (code, names in message) == ("InvalidParameterCombination", True)


@pytest.mark.parametrize(
    ("hours", "words"),
    [(24, ""), (25, "You have requested up to 1500 datapoints"), (0, "StartTime must be less than")],
)
def test_statistics_have_up_to_1440_data_points(cloudwatch: Any, hours: int, words: str) -> None:
    asked = {
        "Namespace": "n",
        "MetricName": "m",
        "StartTime": NOW,
        "EndTime": NOW + timedelta(hours=hours),
        "Period": 60,
        "Statistics": ["Sum"],
    }

    if words:
        assert words in refusal(cloudwatch.get_metric_statistics, **asked)[1]
    else:
        assert cloudwatch.get_metric_statistics(**asked)["Datapoints"] == []


@pytest.mark.parametrize(
    ("period", "count", "words"),
    [
        (60, 1440, ""),
        (
            60,
            1441,
            "more than a day (EvaluationPeriods * Period must be <= 86400) for alarms using period < 3600",
        ),
        (3600, 168, ""),
        (
            3600,
            169,
            "more than a week (EvaluationPeriods * Period must be <= 604800) for alarms using period >= 3600",
        ),
    ],
)
def test_an_alarm_looks_back_a_day_or_by_hours_a_week(
    cloudwatch: Any, period: int, count: int, words: str
) -> None:
    alarm = {
        "AlarmName": "a",
        "Namespace": "n",
        "MetricName": "m",
        "Statistic": "Sum",
        "Threshold": 1,
        "ComparisonOperator": "GreaterThanThreshold",
        "Period": period,
        "EvaluationPeriods": count,
    }

    if words:
        assert refusal(cloudwatch.put_metric_alarm, **alarm) == (
            "ValidationError",
            f"Metrics cannot be checked across {words}",
        )
    else:
        cloudwatch.put_metric_alarm(**alarm)


METRIC = {"Metric": {"Namespace": "n", "MetricName": "m"}, "Period": 60}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"MetricName": "m", "Period": 60, "Statistic": "Sum"}, "Namespace must not be null"),
        ({"Namespace": "n", "Period": 60, "Statistic": "Sum"}, "MetricName must not be null"),
        (
            {"Statistic": "Sum", "Metrics": [{"Id": "a", "MetricStat": METRIC | {"Stat": "p99"}}]},
            "Statistic should not be set if list of Metrics is set.",
        ),
        ({"Metrics": [{"Id": "a", "MetricStat": METRIC | {"Stat": "Mean"}}]}, "Invalid metrics list"),
    ],
)
def test_an_alarm_says_once_and_wholly_what_it_watches(
    cloudwatch: Any, given: dict[str, Any], words: str
) -> None:
    alarm = {"AlarmName": "a", "EvaluationPeriods": 1, "ComparisonOperator": "GreaterThanThreshold"}

    assert refusal(cloudwatch.put_metric_alarm, **alarm, Threshold=1, **given) == ("ValidationError", words)


@pytest.mark.parametrize("stat", ["Sum", "p99.9", "IQM", "TM(10%:90%)", "tm99"])
def test_an_alarm_on_metrics_takes_each_statistic(cloudwatch: Any, stat: str) -> None:
    query = {"Id": "a", "MetricStat": METRIC | {"Stat": stat}}
    alarm = {"AlarmName": "a", "EvaluationPeriods": 1, "ComparisonOperator": "GreaterThanThreshold"}

    cloudwatch.put_metric_alarm(**alarm, Threshold=1, Metrics=[query])
