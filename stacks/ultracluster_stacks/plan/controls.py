"""Rules that stop what switches off the functions of a cluster, their schedules, and the notices to people."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ultracluster_stacks.plan.changes import GOES, REPLACES, ResourceUpdate, Stop, StopKind
from ultracluster_stacks.plan.expressions import canonical, references
from ultracluster_stacks.plan.resource_updates import QUEUE

FUNCTION: Final = "AWS::Lambda::Function"
_TOPIC: Final = "AWS::SNS::Topic"
BLOCK_VARIABLE: Final = "UC_RESERVATION_ID"
"""Variable of functions that serve one Capacity Block."""

# Resources without a purpose of their own, and the properties that name what they serve, the main one first.
_SERVED: Final[Mapping[str, tuple[str, ...]]] = {
    "AWS::CloudWatch::Alarm": ("Dimensions",),
    "AWS::Events::Rule": ("Targets",),
    "AWS::Lambda::Permission": ("FunctionName", "SourceArn"),
    "AWS::SNS::Subscription": ("TopicArn",),
}
_MINUTES: Final = {"minute": 1, "hour": 60, "day": 1440}


def control_stops(update: ResourceUpdate) -> Iterator[Stop]:
    """Stop what would leave jobs of a Capacity Block running into its end, or people uninformed."""
    change, old, new = update.change, update.old, update.new
    kind, goes = change.resource_type, change.action in GOES
    if kind == FUNCTION and goes:
        yield change.stop(
            StopKind.CONTROL, "a function of the cluster is removed: nothing takes over its work"
        )
    elif (
        kind == _TOPIC
        and change.action in GOES | REPLACES
        and _is_read(change.logical_id, update.old_resources)
    ):
        reason = "its subscriptions end: people must confirm new ones, and those made by hand are lost"
        yield change.stop(StopKind.CONTROL, reason)
    elif kind in _SERVED and goes:
        for served in _serves(old.get(_SERVED[kind][0])):
            if update.new_resources.get(served, {}).get("Type") in {FUNCTION, _TOPIC}:
                reason = f"{served} remains, and is no longer invoked, watched or read"
                yield change.stop(StopKind.CONTROL, reason)
    elif update.after:
        yield from (
            change.stop(StopKind.CONTROL, f"{served} is no longer invoked, watched or read")
            for name in _SERVED.get(kind, ())
            for served in _serves(old.get(name))
            if new.get(name) is not None
            and served not in _serves(new[name])
            and served in update.new_resources
        )
        rules = [_WEAKENED[kind]] if kind in _WEAKENED else []
        rules += [_drain] if kind == FUNCTION and update.block != "idle" else []
        yield from (change.stop(StopKind.CONTROL, reason) for rule in rules for reason in rule(old, new))


def _serves(value: Any) -> list[str]:
    return list(dict.fromkeys(reference.name for reference in references(value)))


def _is_read(topic: str, resources: Mapping[str, Any]) -> bool:
    return any(
        topic in _serves((resource.get("Properties") or {}).get("TopicArn"))
        for resource in resources.values()
        if resource["Type"] == "AWS::SNS::Subscription"
    )


def _weaker_function(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = (str(properties.get("ReservedConcurrentExecutions")) for properties in (old, new))
    if after == "0" != before:
        yield "without concurrency the function never runs"
    if new.get("VpcConfig") and not old.get("VpcConfig"):
        yield "in a network the function reaches AWS only where that has a way"


def _weaker_rule(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if "DISABLED" in new.get("State", "") and "DISABLED" not in old.get("State", ""):
        yield "the rule is switched off"
    if _period(new) > _period(old):
        yield "the rule runs less often"
    if old.get("Targets") and not new.get("Targets"):
        yield "the rule no longer invokes its target"
    if not _covers(new.get("EventPattern"), old.get("EventPattern")):
        yield "the rule matches fewer events"
    before, after = (set(map(_input, properties.get("Targets") or [])) for properties in (old, new))
    if {arn for arn, _ in before - after} & {arn for arn, _ in after}:
        yield "the rule sends something else to its target"


def _weaker_alarm(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if _tells(old) and not _tells(new):
        yield "the alarm no longer sends notifications"


def _weaker_subscription(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if any(new.get(name) != old.get(name) for name in ("Endpoint", "Protocol")):
        yield "the present subscriber gets no more notices, and the new one must confirm first"
    if new.get("FilterPolicy") and new["FilterPolicy"] != old.get("FilterPolicy"):
        yield "the subscription passes on only a part"


def _weaker_queue(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if old.get("ComputeEnvironmentOrder") and not new.get("ComputeEnvironmentOrder"):
        yield "nothing runs the jobs of the queue"
    if new.get("State") == "DISABLED" != old.get("State"):
        yield "the queue takes no more jobs"


_WEAKENED: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Iterator[str]]]] = {
    "AWS::CloudWatch::Alarm": _weaker_alarm,
    "AWS::CloudWatch::CompositeAlarm": _weaker_alarm,
    "AWS::Events::Rule": _weaker_rule,
    "AWS::SNS::Subscription": _weaker_subscription,
    FUNCTION: _weaker_function,
    QUEUE: _weaker_queue,
}


def _covers(new: Any, old: Any) -> bool:
    """Return whether a pattern of events matches all that another matches; a pattern that is gone matches none."""
    if isinstance(new, Mapping) and isinstance(old, Mapping):
        return all(name in old and _covers(part, old[name]) for name, part in new.items())
    if isinstance(new, list) and isinstance(old, list):
        return all(canonical(item) in canonical(new) for item in old)
    return bool(canonical(new) == canonical(old))


def _input(target: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a target is, and what it is sent."""
    sent = [target.get(name) for name in ("Input", "InputPath", "InputTransformer")]
    return f"{canonical(target.get('Arn'))}", f"{canonical(sent)}"


def _tells(properties: Mapping[str, Any]) -> bool:
    return bool(properties.get("AlarmActions")) and properties.get("ActionsEnabled") is not False


def _period(properties: Mapping[str, Any]) -> float:
    """Return the minutes between two runs of a rule; infinite if unknown."""
    expression = str(properties.get("ScheduleExpression", ""))
    if rate := re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", expression):
        return int(rate[1]) * _MINUTES[rate[2]]
    if cron := re.fullmatch(r"cron\((?:\*|\*/(\d+)|0/(\d+)) \* \* \* \? \*\)", expression):
        return int(cron[1] or cron[2] or 1)
    return float("inf")


def _drain(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield what changes in the function that ends the jobs of a Capacity Block."""
    before, after = (
        (properties.get("Environment") or {}).get("Variables") or {} for properties in (old, new)
    )
    if BLOCK_VARIABLE not in before:
        return
    if _number(new.get("Timeout")) < _number(old.get("Timeout")):
        yield "the function has less time to end jobs"
    for name, value in before.items():
        if canonical(after.get(name)) != canonical(value) and not (
            str(value).isdigit() and str(after.get(name)).isdigit()
        ):
            yield f"{name} changes: the function would leave jobs of the present Capacity Block alone"


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float | str) and str(value).isdigit() else 3
