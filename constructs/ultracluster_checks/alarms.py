"""Events and alarms: patterns that match what AWS sends, alarms that watch something and notify somebody."""

import difflib
import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.codes import EVENTS, VARIABLES
from ultracluster_checks.model.nodes import EVENT_RULE, QUEUE
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Wrong, rule
from ultracluster_rules.findings import quote

_ACTIONS: Final = ("AlarmActions", "OKActions", "InsufficientDataActions")
# Types of events by their source. https://docs.aws.amazon.com/eventbridge/latest/ref/events.html (2026-11)
_EVENTS: Final = {
    "aws.autoscaling": ("EC2 Instance-launch Lifecycle Action", "EC2 Instance-terminate Lifecycle Action", "EC2 Instance Launch Successful", "EC2 Instance Launch Unsuccessful", "EC2 Instance Terminate Successful", "EC2 Instance Terminate Unsuccessful"),
    "aws.batch": ("Batch Job State Change", "Batch Job Queue Blocked"),
    "aws.cloudwatch": ("CloudWatch Alarm State Change",),
    "aws.codebuild": ("CodeBuild Build State Change", "CodeBuild Build Phase Change"),
    "aws.ec2": ("EC2 Instance State-change Notification", "EC2 Spot Instance Interruption Warning", "EC2 Instance Rebalance Recommendation"),
    "aws.ecs": ("ECS Task State Change", "ECS Container Instance State Change", "ECS Service Action", "ECS Deployment State Change"),
    "aws.health": ("AWS Health Event",),
    "aws.imagebuilder": ("EC2 Image Builder Image State Change",),
    "aws.s3": ("Object Created", "Object Deleted", "Object Restore Completed"),
    "aws.sagemaker": ("SageMaker Training Job State Change", "SageMaker HyperPod Cluster State Change", "SageMaker HyperPod Cluster Node Health Event"),
    "aws.states": ("Step Functions Execution Status Change",),
}  # fmt: skip
_SENDERS: Final = {kind: source for source, kinds in _EVENTS.items() for kind in kinds}
_STATES: Final = {
    "Batch Job State Change": ("status", {"SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"}),
    "CodeBuild Build State Change": ("build-status", {"IN_PROGRESS", "SUCCEEDED", "FAILED", "STOPPED", "FAULT", "TIMED_OUT"}),
    "EC2 Instance State-change Notification": ("state", {"pending", "running", "stopping", "stopped", "shutting-down", "terminated"}),
    "ECS Task State Change": ("lastStatus", {"PROVISIONING", "PENDING", "ACTIVATING", "RUNNING", "DEACTIVATING", "STOPPING", "DEPROVISIONING", "STOPPED", "DELETED"}),
    "Step Functions Execution Status Change": ("status", {"RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED", "PENDING_REDRIVE"}),
}  # fmt: skip
# Dimensions of metrics: the type that they name, and the attributes that give its name. Guides of the services, CloudWatch metrics (2026-11).
_DIMENSIONS: Final = {
    "AutoScalingGroupName": ("AWS::AutoScaling::AutoScalingGroup", {""}),
    "FunctionName": ("AWS::Lambda::Function", {""}),
    "QueueName": ("AWS::SQS::Queue", {"QueueName"}),
    "RuleName": (EVENT_RULE, {""}),
    "StateMachineArn": ("AWS::StepFunctions::StateMachine", {"", "Arn"}),
    "TableName": ("AWS::DynamoDB::Table", {""}),
    "TopicName": ("AWS::SNS::Topic", {"TopicName"}),
}
_PLACEHOLDER: Final = re.compile(r"<([A-Za-z][\w.-]*)>")
_FAILURES: Final = {"Errors", "DeadLetterErrors", "ExecutionsFailed", "ExecutionsTimedOut", "FailedInvocations", "InvocationsFailedToBeSentToDlq"}  # fmt: skip
_METRICS: Final = _FAILURES | {"AvailableInstanceCount", "InstanceUtilization", "UsedInstanceCount", "ApproximateNumberOfMessagesVisible", "Duration", "ExecutionsAborted", "ExecutionsStarted", "ExecutionsSucceeded", "Invocations", "Throttles"}  # fmt: skip


def _misspelt(text: str | None, known: Iterator[str] | set[str]) -> str | None:
    """Return the name that text is almost, and is not."""
    names = {*known}
    found = difflib.get_close_matches(text or "", names, 1, 0.85) if text not in names else []
    return found[0] if found else None


