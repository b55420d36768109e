"""CloudWatch: alarms, metric data and dashboards."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from moto.cloudwatch.models import Alarm, CloudWatchBackend, cloudwatch_backends

from ultracluster_local.alarms.alarm_rules import is_in_alarm
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_check = Checks(service="cloudwatch")

_STATISTIC = r"SampleCount|Average|Sum|Minimum|Maximum|IQM|p\d.*|(?i:tm|wm|tc|ts|pr)[\d(].*"
_MOST_DATAPOINTS = 1440
_SHORT_PERIODS = frozenset({10, 20, 30})
_DAY = 86_400
_WEEK = 7 * _DAY
_HOUR = 3600
_SHORT = 30  # seconds; https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricStatistics.html


@instead_of(Alarm, "__init__")
def _without_data(original: Any, alarm: Any, *given: Any, **named: Any) -> None:
    """Begin alarms without data, as localstack/localstack, test_cloudwatch.snapshot.json shows (2025-09-24)."""
    original(alarm, *given, **named)
    alarm.state_value = "INSUFFICIENT_DATA"


@instead_of(CloudWatchBackend, "delete_alarms")
def _with_tags(original: Any, backend: Any, names: list[str]) -> None:
    """Delete the tags of alarms with them: the same snapshot (2026-02-17)."""
    for alarm in backend.get_alarms_by_alarm_names(names):
        backend.tagger.delete_all_tags_for_resource(alarm.alarm_arn)
    original(backend, names)


@_check("PutDashboard")
def check_put_dashboard(request: Request) -> None:
    """Refuse a body that is not a JSON object, and invalid widgets."""
    try:
        body = json.loads(request.parameters["DashboardBody"])
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ServiceError("InvalidParameterInput", "The field DashboardBody must be a valid JSON object")
    problems = [
        {"dataPath": f"/widgets/{number}/{path}".rstrip("/"), "message": message}
        for number, widget in enumerate(body.get("widgets") or [])
        for path, message in _widget_problems(widget)
    ]
    if problems:
        raise ServiceError(
            "InvalidParameterInput",
            f"The dashboard body is invalid, there are {len(problems)} validation errors:\n{json.dumps(problems, indent=2)}",
        )


def _widget_problems(widget: Any) -> Iterator[tuple[str, str]]:
    """https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html.

    The words are those of aws-samples/aws-eda-slurm-cluster#116 (2023-03-22) and of
    aws-solutions-library-samples/guidance-for-automating-network-monitoring-and-alerting-on-aws#7 (2022-03-06).
    """
    if not isinstance(widget, dict):
        yield "", "Should be object"
        return
    properties = widget.get("properties") or {}
    if widget.get("type") == "metric" and not properties.keys() & {"metrics", "annotations"}:
        yield "properties", "Should have required property 'metrics'"
        yield (
            "properties",
            "The metric widget should have specified a region and a data source or an alarm annotation",
        )
        yield "properties", "Should have required property 'annotations'"
    if widget.get("type") == "alarm" and not properties.get("alarms"):
        yield "properties/alarms", "Should NOT have less than 1 items"
    for number, metric in enumerate(properties.get("metrics") or []):
        options = metric[-1] if isinstance(metric, list) and metric and isinstance(metric[-1], dict) else {}
        if "color" in options and not re.fullmatch(
            r"#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})", str(options["color"])
        ):
            yield f"properties/metrics/{number}/{len(metric) - 1}/color", "Should match a hexadecimal colour"


@_check("PutMetricData")
def check_put_metric_data(request: Request) -> None:
    """Refuse a datum that gives its value in two ways."""
    for number, datum in enumerate(request.parameters.get("MetricData") or [], start=1):
        path = f"MetricData.member.{number}"
        for other in ("Values", "StatisticValues"):
            if datum.get("Value") is not None and datum.get(other):
                problem = f"The parameters {path}.Value and {path}.{other} are mutually exclusive and you have specified both."
                raise ServiceError("InvalidParameterCombination", problem)


@_check("GetMetricStatistics")
def check_get_metric_statistics(request: Request) -> None:
    """Refuse more data points than fit into a response."""
    span = (request.parameters["EndTime"] - request.parameters["StartTime"]).total_seconds()
    count = int(span // request.parameters["Period"])
    if span <= 0:
        raise ServiceError(
            "InvalidParameterValue", "The parameter StartTime must be less than the parameter EndTime."
        )
    if count > _MOST_DATAPOINTS:
        advice = "You may reduce the datapoints requested by increasing Period, or decreasing the time range."
        raise ServiceError(
            "InvalidParameterCombination",
            f"You have requested up to {count} datapoints, which exceeds the limit of {_MOST_DATAPOINTS}. {advice}",
        )

    if request.parameters["Period"] > _SHORT and request.parameters["Period"] % 60:
        raise ServiceError("InvalidParameterValue", "The parameter Period must be a multiple of 60.")


_CHILD = re.compile(
    r"""(?:ALARM|OK|INSUFFICIENT_DATA)\s*\(\s*(?:["']([^"']+)["']|([^\s()"']+))\s*\)""", re.IGNORECASE
)


def _children(rule: str) -> set[str]:
    """Return the names of the alarms of a rule, which may give their ARNs."""
    return {(quoted or plain).rpartition(":alarm:")[2] for quoted, plain in _CHILD.findall(rule)}


@_check("PutCompositeAlarm")
def check_alarm_rule(request: Request) -> None:
    """Refuse a malformed rule, and alarms that do not exist: API_PutCompositeAlarm."""
    rule, alarms = request.parameters["AlarmRule"], cloudwatch_backends[ACCOUNT][request.region].alarms
    named = _children(rule)
    if absent := sorted(named - {*alarms}):
        raise _wrong(
            f"Could not save the composite alarm as alarms [{', '.join(absent)}] in the alarm rule do not exist"
        )
    try:
        is_in_alarm(rule, dict.fromkeys(named, "OK"))
    except ValueError:
        raise _wrong(f"Error in AlarmRule: {rule}") from None


@_check("DeleteAlarms")
def check_delete_alarms(request: Request) -> None:
    """Refuse an alarm that a composite alarm refers to, unless both go: API_DeleteAlarms."""
    gone, alarms = {*request.parameters["AlarmNames"]}, cloudwatch_backends[ACCOUNT][request.region].alarms
    for alarm in alarms.values():
        named = _children(alarm.rule or "") & gone
        if named and alarm.name not in gone:
            raise _wrong(f"Cannot delete {min(named)} as there are composite alarm(s) depending on it.")


@_check("PutMetricAlarm")
def check_put_metric_alarm(request: Request) -> None:
    """Refuse periods that cannot be evaluated: up to a day, or a week if a period has at least an hour.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
    """
    period, count = request.parameters.get("Period"), request.parameters.get("EvaluationPeriods") or 0
    if period is None:
        return
    if period not in _SHORT_PERIODS and period % 60:
        raise ServiceError("ValidationError", "Period must be 10, 20, 30 or a multiple of 60.")
    for most, name, which in ((_DAY, "a day", "<"), (_WEEK, "a week", ">=")):
        if (period < _HOUR) == (which == "<") and period * count > most:
            limit = f"(EvaluationPeriods * Period must be <= {most}) for alarms using period {which} {_HOUR}"
            raise ServiceError(
                "ValidationError", f"Metrics cannot be checked across more than {name} {limit}"
            )


_OF_ONE_METRIC = ("Unit", "Dimensions", "Namespace", "Period", "ExtendedStatistic", "Statistic", "MetricName")


@_check("PutMetricAlarm")
def check_metrics_of_alarm(request: Request) -> None:
    """Refuse an alarm that says in two ways or in none what it watches (API_PutMetricAlarm)."""
    given = request.parameters
    queries = given.get("Metrics") or []
    if not queries:
        _check_one_metric(given)
        return
    beside = [name for name in _OF_ONE_METRIC if given.get(name)]
    if beside:
        # cloudtools/troposphere#1276 (2019-01-08)
        raise _wrong(f"{beside[-1]} should not be set if list of Metrics is set.")
    for one in queries:
        _check_query(one)
    # An alarm on a band of anomalies compares two: API_PutMetricAlarm, ThresholdMetricId.
    returned = 2 if given.get("ThresholdMetricId") else 1
    if sum(str(one.get("ReturnData", True)).lower() == "true" for one in queries) != returned:
        raise _wrong("Exactly one element of the metrics list should return data.")
    if all(one.get("Expression") for one in queries) and not any(one.get("Period") for one in queries):
        raise _wrong("Period must not be null")  # aws/aws-cdk#7155


def _check_query(one: Mapping[str, Any]) -> None:
    if bool(one.get("Expression")) == bool(one.get("MetricStat")):
        raise _wrong(f"Exactly one of Expression and MetricStat must be specified for {one.get('Id')}")
    statistic = (one.get("MetricStat") or {}).get("Stat", "Sum")
    if not re.fullmatch(_STATISTIC, statistic):
        raise _wrong("Invalid metrics list")  # hashicorp/terraform-provider-aws#19567


def _check_one_metric(given: Mapping[str, Any]) -> None:
    for name in ("MetricName", "Namespace", "Period", "Threshold"):  # aws-cloudformation/cfn-lint#771
        if given.get(name) is None:
            raise _wrong(f"{name} must not be null")
    statistics = [name for name in ("Statistic", "ExtendedStatistic") if given.get(name)]
    if len(statistics) != 1:
        raise _wrong("Exactly one of Statistic and ExtendedStatistic must be specified")
    datapoints, periods = given.get("DatapointsToAlarm"), given.get("EvaluationPeriods") or 0
    if datapoints is not None and datapoints > periods:
        raise _wrong("DatapointsToAlarm must be less than or equal to EvaluationPeriods")


def _wrong(message: str) -> ServiceError:
    return ServiceError("ValidationError", message)
