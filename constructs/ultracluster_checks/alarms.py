"""Alarms: on a metric that something writes and a resource that exists, able to rise, and with a recipient."""

from collections.abc import Iterator
from typing import Final

from ultracluster_checks.events import is_about_blocks, misspelt
from ultracluster_checks.model.nodes import AUTO_SCALING_GROUP, EVENT_RULE
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.times import period_of, start_of
from ultracluster_checks.workers import FUNCTION, MACHINE, triggers
from ultracluster_rules.findings import quote

_ALARM: Final = "AWS::CloudWatch::Alarm"
_COMPOSITE: Final = "AWS::CloudWatch::CompositeAlarm"
_ACTIONS: Final = ("AlarmActions", "OKActions", "InsufficientDataActions")
# Metrics and dimensions of services. Guides of the services, CloudWatch metrics (2026-11).
_SERVICES: Final = {
    "AWS/Events": ("FailedInvocations Invocations TriggeredRules MatchedEvents ThrottledRules DeadLetterInvocations InvocationAttempts InvocationsCreated InvocationsSentToDlq InvocationsFailedToBeSentToDlq RetryInvocationAttempts SuccessfulInvocationAttempts IngestiontoInvocationStartLatency IngestiontoInvocationCompleteLatency", "RuleName EventBusName EventSourceName"),
    "AWS/Lambda": ("Errors Throttles Duration Invocations DeadLetterErrors DestinationDeliveryFailures ConcurrentExecutions AsyncEventsReceived AsyncEventsDropped AsyncEventAge IteratorAge OffsetLag UnreservedConcurrentExecutions ClaimedAccountConcurrency RecursiveInvocationsDropped ProvisionedConcurrencyInvocations ProvisionedConcurrencySpilloverInvocations ProvisionedConcurrencyUtilization ProvisionedConcurrentExecutions PostRuntimeExtensionsDuration", "FunctionName Resource ExecutedVersion EventSourceMappingUUID"),
    "AWS/SNS": ("NumberOfMessagesPublished NumberOfNotificationsDelivered NumberOfNotificationsFailed PublishSize", "TopicName Application Platform Country SMSType PhoneNumber"),
    "AWS/SQS": ("ApproximateNumberOfMessagesVisible ApproximateNumberOfMessagesNotVisible ApproximateNumberOfMessagesDelayed ApproximateAgeOfOldestMessage NumberOfEmptyReceives NumberOfMessagesDeleted NumberOfMessagesReceived NumberOfMessagesSent SentMessageSize ApproximateNumberOfGroupsWithInflightMessages NumberOfDeduplicatedSentMessages", "QueueName"),
    "AWS/States": ("ExecutionsFailed ExecutionsTimedOut ExecutionsAborted ExecutionsStarted ExecutionsSucceeded ExecutionTime ExecutionThrottled", "StateMachineArn ActivityArn LambdaFunctionArn ServiceIntegrationResourceArn APIName ServiceMetric StateMachineName"),
}  # fmt: skip
_METRICS: Final = {
    name: each for each, (names, _) in _SERVICES.items() for name in names.split()
} | dict.fromkeys(
    ("AvailableInstanceCount", "InstanceUtilization", "UsedInstanceCount"), "AWS/EC2CapacityReservations"
)
_FAILURES: Final = {"Errors", "DeadLetterErrors", "ExecutionsFailed", "ExecutionsTimedOut", "FailedInvocations", "InvocationsFailedToBeSentToDlq"}  # fmt: skip
# Dimensions of metrics: the type that they name, and the attributes that give its name. Guides of the services, CloudWatch metrics (2026-11).
_DIMENSIONS: Final = {
    "AutoScalingGroupName": ("AWS::AutoScaling::AutoScalingGroup", {""}),
    "FunctionName": (FUNCTION, {""}),
    "QueueName": ("AWS::SQS::Queue", {"QueueName"}),
    "RuleName": (EVENT_RULE, {""}),
    "StateMachineArn": (MACHINE, {"", "Arn"}),
    "TableName": ("AWS::DynamoDB::Table", {""}),
    "TopicName": ("AWS::SNS::Topic", {"TopicName"}),
}
# Those that mean another type in each namespace.
_NAMED: Final = {
    ("AWS/FSx", "FileSystemId"): ("AWS::FSx::FileSystem", {""}),
    ("AWS/EFS", "FileSystemId"): ("AWS::EFS::FileSystem", {"", "FileSystemId"}),
    ("AWS/EC2", "InstanceId"): ("AWS::EC2::Instance", {"", "InstanceId"}),
    ("AWS/EC2CapacityReservations", "CapacityReservationId"): ("AWS::EC2::CapacityReservation", {"", "Id"}),
    ("AWS/ApplicationELB", "LoadBalancer"): ("AWS::ElasticLoadBalancingV2::LoadBalancer", {"LoadBalancerFullName"}),
    ("AWS/ApplicationELB", "TargetGroup"): ("AWS::ElasticLoadBalancingV2::TargetGroup", {"TargetGroupFullName"}),
}  # fmt: skip
_MANY: Final = 10  # failures in one period
_RETENTION: Final = 345_600  # seconds; the default of a queue
_TRIES: Final = 3  # of an asynchronous invocation. AWS Lambda developer guide, error handling (2026-11)


