"""CloudWatch: alarms, metric data and dashboards."""

import json
import re

from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError

__all__: list[str] = []

_check = Checks(service="cloudwatch")

_MOST_DATAPOINTS = 1440
_DAY = 86_400
_WEEK = 7 * _DAY
_HOUR = 3600


@_check("PutDashboard")
def check_put_dashboard(request: Request) -> None:
    """Refuse a name with invalid characters, and a body that is not a JSON object."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", request.parameters["DashboardName"]):
        rule = "It can only contain alphanumerics, dash (-) and underscore (_).\n"
        raise ServiceError(
            "InvalidParameterValue", f"The value for field DashboardName contains invalid characters. {rule}"
        )
    try:
        body = json.loads(request.parameters["DashboardBody"])
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ServiceError("InvalidParameterInput", "The field DashboardBody must be a valid JSON object")


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


@_check("PutMetricAlarm")
def check_put_metric_alarm(request: Request) -> None:
    """Refuse periods that cannot be evaluated: up to a day, or a week if a period has at least an hour.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
    """
    period, count = request.parameters.get("Period"), request.parameters.get("EvaluationPeriods") or 0
    if period is None:
        return
    for most, name, which in ((_DAY, "a day", "<"), (_WEEK, "a week", ">=")):
        if (period < _HOUR) == (which == "<") and period * count > most:
            limit = f"(EvaluationPeriods * Period must be <= {most}) for alarms using period {which} {_HOUR}"
            raise ServiceError(
                "ValidationError", f"Metrics cannot be checked across more than {name} {limit}"
            )
