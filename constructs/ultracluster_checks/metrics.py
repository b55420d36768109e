"""Metrics of alarms: written by something, in the unit and with the dimensions of the alarm, and able to rise."""

from collections.abc import Iterator
from typing import Final

from ultracluster_checks.model.template import Resource, Templates
from ultracluster_checks.problem import Wrong, rule

_ALARM: Final = "AWS::CloudWatch::Alarm"
_RETENTION: Final = 345_600  # seconds; the default of a queue
# What dimensions name, by namespace and dimension, and the attributes that give it. Guides of the services, CloudWatch metrics (2026-11).
_NAMED: Final = {
    ("AWS/FSx", "FileSystemId"): ("AWS::FSx::FileSystem", {""}),
    ("AWS/EFS", "FileSystemId"): ("AWS::EFS::FileSystem", {"", "FileSystemId"}),
    ("AWS/EC2", "InstanceId"): ("AWS::EC2::Instance", {"", "InstanceId"}),
    ("AWS/EC2CapacityReservations", "CapacityReservationId"): ("AWS::EC2::CapacityReservation", {"", "Id"}),
    ("AWS/ApplicationELB", "LoadBalancer"): ("AWS::ElasticLoadBalancingV2::LoadBalancer", {"LoadBalancerFullName"}),
    ("AWS/ApplicationELB", "TargetGroup"): ("AWS::ElasticLoadBalancingV2::TargetGroup", {"TargetGroupFullName"}),
}  # fmt: skip


@rule("UC6465")
def alarms_watch_what_is_written(templates: Templates) -> Iterator[Wrong]:
    """Find alarms on a metric that is written in another namespace or unit, or with other dimensions: PutMetricAlarm (2026-11)."""
    filters = templates.of_type("AWS::Logs::MetricFilter")
    written = [to for each in filters for to in each["MetricTransformations"].items]
    for alarm in templates.of_type(_ALARM):
        namespace, name, unit = alarm["Namespace"], alarm["MetricName"], alarm["Unit"]
        same = [to for to in written if to["MetricName"].text == name.text]
        own = [to for to in same if to["MetricNamespace"].text in {namespace.text, None}]
        if (namespace.text or "AWS/").startswith("AWS/") or not same:
            continue
        if not own:
            yield namespace, f"nothing writes {name.text} there", same[0]["MetricNamespace"].pattern
        units = {"None" if to["Unit"].missing else to["Unit"].text for to in own}
        if own and unit.text and None not in units and unit.text not in units:
            yield unit, f"got {unit.text}, and {name.text} has another unit", ", ".join(map(str, units))
        given = {str(one["Name"].text) for one in alarm["Dimensions"].items}
        wanted = [{str(one["Key"].text) for one in to["Dimensions"].items} for to in own]
        if (
            own
            and given not in wanted
            and not any(at["Dimensions"].unknown for at in (alarm.properties, *own))
        ):
            yield alarm["Dimensions"], f"{name.text} has other ones", ", ".join(wanted[0]) or "none"


@rule("UC6465", _ALARM)
def alarms_can_rise_and_fall(alarm: Resource) -> Iterator[Wrong]:
    """Find alarms on a resource of another kind, on an age that no message reaches, and on messages in use."""
    namespace, name, threshold = alarm["Namespace"].text or "", alarm["MetricName"], alarm["Threshold"]
    for each in alarm["Dimensions"].items:
        value, target, key = each["Value"], each["Value"].target, each["Name"].text or ""
        kind, attributes = _NAMED.get((namespace, key), (None, set()))
        if kind and target is not None and (target.type != kind or value.value.attribute not in attributes):
            yield value, f"got {value.pattern}, which is no {key} of {namespace}", kind
        queue = target if namespace == "AWS/SQS" and threshold.number is not None else None
        kept = queue["MessageRetentionPeriod"] if queue is not None else threshold
        longest = _RETENTION if kept.missing else kept.number
        if queue is None or longest is None or threshold.number is None:
            continue
        if name.text == "ApproximateAgeOfOldestMessage" and threshold.number >= longest:
            yield threshold, f"{queue.logical_id} deletes messages after {longest} seconds", "less"
        working = name.text == "ApproximateNumberOfMessagesVisible" and not queue["RedrivePolicy"].missing
        if working and threshold.number <= 1:
            got = f"{queue.logical_id} has messages whenever there is work; its failures are elsewhere"
            yield threshold, got, "an alarm on its dead-letter queue, or on the age of its messages"
