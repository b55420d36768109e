"""Patterns of events: of a bus, type, state and subject that a service sends, about the block of the nodes."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_DELIVERED_EVENTS,
    BLOCK_EXPIRATION_WARNING_EVENTS,
    INSTANCE_INTERRUPTION_WARNING_EVENT,
)
from ultracluster_checks.calls import detail_keys_of, event_keys_of
from ultracluster_checks.codes import EVENTS, IN_TIME, VARIABLES
from ultracluster_checks.model.nodes import AUTO_SCALING_GROUP, EVENT_RULE, QUEUE, differ, nodes_of
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.model.values import Reference
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_checks.workers import FUNCTION, MACHINE, Trigger, triggers
from ultracluster_rules.findings import quote

_BLOCK: Final = "capacity-reservation-id end-date"
_HOOK: Final = "LifecycleActionToken AutoScalingGroupName LifecycleHookName EC2InstanceId LifecycleTransition NotificationMetadata Origin Destination"
_ACTIVITY: Final = "StatusCode AutoScalingGroupName ActivityId Details RequestId StatusMessage EndTime EC2InstanceId StartTime Cause Description Origin Destination InvokingAlarms"
# Types of events by their source, with the keys of their detail. https://docs.aws.amazon.com/eventbridge/latest/ref/events.html (2026-11)
_EVENTS: Final = {
    "aws.autoscaling": {
        **dict.fromkeys(("EC2 Instance-launch Lifecycle Action", "EC2 Instance-terminate Lifecycle Action"), _HOOK),
        **dict.fromkeys(("EC2 Instance Launch Successful", "EC2 Instance Launch Unsuccessful", "EC2 Instance Terminate Successful", "EC2 Instance Terminate Unsuccessful"), _ACTIVITY),
    },
    "aws.backup": {"Backup Job State Change": ""},
    "aws.batch": {
        "Batch Job State Change": "jobArn jobName jobId jobQueue status statusReason attempts createdAt retryStrategy startedAt stoppedAt dependsOn jobDefinition parameters container nodeProperties nodeDetails arrayProperties timeout tags propagateTags platformCapabilities eksProperties eksAttempts ecsProperties isCancelled isTerminated schedulingPriority shareIdentifier",
        "Batch Job Queue Blocked": "",
    },
    "aws.cloudwatch": {"CloudWatch Alarm State Change": "alarmName state previousState configuration operation"},
    "aws.codebuild": {"CodeBuild Build State Change": "build-status project-name build-id additional-information current-phase current-phase-context version", "CodeBuild Build Phase Change": ""},
    "aws.ec2": {
        **dict.fromkeys((*BLOCK_DELIVERED_EVENTS, *BLOCK_EXPIRATION_WARNING_EVENTS), _BLOCK),
        INSTANCE_INTERRUPTION_WARNING_EVENT: f"{_BLOCK} instance-lifecycle instance-action instance-id instance-termination-time availability-zone-id",
        "EC2 Instance State-change Notification": "instance-id state",
        "EC2 Spot Instance Interruption Warning": "instance-id instance-action",
        "EC2 Instance Rebalance Recommendation": "instance-id",
    },
    "aws.ecs": dict.fromkeys(("ECS Task State Change", "ECS Container Instance State Change", "ECS Service Action", "ECS Deployment State Change"), ""),
    "aws.health": {"AWS Health Event": ""},
    "aws.imagebuilder": {"EC2 Image Builder Image State Change": ""},
    "aws.s3": dict.fromkeys(("Object Created", "Object Deleted", "Object Restore Completed"), ""),
    "aws.sagemaker": dict.fromkeys(("SageMaker Training Job State Change", "SageMaker HyperPod Cluster State Change", "SageMaker HyperPod Cluster Node Health Event"), ""),
    "aws.states": {"Step Functions Execution Status Change": "executionArn stateMachineArn name status startDate stopDate input output inputDetails outputDetails error cause stateMachineVersionArn stateMachineAliasArn redriveCount redriveDate redriveStatus redriveStatusReason"},
}  # fmt: skip
_SENDERS: Final = {kind: source for source, kinds in _EVENTS.items() for kind in kinds}
_BLOCK_EVENTS: Final = {*BLOCK_DELIVERED_EVENTS, *BLOCK_EXPIRATION_WARNING_EVENTS}
# The place of the state in the detail, and its values.
_STATES: Final = {
    "Batch Job State Change": ("status", {"SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"}),
    "CloudWatch Alarm State Change": ("state.value", {"ALARM", "OK", "INSUFFICIENT_DATA"}),
    "CodeBuild Build State Change": ("build-status", {"IN_PROGRESS", "SUCCEEDED", "FAILED", "STOPPED", "FAULT", "TIMED_OUT"}),
    "EC2 Instance State-change Notification": ("state", {"pending", "running", "stopping", "stopped", "shutting-down", "terminated"}),
    "ECS Task State Change": ("lastStatus", {"PROVISIONING", "PENDING", "ACTIVATING", "RUNNING", "DEACTIVATING", "STOPPING", "DEPROVISIONING", "STOPPED", "DELETED"}),
    "Step Functions Execution Status Change": ("status", {"RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED", "PENDING_REDRIVE"}),
}  # fmt: skip
# What keys of a detail name: the type, and the property with its name.
_SUBJECTS: Final = {
    "AutoScalingGroupName": (AUTO_SCALING_GROUP, "AutoScalingGroupName"),
    "alarmName": ("AWS::CloudWatch::Alarm", "AlarmName"),
    "clusterArn": ("AWS::ECS::Cluster", "ClusterName"),
    "jobQueue": (QUEUE, "JobQueueName"),
    "project-name": ("AWS::CodeBuild::Project", "Name"),
    "stateMachineArn": (MACHINE, "StateMachineName"),
}
_READ: Final = re.compile(r"\$\.detail\.([\w-]+)")
_PLACEHOLDER: Final = re.compile(r"<([A-Za-z][\w.-]*)>")

# EventBridge user guide, events, and EventBridge Scheduler user guide, templated targets (2026-11).
_ENVELOPE: Final = {
    "version",
    "id",
    "detail-type",
    "source",
    "account",
    "time",
    "region",
    "resources",
    "detail",
}


def misspelt(text: str | None, known: Iterable[str]) -> str | None:
    """Return the name that text is almost, and is not."""
    names = {*known}
    near = difflib.get_close_matches(text or "", names, 1, 0.85) if text not in names else []
    return near[0] if near else None


def event_types(source: Resource) -> set[str]:
    """Return the types of events that a rule waits for, as far as they are known."""
    return {kind for kind in source["EventPattern"]["detail-type"].texts if kind is not None}


def is_about_blocks(source: Resource, *, word: str = "") -> bool:
    """Return whether a rule waits for events about Capacity Blocks, with a word in their name if one is given."""
    kinds = event_types(source)
    named = any("Capacity Block" in kind and word in kind for kind in kinds)
    return named or INSTANCE_INTERRUPTION_WARNING_EVENT in kinds


def waits_for_aws(source: Resource) -> bool:
    """Return whether a rule waits for a known event of AWS."""
    return not event_types(source).isdisjoint(_SENDERS) or is_about_blocks(source)


@rule(EVENTS, EVENT_RULE)
def patterns_match_events(source: Resource) -> Iterator[Wrong]:
    """Find patterns of events that no service sends: of another source, type, state or subject."""
    pattern = source["EventPattern"]
    kinds, senders, detail = pattern["detail-type"], pattern["source"].texts, pattern["detail"]
    for kind in kinds.items:
        sender, near = _SENDERS.get(kind.text or ""), misspelt(kind.text, _SENDERS)
        if "Capacity Block" in (kind.text or "") and kind.text not in _SENDERS:
            yield kind, f"got {quote(kind.text)}, which EC2 does not send", ", ".join(sorted(_BLOCK_EVENTS))
        elif near:
            yield kind, f"got {quote(kind.text)}, which no service sends", near
        elif sender and senders and None not in senders and sender not in senders:
            got = f"got {', '.join(map(str, senders))}, and {quote(kind.text)} is of {sender}"
            yield pattern["source"], got, sender
        place, states = _STATES.get(kind.text or "", ("", set()))
        for state in detail.places(f"{place}.*") if states and len(kinds.items) == 1 else ():
            if state.text is not None and state.text not in states:
                yield state, f"got {quote(state.text)}, which no event has", ", ".join(sorted(states))
    keys = {key for kind in kinds.texts for key in _keys(kind)} if all(map(_keys, kinds.texts)) else set()
    for key in detail.members if keys else ():
        if str(key.path[-1]) not in keys and not str(key.path[-1]).startswith("$"):
            got = f"the events have no {quote(str(key.path[-1]))}, so that none of them matches"
            yield key, got, ", ".join(sorted(keys))
    yield from _about_nothing(detail)


@rule(EVENTS, EVENT_RULE)
def events_reach_their_bus(source: Resource) -> Iterator[Wrong]:
    """Find rules for events of AWS on another bus or of another Region."""
    bus, regions = source["EventBusName"], source["EventPattern"]["region"]
    custom = bus.target is not None or bus.text not in {None, "default"}
    if custom and (waits_for_aws(source) or not source["ScheduleExpression"].missing):
        code = EVENTS if source["ScheduleExpression"].missing and not is_about_blocks(source) else IN_TIME
        got = f"got {bus.pattern}; events of AWS services and schedules are on the default bus only"
        yield Problem.of(bus, code, got, "default")
    if source.region and regions.items and not {source.region, None} & {*regions.texts}:
        yield regions, f"got {regions.texts[0]}, and the stack is in {source.region}", source.region


def _keys(kind: str | None) -> list[str]:
    return _EVENTS.get(_SENDERS.get(kind or "", ""), {}).get(kind or "", "").split()


def _about_nothing(detail: Property) -> Iterator[Wrong]:
    """Find subjects of events of another kind than the key names, or that none of the templates has."""
    for key, (kind, name) in _SUBJECTS.items():
        known = list(detail.resource.template.templates.of_type(kind))
        names = [each[name] for each in known]
        fixed = tuple(each.text for each in names if each.text)
        by_name = known and not any(each.unknown for each in names)
        for subject in detail[key].items:
            by_arn = key.endswith("Arn") or kind == QUEUE
            if subject.target is not None and subject.target.type != kind:
                yield subject, f"got {subject.pattern}, and the events have that of {kind}", kind
            elif subject.text is not None and by_arn and not subject.text.startswith("arn:"):
                yield subject, f"got {subject.pattern}, and the events have an ARN", f"the ARN of {kind}"
            elif by_name and subject.text and not subject.text.endswith(fixed):
                got = f"got {quote(subject.text)}, which none of these templates has"
                yield subject, got, ", ".join(each.logical_id for each in known[:3])
    for bucket in detail["bucket"]["name"].items:
        if bucket.target is None:
            continue
        sends = bucket.target["NotificationConfiguration"]["EventBridgeConfiguration"]
        if sends.missing or sends["EventBridgeEnabled"].flag is False:
            yield sends, f"{bucket.pattern} sends no events to EventBridge", "EventBridgeConfiguration"


@rule(EVENTS, triggers)
def details_have_what_is_read(trigger: Trigger) -> Iterator[Wrong]:
    """Find functions, state machines and inputs that read a key which the detail of the event does not have."""
    target, worker = trigger.target, trigger.worker
    sources = [each.source for each in triggers(worker.template.templates) if each.worker is worker]
    known = [{key for kind in event_types(source) for key in _keys(kind)} for source in sources]
    paths = target["InputTransformer"]["InputPathsMap"]
    replaced = not all(target[name].missing for name in ("Input", "InputPath", "InputTransformer"))
    event = _keys_of_input(target["Input"]) if replaced else _ENVELOPE
    for key in sorted(event_keys_of(worker) - event) if event and worker.type == FUNCTION else ():
        got = f"{worker.logical_id} reads {key}, which the event does not have: every invocation fails"
        yield (target["Input"] if replaced else worker.properties), got, ", ".join(sorted(event))
    read = [(at, key) for at in (target["InputPath"], *paths.members) for key in _READ.findall(at.pattern)]
    if not replaced:
        in_definition = {*_READ.findall(str(worker.properties.value))}
        keys_read = detail_keys_of(worker) if worker.type == FUNCTION else in_definition
        read = [(worker.properties, key) for key in sorted(keys_read)]
    for at, key in read if known and all(known) else ():
        if not any(key in keys for keys in known):
            got = f"{worker.logical_id} reads {key}, which the detail of the event does not have"
            yield at, got, ", ".join(sorted({*known[0]}))


def _keys_of_input(at: Property) -> set[str]:
    """Return the keys of an input that replaces an event; empty if they are not known."""
    try:
        return {*json.loads(at.text or "")}
    except (ValueError, TypeError):
        return set()


@rule(EVENTS)
def warnings_of_blocks_arrive(templates: Templates) -> Iterator[Wrong]:
    """Find rules about Capacity Blocks that match no warning, or none about the block of the nodes."""
    about = [each for each in templates.of_type(EVENT_RULE) if is_about_blocks(each)]
    warnings = {*BLOCK_EXPIRATION_WARNING_EVENTS}
    for source in about:
        pattern, kinds = source["EventPattern"], source["EventPattern"]["detail-type"]
        warned = event_types(source) & {*warnings, INSTANCE_INTERRUPTION_WARNING_EVENT}
        unknown = any("Capacity Block" in (kind or "") and kind not in _SENDERS for kind in kinds.texts)
        elsewhere = any(event_types(each) & warnings for each in about if each is not source)
        if warned == {BLOCK_EXPIRATION_WARNING_EVENTS[1]}:
            got = f"only {quote(BLOCK_EXPIRATION_WARNING_EVENTS[1])}, an older name of the event"
            yield kinds, got, " and ".join(BLOCK_EXPIRATION_WARNING_EVENTS)
        if not warned and not unknown and not elsewhere and None not in kinds.texts:
            got = "the warning before the end is not among the events"
            yield kinds, got, " and ".join(BLOCK_EXPIRATION_WARNING_EVENTS)
        nodes = [each for each in nodes_of(templates) if each.may_be_in_block]
        blocks = [each.target["CapacityReservationId"].value for each in nodes]
        named, accounts = pattern["detail"]["capacity-reservation-id"], pattern["account"]
        known = named.items and all(isinstance(each.value, str | Reference) for each in named.items)
        if blocks and known and all(differ(block, each.value) for each in named.items for block in blocks):
            got = f"got {named.items[0].pattern}, and nodes are launched into {blocks[0]}"
            yield named, got, str(blocks[0])
        if accounts.items and all(accounts.texts):
            yield accounts, f"events of {accounts.texts[0]} only", "no account"


@rule(EVENTS, EVENT_RULE)
def events_of_blocks_are_about_reservations(source: Resource) -> Iterator[Wrong]:
    """Find rules for events of Capacity Blocks that ask for a resource of another kind.

    Amazon EC2 user guide, monitor Capacity Blocks using EventBridge (2026-11): the resource is the reservation.
    """
    named = source["EventPattern"]["resources"].items if is_about_blocks(source) else []
    for at in (part for each in named for part in (each, *each.members)):
        kind = re.search(r":(?!capacity-reservation/)([a-z-]+)/", at.pattern)
        if kind:
            yield at, f"got {at.pattern}, a resource of kind {kind[1]}", "the ARN of the reservation"


@rule(EVENTS)
def blocks_are_not_interrupted(templates: Templates) -> Iterator[Wrong]:
    """Find rules for interruptions of Spot nodes where all nodes are in Capacity Blocks, which have none."""
    nodes = nodes_of(templates)
    for source in templates.of_type(EVENT_RULE) if nodes and all(each.in_block for each in nodes) else ():
        at = source["EventPattern"]["detail-type"]
        if at.texts == ["EC2 Spot Instance Interruption Warning"]:
            got = "all nodes are in a Capacity Block, about whose end EC2 sends another event"
            yield at, got, "Capacity Block Reservation Expiration Warning"


@rule(VARIABLES, EVENT_RULE)
def templates_have_their_variables(source: Resource) -> Iterator[Wrong]:
    """Find texts to targets with a variable that no path defines, which EventBridge refuses."""
    for target in source["Targets"].items:
        paths, text = target["InputTransformer"]["InputPathsMap"], target["InputTransformer"]["InputTemplate"]
        for name in dict.fromkeys(_PLACEHOLDER.findall(text.pattern)):
            if paths[name].missing and not name.startswith("aws.events."):
                got = f"<{name}> is not in InputPathsMap, and EventBridge refuses the target"
                yield text, got, ", ".join(str(each.path[-1]) for each in paths.members) or name
