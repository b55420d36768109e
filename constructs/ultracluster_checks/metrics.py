"""Metrics of alarms: written by something, in the unit and with the dimensions of the alarm, and able to rise."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Wrong, rule
from ultracluster_rules.findings import quote

_ALARM: Final = "AWS::CloudWatch::Alarm"
_RETENTION: Final = 345_600  # seconds; the default of a queue
# Metrics of namespaces that have few. EC2 User Guide, Monitor Capacity Reservations usage with CloudWatch metrics (2026-11).
_METRICS: Final = {
    "AWS/EC2CapacityReservations": {"UsedInstanceCount", "AvailableInstanceCount", "TotalInstanceCount", "InstanceUtilization"},
}  # fmt: skip
# What dimensions name, by namespace and dimension, and the attributes that give it. Guides of the services, CloudWatch metrics (2026-11).
_NAMED: Final = {
    ("AWS/FSx", "FileSystemId"): ("AWS::FSx::FileSystem", {""}),
    ("AWS/EFS", "FileSystemId"): ("AWS::EFS::FileSystem", {"", "FileSystemId"}),
    ("AWS/EC2", "InstanceId"): ("AWS::EC2::Instance", {"", "InstanceId"}),
    ("AWS/EC2CapacityReservations", "CapacityReservationId"): ("AWS::EC2::CapacityReservation", {"", "Id"}),
    ("AWS/NATGateway", "NatGatewayId"): ("AWS::EC2::NatGateway", {"", "NatGatewayId"}),
    ("AWS/S3", "BucketName"): ("AWS::S3::Bucket", {""}),
    ("AWS/ECS", "ClusterName"): ("AWS::ECS::Cluster", {""}),
    ("AWS/ECS", "ServiceName"): ("AWS::ECS::Service", {"Name"}),
    ("AWS/ApplicationELB", "LoadBalancer"): ("AWS::ElasticLoadBalancingV2::LoadBalancer", {"LoadBalancerFullName"}),
    ("AWS/ApplicationELB", "TargetGroup"): ("AWS::ElasticLoadBalancingV2::TargetGroup", {"TargetGroupFullName"}),
    ("AWS/NetworkELB", "LoadBalancer"): ("AWS::ElasticLoadBalancingV2::LoadBalancer", {"LoadBalancerFullName"}),
}  # fmt: skip
_SAME: Final = ("Namespace", "MetricName", "Dimensions", "Statistic", "ExtendedStatistic", "ComparisonOperator", "Threshold", "Period", "EvaluationPeriods", "DatapointsToAlarm", "TreatMissingData")  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Written:
    """A metric that a filter or the code of a function writes; None for what is not known."""

    namespace: str
    name: str
    unit: str | None
    dimensions: frozenset[str] | None


def _written(templates: Templates) -> Iterator[_Written]:
    for each in templates.of_type("AWS::Logs::MetricFilter"):
        for to in each["MetricTransformations"].items:
            unit = "None" if to["Unit"].missing else to["Unit"].text
            keys = frozenset(str(one["Key"].text) for one in to["Dimensions"].items)
            known = None if to["Dimensions"].unknown else keys
            yield _Written(str(to["MetricNamespace"].text), str(to["MetricName"].text), unit, known)
    for function in templates.of_type("AWS::Lambda::Function"):
        code = function["Code"]["ZipFile"].text or ""
        try:
            yield from _by_code(ast.parse(code) if "put_metric_data" in code else ast.Module([], []))
        except (SyntaxError, ValueError, RecursionError):
            continue


def _by_code(module: ast.Module) -> Iterator[_Written]:
    """Return the metrics of calls of put_metric_data whose names stand in the code."""
    for call in (each for each in ast.walk(module) if isinstance(each, ast.Call)):
        given = {each.arg: each.value for each in call.keywords}
        if getattr(call.func, "attr", "") != "put_metric_data" or "Namespace" not in given:
            continue
        namespace = _text(given["Namespace"])
        for each in ast.walk(given.get("MetricData", call)):
            entry = _entries(each)
            if namespace and (name := _text(entry.get("MetricName"))):
                unit = _text(entry["Unit"]) if "Unit" in entry else "None"
                at = entry.get("Dimensions", ast.List([]))
                names = [_text(_entries(one).get("Name")) for one in getattr(at, "elts", [None])]
                yield _Written(
                    namespace, name, unit, None if None in names else frozenset(n for n in names if n)
                )


def _entries(node: ast.AST | None) -> dict[str, ast.expr]:
    pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
    return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@rule("UC6465")
def alarms_watch_what_is_written(templates: Templates) -> Iterator[Wrong]:
    """Find alarms on a metric that is written in another namespace or unit, or with other dimensions.

    CloudWatch API reference, PutMetricAlarm (2026-11): an alarm in another unit stays in INSUFFICIENT_DATA, and a metric is
    its name, namespace and dimensions.
    """
    written = list(_written(templates))
    for alarm in templates.of_type(_ALARM):
        for at in (alarm.properties, *(each["MetricStat"]["Metric"] for each in alarm["Metrics"].items)):
            namespace, name, unit = at["Namespace"], at["MetricName"], alarm["Unit"]
            same = [each for each in written if each.name == name.text]
            own = [each for each in same if each.namespace == namespace.text]
            if (namespace.text or "AWS/").startswith("AWS/") or not same:
                continue
            if not own:
                yield (
                    namespace,
                    f"got {quote(namespace.text)}, to which nothing writes {name.text}",
                    same[0].namespace,
                )
            units = {each.unit for each in own}
            if own and unit.text and None not in units and unit.text not in units:
                yield unit, f"got {unit.text}, and {name.text} is in {own[0].unit}", str(own[0].unit)
            given = frozenset(str(each["Name"].text) for each in at["Dimensions"].items)
            dimensions = [each.dimensions for each in own]
            if own and not at["Dimensions"].unknown and None not in dimensions and given not in dimensions:
                wanted = ", ".join(sorted(dimensions[0] or ())) or "no dimension"
                yield at["Dimensions"], f"{name.text} is written with {wanted}", wanted


@rule("UC6465", _ALARM)
def alarms_can_rise_and_fall(alarm: Resource) -> Iterator[Wrong]:
    """Find alarms on a metric or resource that does not exist, on an age that no message reaches, and on messages in use."""
    namespace, name, threshold = alarm["Namespace"].text or "", alarm["MetricName"], alarm["Threshold"]
    known = _METRICS.get(namespace)
    if known and name.text and name.text not in known:
        yield name, f"got {quote(name.text)}, which {namespace} does not have", ", ".join(sorted(known))
    returned = [each["ReturnData"] for each in alarm["Metrics"].items]
    if returned and all(each.flag is False for each in returned):
        yield (
            alarm["Metrics"],
            "no metric returns data, so that the alarm watches nothing",
            "ReturnData: true for one",
        )
    for each in alarm["Dimensions"].items:
        value = each["Value"]
        kind, attributes = _NAMED.get((namespace, each["Name"].text or ""), (None, set()))
        wrong = value.target is not None and value.target.type != kind
        if kind and value.target is not None and (wrong or value.value.attribute not in attributes):
            yield (
                value,
                f"got {value.pattern}, and {each['Name'].text} of {namespace} is that of {kind}",
                kind,
            )
        yield from _of_queue(value.target, name.text, threshold) if namespace == "AWS/SQS" else ()


def _of_queue(queue: Resource | None, name: str | None, threshold: Property) -> Iterator[Wrong]:
    if queue is None or threshold.number is None:
        return
    kept, at = queue["MessageRetentionPeriod"], threshold
    longest = _RETENTION if kept.missing else kept.number
    if name == "ApproximateAgeOfOldestMessage" and longest is not None and threshold.number >= longest:
        yield (
            at,
            f"got {threshold.number} seconds, and {queue.logical_id} deletes messages after {longest}",
            "less",
        )
    if (
        name == "ApproximateNumberOfMessagesVisible"
        and threshold.number <= 1
        and not queue["RedrivePolicy"].missing
    ):
        got = (
            f"{queue.logical_id} has messages whenever there is work, since its failures go to another queue"
        )
        yield at, got, "an alarm on its dead-letter queue, or on the age of its messages"


@rule("UC6465")
def alarms_are_not_the_same(templates: Templates) -> Iterator[Wrong]:
    """Find alarms that watch the same metric of the same resource in the same way, of which one was meant for another."""
    seen: dict[str, Resource] = {}
    for alarm in templates.of_type(_ALARM):
        if not alarm["Dimensions"].items or not alarm["Metrics"].missing:
            continue
        whole = repr([alarm[key].value for key in _SAME])
        first = seen.setdefault(whole, alarm)
        if first is not alarm and "Unknown(name=''" not in whole:
            yield (
                alarm["Dimensions"],
                f"the same as those of {first.logical_id}",
                "another resource, or one alarm",
            )


@rule("UC6465", "AWS::CE::AnomalySubscription")
def anomalies_reach_their_subscribers(subscription: Resource) -> Iterator[Wrong]:
    """Find subscribers that do not get anomalies as often as the subscription tells them.

    AWS Cost Management guide, getting started with Cost Anomaly Detection (2026-11): topics get single alerts, addresses summaries.
    """
    often = subscription["Frequency"]
    for kind in (each["Type"].text for each in subscription["Subscribers"].items):
        if often.text and (
            (kind == "SNS" and often.text != "IMMEDIATE") or (kind == "EMAIL" and often.text == "IMMEDIATE")
        ):
            yield often, f"got {often.text} for {kind}", "IMMEDIATE" if kind == "SNS" else "DAILY or WEEKLY"
