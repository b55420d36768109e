"""CloudWatch embedded metric format: log events from which CloudWatch extracts metrics.

Source: specification of the format in the CloudWatch User Guide, read 2026-11-21. Values have their own timestamps; a
value may be a number or a list of numbers. Other log events are ignored.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from moto.cloudwatch.models import cloudwatch_backends
from moto.logs.models import LogsBackend

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.replacing import instead_of

__all__ = ["extract_metrics"]


@instead_of(LogsBackend, "put_log_events")
def _put_log_events(
    original: Any,
    backend: Any,
    log_group_name: str,
    log_stream_name: str,
    log_events: list[dict[str, Any]],
) -> Any:
    answer = original(backend, log_group_name, log_stream_name, log_events)
    extract_metrics((each["message"] for each in log_events), region=backend.region_name)
    return answer


def extract_metrics(lines: Iterable[str], *, region: str, at: datetime | None = None) -> None:
    """Extract the metrics of log events into CloudWatch.

    Args:
        lines: Log events.
        region: Region of their log group.
        at: Time of their values. Default: their timestamps.
    """
    for line in lines:
        start = line.find('{"')
        try:
            document = json.loads(line[start:]) if start >= 0 else None
        except ValueError:
            continue
        if isinstance(document, dict) and isinstance(document.get("_aws"), dict):
            for namespace, data in _metric_data(document, at):
                cloudwatch_backends[ACCOUNT][region].put_metric_data(namespace, data)


def _metric_data(
    document: Mapping[str, Any], at: datetime | None
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    moment = at or datetime.fromtimestamp(document["_aws"]["Timestamp"] / 1000, UTC)
    for directive in document["_aws"]["CloudWatchMetrics"]:
        data = []
        for names in directive["Dimensions"]:
            dimensions = [{"Name": name, "Value": str(document[name])} for name in names]
            for metric in directive["Metrics"]:
                value = document.get(metric["Name"])
                if value is None:
                    continue
                data.append(
                    {
                        "MetricName": metric["Name"],
                        "Values": value if isinstance(value, list) else [value],
                        "Unit": metric.get("Unit", "None"),
                        "Timestamp": moment.replace(tzinfo=None),  # moto's times are naive
                        "Dimensions": dimensions,
                    }
                )
        yield directive["Namespace"], data