@rule("UC6429")
def alarms_notify(templates: Templates) -> Iterator[Wrong]:
    """Find alarms without an action, with actions that are switched off, or on a topic without a subscriber."""
    alarms, composites = list(templates.of_type(_ALARM)), list(templates.of_type(_COMPOSITE))
    used = {target for each in composites for target in each["AlarmRule"].targets}
    suppressing = {each["ActionsSuppressor"].target for each in composites}
    inactive = {each for each in alarms if all(each[name].empty for name in _ACTIONS)}
    # One without an action of its own beside alarms that have one, over an alarm that has none.
    mute = {
        each
        for each in composites
        if each not in used and inactive & {*each["AlarmRule"].targets} and len(inactive) < len(alarms)
    }
    by_name = any(not each["AlarmRule"].targets for each in composites)  # which alarms, is unknown here
    notified_otherwise = {*used, *suppressing, *composites} - mute
    for alarm in (*alarms, *composites):
        actions, enabled = [alarm[name] for name in _ACTIONS], alarm["ActionsEnabled"]
        if enabled.flag is False and any(each.items for each in actions):
            yield enabled, "got false, so that the alarm notifies nothing", "true"
        if all(each.empty for each in actions) and alarm not in notified_otherwise and not by_name:
            yield actions[0], "no action, so that the alarm notifies nothing", "a topic or another action"


@rule("UC6429", _ALARM)
def alarms_rise_when_something_fails(alarm: Resource) -> Iterator[Wrong]:
    """Find alarms on a metric that does not exist, or that rise while nothing fails or stay silent while nothing runs."""
    namespace, name, silent = alarm["Namespace"].text, alarm["MetricName"], alarm["TreatMissingData"]
    operator, threshold = alarm["ComparisonOperator"], alarm["Threshold"]
    falls = (operator.text or "").startswith("LessThan")
    rare = alarm["Statistic"].text in {"Sum", "SampleCount"} and threshold.number in {0, 1}
    counts = (namespace, name.text) == ("AWS/Lambda", "Invocations") or rare
    if counts and falls and silent.text in {"notBreaching", "ignore"}:
        got = f"got {silent.text}; what never happens has no data, so the alarm stays silent"
        yield silent, got, "breaching"
    if near := misspelt(name.text, _METRICS) if (namespace or "").startswith("AWS/") else None:
        yield name, f"got {quote(name.text)}, which {namespace} does not have", near
    if name.text in _FAILURES and falls:
        got = f"got {operator.text}: the alarm rises while nothing fails"
        yield operator, got, "GreaterThanThreshold"
    reached = threshold.number == 0 and (operator.text or "").endswith("OrEqualToThreshold")
    if name.text in _FAILURES and (threshold.number or 0) >= _MANY and _is_rarely_called(alarm):
        yield threshold, f"got {threshold.number}, and it is called a few times in a block", "1"
    if name.text in _FAILURES and reached:
        yield threshold, "got 0, which is reached while nothing fails", "1"
    for dimension in alarm["Dimensions"].items:
        yield from _watches_nothing(dimension)


def _is_rarely_called(alarm: Resource) -> bool:
    """Return whether an alarm is about a function that only events about Capacity Blocks and single times start."""
    about = [each["Value"].target for each in alarm["Dimensions"].items]
    sources = [each.source for each in triggers(alarm.template.templates) if each.worker in about]
    return bool(sources) and all(is_about_blocks(each) or start_of(each) for each in sources)


def _watches_nothing(dimension: Property) -> Iterator[Wrong]:
    """Find dimensions that name no resource of their kind."""
    name, value = dimension["Name"], dimension["Value"]
    if near := misspelt(name.text, _DIMENSIONS):
        yield name, f"got {quote(name.text)}, which no metric has", near
    kind, attributes = _DIMENSIONS.get(name.text or "", (None, set()))
    if kind is None:
        return
    attribute = getattr(value.value, "attribute", None)
    if value.target is not None and (value.target.type != kind or attribute not in attributes):
        yield value, f"got {value.pattern}, which is not the {name.text} of a resource", f"that of {kind}"
    known = list(value.resource.template.templates.of_type(kind)) if value.text is not None else []
    names = [each["Name" if kind == EVENT_RULE else str(name.text)] for each in known]
    by_name = names and name.text != "StateMachineArn"
    if by_name and not any(each.unknown or "${" in each.pattern or each.text == value.text for each in names):
        got = f"got {quote(value.text)}, which none of these templates has"
        yield value, got, ", ".join(each.logical_id for each in known[:3])