@rule(EVENTS, EVENT_RULE)
def patterns_match_events(source: Resource) -> Iterator[Wrong]:
    """Find patterns of events that no service sends: of another source, type, state or queue."""
    pattern = source["EventPattern"]
    kinds, senders, detail = pattern["detail-type"], pattern["source"].texts, pattern["detail"]
    for kind in kinds.items:
        own, near = _SENDERS.get(kind.text or ""), _misspelt(kind.text, iter(_SENDERS))
        if near and "Capacity Block" not in (kind.text or ""):
            yield kind, f"got {quote(kind.text)}, which no service sends", near
        if own and senders and None not in senders and own not in senders:
            yield (
                pattern["source"],
                f"got {', '.join(map(str, senders))}, and {quote(kind.text)} is of {own}",
                own,
            )
        field, states = _STATES.get(kind.text or "", ("", set()))
        for each in detail[field].items if len(kinds.items) == 1 else ():
            if each.text is not None and states and each.text not in states:
                yield each, f"got {quote(each.text)}, which no event has", ", ".join(sorted(states))
    for each in detail["jobQueue"].items:
        other = each.target is not None and each.target.type != QUEUE
        if other or (each.text is not None and not each.text.startswith("arn:")):
            yield each, f"got {each.pattern}, and the events have the ARN of a queue", "the ARN of the queue"
    for each in detail["bucket"]["name"].items:
        sent = each.target["NotificationConfiguration"]["EventBridgeConfiguration"] if each.target else each
        if sent.missing or sent["EventBridgeEnabled"].flag is False:
            yield sent, f"{each.pattern} sends no events to EventBridge", "EventBridgeConfiguration"


@rule(VARIABLES, EVENT_RULE)
def templates_have_their_variables(source: Resource) -> Iterator[Wrong]:
    """Find texts to targets with a variable that no path defines, which EventBridge refuses."""
    for target in source["Targets"].items:
        given, text = target["InputTransformer"]["InputPathsMap"], target["InputTransformer"]["InputTemplate"]
        for name in dict.fromkeys(_PLACEHOLDER.findall(text.pattern)):
            if given[name].missing and not name.startswith("aws.events."):
                got = f"<{name}> is not in InputPathsMap, and EventBridge refuses the target"
                yield (
                    text,
                    got,
                    ", ".join(map(str, given.value)) if isinstance(given.value, dict) else name,
                )


@rule("UC6429")
def alarms_notify(templates: Templates) -> Iterator[Wrong]:
    """Find alarms without an action, with actions that are switched off, or on a name that none of the templates has."""
    composites = list(templates.of_type("AWS::CloudWatch::CompositeAlarm"))
    alarms = list(templates.of_type("AWS::CloudWatch::Alarm"))
    used = {target for each in composites for target in each["AlarmRule"].targets}
    suppressing = {each["ActionsSuppressor"].target for each in composites}
    inactive = {each for each in alarms if all(each[name].empty for name in _ACTIONS)}
    # One without an action of its own beside alarms that have one, over an alarm that has none.
    mute = [
        each
        for each in composites
        if each not in used and inactive & {*each["AlarmRule"].targets} and len(inactive) < len(alarms)
    ]
    named = any(not each["AlarmRule"].targets for each in composites)  # the name is unknown here
    for alarm in (*alarms, *composites):
        actions, enabled = [alarm[name] for name in _ACTIONS], alarm["ActionsEnabled"]
        if enabled.flag is False and any(each.items for each in actions):
            yield enabled, "got false, so that the alarm notifies nothing", "true"
        told = {*used, *suppressing, *composites} - {*mute}
        if all(each.empty for each in actions) and alarm not in told and not named:
            yield actions[0], "no action, so that the alarm notifies nothing", "a topic or another action"
    for alarm in alarms:
        silent, metric = alarm["TreatMissingData"], (alarm["Namespace"].text, alarm["MetricName"].text)
        falls = (alarm["ComparisonOperator"].text or "").startswith("LessThan")
        rare = alarm["Statistic"].text in {"Sum", "SampleCount"} and alarm["Threshold"].number in {0, 1}
        counts = metric == ("AWS/Lambda", "Invocations") or rare
        if counts and falls and silent.text in {"notBreaching", "ignore"}:
            got = f"got {silent.text}; what never happens has no data, so the alarm stays silent"
            yield silent, got, "breaching"
        name = alarm["MetricName"]
        if near := _misspelt(name.text, _METRICS) if (metric[0] or "").startswith("AWS/") else None:
            yield name, f"got {quote(name.text)}, which {metric[0]} does not have", near
        operator, threshold = alarm["ComparisonOperator"], alarm["Threshold"]
        if metric[1] in _FAILURES and falls:
            yield (
                operator,
                f"got {operator.text}: the alarm rises while nothing fails",
                "GreaterThanThreshold",
            )
        if (
            metric[1] in _FAILURES
            and threshold.number == 0
            and (operator.text or "").endswith("OrEqualToThreshold")
        ):
            yield threshold, "got 0, which is reached while nothing fails", "1"
    for dimension in (each for alarm in alarms for each in alarm["Dimensions"].items):
        yield from _watches_nothing(dimension)


def _watches_nothing(dimension: Property) -> Iterator[Wrong]:
    """Find dimensions that name no resource of their kind."""
    name, value = dimension["Name"], dimension["Value"]
    if near := _misspelt(name.text, iter(_DIMENSIONS)):
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