@rule("UC6465")
def alarms_watch_what_is_written(templates: Templates) -> Iterator[Wrong]:
    """Find alarms on a metric that is written in another namespace or unit, or with other dimensions."""
    filters = templates.of_type("AWS::Logs::MetricFilter")
    written = [metric for each in filters for metric in each["MetricTransformations"].items]
    for alarm in templates.of_type(_ALARM):
        namespace, name, unit = alarm["Namespace"], alarm["MetricName"], alarm["Unit"]
        same = [metric for metric in written if metric["MetricName"].text == name.text]
        if (namespace.text or "AWS/").startswith("AWS/") or not same:
            continue
        there = [each for each in same if each["MetricNamespace"].text in {namespace.text, None}]
        if not there:
            yield namespace, f"nothing writes {name.text} there", same[0]["MetricNamespace"].pattern
            continue
        units = {"None" if metric["Unit"].missing else metric["Unit"].text for metric in there}
        if unit.text and None not in units and unit.text not in units:
            yield unit, f"got {unit.text}, and {name.text} has another unit", ", ".join(map(str, units))
        keys = {str(each["Name"].text) for each in alarm["Dimensions"].items}
        wanted = [{str(each["Key"].text) for each in metric["Dimensions"].items} for metric in there]
        unknown = any(each["Dimensions"].unknown for each in (alarm.properties, *there))
        if keys not in wanted and not unknown:
            yield alarm["Dimensions"], f"{name.text} has other ones", ", ".join(wanted[0]) or "none"


@rule("UC6465", AUTO_SCALING_GROUP)
def groups_publish_what_alarms_watch(group: Resource) -> Iterator[Wrong]:
    """Find alarms on metrics of a group that does not publish them.

    Amazon EC2 Auto Scaling user guide, CloudWatch metrics (2026-11): group metrics are published if they are enabled.
    """
    for alarm in group.template.templates.of_type(_ALARM) if group["MetricsCollection"].empty else ():
        inside = [each["MetricStat"]["Metric"] for each in alarm["Metrics"].items]
        for metric in (alarm.properties, *inside):
            about = any(each["Value"].target is group for each in metric["Dimensions"].items)
            if about and metric["Namespace"].text == "AWS/AutoScaling":
                got = f"{alarm.logical_id} watches {metric['MetricName'].pattern}, which the group does not publish"
                yield group["MetricsCollection"], got, "Granularity: 1Minute"


@rule("UC6465", _ALARM)
def alarms_can_rise_and_fall(alarm: Resource) -> Iterator[Wrong]:
    """Find alarms on a metric or resource of another service, on an age that no message reaches, and on messages in use."""
    namespace, name, threshold = alarm["Namespace"].text or "", alarm["MetricName"], alarm["Threshold"]
    owner = _METRICS.get(name.text or "")
    if namespace in _SERVICES and owner and owner != namespace:
        yield alarm["Namespace"], f"got {namespace}, and {name.text} is a metric of {owner}", owner
    elif near := misspelt(namespace, _SERVICES):
        yield alarm["Namespace"], f"got {quote(namespace)}, where no service writes", near
    for dimension in alarm["Dimensions"].items:
        value, key = dimension["Value"], dimension["Name"].text or ""
        own = _SERVICES.get(namespace, ("", key))[1].split()
        if key not in own and not misspelt(key, own) and key:
            yield dimension["Name"], f"got {quote(key)}, which no metric of {namespace} has", ", ".join(own)
        kind, attributes = _NAMED.get((namespace, key), (None, set()))
        target = value.target
        if kind and target is not None and (target.type != kind or value.value.attribute not in attributes):
            yield value, f"got {value.pattern}, which is no {key} of {namespace}", kind
        if namespace == "AWS/SQS" and target is not None and threshold.number is not None:
            yield from _never_or_always(target, name, threshold, threshold.number)
        if (namespace, key, name.text) == ("AWS/Lambda", "FunctionName", "Errors") and target is not None:
            yield from _fails_less_often(target, alarm)


def _never_or_always(queue: Resource, metric: Property, threshold: Property, limit: int) -> Iterator[Wrong]:
    kept = queue["MessageRetentionPeriod"]
    longest = _RETENTION if kept.missing else kept.number
    if metric.text == "ApproximateAgeOfOldestMessage" and longest is not None and limit >= longest:
        yield threshold, f"{queue.logical_id} deletes messages after {longest} seconds", "less"
    working = metric.text == "ApproximateNumberOfMessagesVisible" and not queue["RedrivePolicy"].missing
    if working and limit <= 1:
        got = f"{queue.logical_id} has messages whenever there is work; its failures are elsewhere"
        yield threshold, got, "an alarm on its dead-letter queue, or on the age of its messages"


def _fails_less_often(function: Resource, alarm: Resource) -> Iterator[Wrong]:
    """Find thresholds above the number of errors that a scheduled function can have in a period."""
    sources = [each.source for each in triggers(function.template.templates) if each.worker is function]
    minutes = [period_of(each) for each in sources]
    seconds, threshold = alarm["Period"].number, alarm["Threshold"]
    if not minutes or None in minutes or not seconds or alarm["Statistic"].text != "Sum":
        return
    most = sum(_TRIES * -(-seconds // (60 * each)) for each in minutes if each)
    if threshold.number is not None and threshold.number > most:
        got = f"got {threshold.number}, and {function.logical_id} fails at most {most} times in {seconds} seconds"
        yield threshold, got, "1"
