"""The end of a Capacity Block: something ends its jobs in time, is switched on, permitted, and aimed at its queue."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_DELIVERED_EVENTS,
    BLOCK_EXPIRATION_WARNING_EVENTS,
    INSTANCE_INTERRUPTION_WARNING_EVENT,
)
from ultracluster_checks.joined.nodes import QUEUE, differ, environments_of, known_blocks, nodes_of
from ultracluster_checks.joined.permissions import may, role_of
from ultracluster_checks.machines import COMPUTE_ENVIRONMENT
from ultracluster_checks.problem import Problem
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_checks.values import Reference, Text
from ultracluster_rules.findings import quote

FUNCTION: Final = "AWS::Lambda::Function"
_RULE: Final = "AWS::Events::Rule"
_SCHEDULE: Final = "AWS::Scheduler::Schedule"
_PERMISSION: Final = "AWS::Lambda::Permission"
_TERMINATE: Final = "batch:TerminateJob"
_ENDING: Final = (
    _TERMINATE,
    "autoscaling:SetDesiredCapacity",
    "autoscaling:UpdateAutoScalingGroup",
    "ec2:TerminateInstances",
)
_CLOSING: Final = (*_ENDING, "batch:UpdateJobQueue", "batch:UpdateComputeEnvironment", "batch:CancelJob")
_STATES: Final = {QUEUE: "batch:UpdateJobQueue", COMPUTE_ENVIRONMENT: "batch:UpdateComputeEnvironment"}
_EVENTS: Final = frozenset((*BLOCK_DELIVERED_EVENTS, *BLOCK_EXPIRATION_WARNING_EVENTS))
_DETAIL: Final = {"capacity-reservation-id", "end-date"}
_RESERVATION_ID: Final = re.compile(r"cr-[0-9a-f]{8,17}")
_RATE: Final = re.compile(r"rate\((\d{1,6}) (minute|hour|day)s?\)")
_CRON: Final = re.compile(r"cron\((\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\)")
_MINUTES: Final = {"minute": 1, "hour": 60, "day": 1440}
_UNWATCHED: Final = "got DISABLED, so that nothing watches the jobs of the queue"
_LONGEST_WAIT: Final = 10
"""Minutes between the warning of EC2, 40 before the end, and the termination of instances, 30 before it."""

_SHORTEST_TIMEOUT: Final = 30
"""Seconds in which a few dozen calls of AWS's APIs are answered; Lambda's default of 3 is one call."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """What wakes up a function.

    Attributes:
        source: A rule of EventBridge or a schedule.
        target: Its target.
        function: The function.
    """

    source: Resource
    target: Property
    function: Resource

    @property
    def pattern(self) -> Property:
        """Pattern of events."""
        return self.source["EventPattern"]

    @property
    def is_about_blocks(self) -> bool:
        """Whether it waits for events about Capacity Blocks."""
        return _is_about_blocks(self.pattern)


def _is_about_blocks(pattern: Property) -> bool:
    kinds = [each.text or "" for each in pattern["detail-type"].items]
    return any(
        each.startswith("Capacity Block") or each == INSTANCE_INTERRUPTION_WARNING_EVENT for each in kinds
    )


@lru_cache(maxsize=1)
def triggers(templates: Templates) -> tuple[Trigger, ...]:
    """Return what wakes up the functions of templates."""
    found = []
    for source in templates.of_type(_RULE, _SCHEDULE):
        targets = source["Targets"].items if source.type == _RULE else [source["Target"]]
        for target in targets:
            function = _function(target["Arn"])
            if function is not None:
                found.append(Trigger(source, target, function))
    return tuple(found)


def _function(at: Property) -> Resource | None:
    found = at.target
    if found is not None and found.type in {"AWS::Lambda::Alias", "AWS::Lambda::Version"}:
        found = found["FunctionName"].target
    return found if found is not None and found.type == FUNCTION else None


@lru_cache(maxsize=1)
def life_cycles(templates: Templates) -> dict[Resource, list[Trigger]]:
    """Return the functions that close queues or end jobs of a Capacity Block, each with what wakes it up."""
    blocks = known_blocks(templates)
    found: dict[Resource, list[Trigger]] = {}
    for function in templates.of_type(FUNCTION):
        own = [each for each in triggers(templates) if each.function is function]
        named = [each.value for each in function["Environment"]["Variables"].members]
        role = role_of(function["Role"])
        warned = any(each.is_about_blocks for each in own)
        about = any(_names(value, blocks) for value in named)
        acts = role is not None and any(may(role, action) for action in _CLOSING)
        knows = any(target.type in {QUEUE, COMPUTE_ENVIRONMENT} for target in function["Environment"].targets)
        ends = role is not None and bool(blocks) and _ends_jobs(role)
        if (warned and (acts or knows)) or (about and acts) or (ends and knows):
            found[function] = own
    return found


def _names(value: Any, blocks: tuple[Any, ...]) -> bool:
    return value in blocks or (isinstance(value, Text) and any(part in blocks for part in value.parts))


def _ends_jobs(role: Resource) -> bool:
    return role["ManagedPolicyArns"].missing and may(role, "batch:TerminateJob")


def block_jobs_are_ended(templates: Templates) -> Iterator[Problem]:
    """Find queues over a Capacity Block whose jobs nothing in the templates ends."""
    acting = [*life_cycles(templates), *templates.of_type("AWS::StepFunctions::StateMachine")]
    schedules = [each for each in templates.of_type(_SCHEDULE) if "batch" in each["Target"]["Arn"].pattern]
    blocks = {nodes.owner for nodes in nodes_of(templates) if nodes.in_batch and nodes.in_block}
    jobs = list(templates.of_type("AWS::Batch::JobDefinition"))
    bounded = all(not job["Timeout"].missing for job in jobs)  # also without any: what runs is not known here
    for queue in () if acting or schedules or bounded else templates.of_type(QUEUE):
        if set(environments_of(queue) or ()) & blocks:
            yield Problem.of(
                queue.properties,
                "UC6430",
                "jobs run on nodes of a Capacity Block, and nothing ends them before EC2 does, 30 minutes before the end of the block",
                "a function on a schedule, or one that EC2's warning wakes up, which may end jobs",
            )


def life_cycles_wake_up(templates: Templates) -> Iterator[Problem]:
    """Find rules of a life cycle that are disabled, too slow or wait for what never comes."""
    for function, own in life_cycles(templates).items():
        if not own and not _has_other_sources(function):
            yield Problem.of(
                function.properties,
                "UC6431",
                "no rule and no schedule wakes the function up, and the jobs of the block are not ended",
                f"a rule that targets it at least every {_LONGEST_WAIT} minutes",
            )
        for trigger in own:
            yield from _asleep(trigger.source, templates)
            places = (trigger.target["Input"], trigger.target["InputPath"])
            hidden = next((each for each in places if not each.missing), None)
            if trigger.is_about_blocks and hidden is not None:
                yield Problem.of(
                    hidden, "UC6432", "the function gets this instead of EC2's event", "the whole event"
                )
            minutes = _period(trigger.source["ScheduleExpression"].text)
            if minutes is not None and minutes > _LONGEST_WAIT:
                yield Problem.of(
                    trigger.source["ScheduleExpression"],
                    "UC6431",
                    f"got {quote(trigger.source['ScheduleExpression'].text)}, and between EC2's warning and the end of instances are "
                    f"{_LONGEST_WAIT} minutes",
                    f"rate(1 minute) to rate({_LONGEST_WAIT} minutes)",
                )
    for rule in templates.of_type(_RULE):
        if _is_about_blocks(rule["EventPattern"]):
            yield from _asleep(rule, templates)
    for trigger in triggers(templates):
        knows = any(target.type == QUEUE for target in trigger.function["Environment"].targets)
        if knows and trigger.source["State"].text == "DISABLED":
            yield Problem.of(trigger.source["State"], "UC6431", _UNWATCHED, "ENABLED")


def _has_other_sources(function: Resource) -> bool:
    templates = function.template.templates
    kinds = ("AWS::Lambda::EventSourceMapping", "AWS::SNS::Subscription", _PERMISSION, "AWS::Lambda::Url")
    return any(
        function in each.properties.targets
        and each["Principal"].text not in {"events.amazonaws.com", "scheduler.amazonaws.com"}
        for each in templates.of_type(*kinds)
    )


def _asleep(source: Resource, templates: Templates) -> Iterator[Problem]:
    if source["State"].text == "DISABLED":
        yield Problem.of(source["State"], "UC6431", _UNWATCHED, "ENABLED")
    bus = source["EventBusName"]
    if source.type == _RULE and bus.text not in {None, "default"}:
        yield Problem.of(
            bus,
            "UC6431",
            f"got {quote(bus.text)}; events of EC2 and schedules are on the default bus only",
            "default",
        )
    elif bus.target is not None:
        yield Problem.of(
            bus,
            "UC6431",
            f"got {bus.target.logical_id}; events of EC2 and schedules are on the default bus only",
            "default",
        )
    pattern = source["EventPattern"]
    if pattern.missing or not _is_about_blocks(pattern):
        return
    names = [each.text for each in pattern["source"].items]
    if names and None not in names and "aws.ec2" not in names:
        yield Problem.of(pattern["source"], "UC6432", f"got {', '.join(map(str, names))}", "aws.ec2")
    kinds = pattern["detail-type"]
    unknown = [
        each
        for each in kinds.items
        if each.text is not None and each.text.startswith("Capacity Block") and each.text not in _EVENTS
    ]
    for each in unknown:
        yield Problem.of(
            each, "UC6432", f"got {quote(each.text)}, which EC2 does not send", ", ".join(sorted(_EVENTS))
        )
    warned = {each.text for each in kinds.items} & {
        *BLOCK_EXPIRATION_WARNING_EVENTS,
        INSTANCE_INTERRUPTION_WARNING_EVENT,
    }
    elsewhere = any(
        each is not source
        and {kind.text for kind in each["EventPattern"]["detail-type"].items}
        & set(BLOCK_EXPIRATION_WARNING_EVENTS)
        for each in templates.of_type(_RULE)
    )
    if not warned and not unknown and not elsewhere and all(each.text is not None for each in kinds.items):
        yield Problem.of(
            kinds,
            "UC6432",
            "the warning before the end is not among the events",
            " and ".join(BLOCK_EXPIRATION_WARNING_EVENTS),
        )
    yield from _narrowed(pattern, templates)


def _narrowed(pattern: Property, templates: Templates) -> Iterator[Problem]:
    blocks = [
        value
        for nodes in nodes_of(templates)
        for value in (nodes.target["CapacityReservationId"].value,)
        if nodes.in_block
    ]
    named = pattern["detail"]["capacity-reservation-id"]
    others = [each for each in named.items if isinstance(each.value, str | Reference)]
    certain = blocks and others and len(others) == len(named.items)
    if certain and all(differ(block, each.value) for each in others for block in blocks):
        yield Problem.of(
            named,
            "UC6432",
            f"got {others[0].pattern}, and nodes are launched into {blocks[0]}",
            f"{blocks[0]}",
        )
    for key in pattern["detail"].members:
        if key.path[-1] not in _DETAIL | {
            "instance-lifecycle",
            "instance-action",
            "instance-id",
            "availability-zone-id",
        }:
            yield Problem.of(
                key,
                "UC6432",
                f"the events have no {quote(key.path[-1])}, so that none of them matches",
                ", ".join(sorted(_DETAIL)),
            )
    region = pattern["region"].items
    own = pattern.resource.template.region
    if own and region and all(each.text not in {own, None} for each in region):
        yield Problem.of(pattern["region"], "UC6432", f"got {region[0].text}, and the stack is in {own}", own)


def _period(expression: str | None) -> int | None:
    """Return the minutes between two runs; None if unknown."""
    if expression is None:
        return None
    if found := _RATE.fullmatch(expression.strip()):
        return int(found[1]) * _MINUTES[found[2]]
    if found := _CRON.fullmatch(expression.strip()):
        minute = found[1]
        step = re.fullmatch(r"(?:\*|0|0-59)/(\d{1,2})", minute)
        if minute == "*" or step or "," in minute or "-" in minute:
            every = 1 if minute == "*" else int(step[1]) if step else 60 // (minute.count(",") + 1)
            return every if found[2] in {"*", "0-23", "*/1", "0/1"} else 1440
        return 60 if found[2] in {"*", "*/1", "0/1"} else 1440
    return None


def block_events_reach_something(templates: Templates) -> Iterator[Problem]:
    """Find rules about Capacity Blocks without a target."""
    for rule in templates.of_type(_RULE):
        targets = rule["Targets"]
        if _is_about_blocks(rule["EventPattern"]) and (targets.missing or targets.value == []):
            yield Problem.of(
                targets,
                "UC6431",
                "no target, so that EC2's warning reaches nothing",
                "the function that ends jobs",
            )


def life_cycles_have_time(templates: Templates) -> Iterator[Problem]:
    """Find functions of a life cycle that end before they could end jobs."""
    for function in life_cycles(templates):
        at = function["Timeout"]
        if at.missing or (at.number is not None and at.number < _SHORTEST_TIMEOUT):
            got = "no timeout, which is 3 seconds" if at.missing else f"{at.number} seconds"
            yield Problem.of(
                at,
                "UC6433",
                f"got {got}; ending the jobs of a block takes many calls",
                f"{_SHORTEST_TIMEOUT} to 900",
            )


def functions_can_run(templates: Templates) -> Iterator[Problem]:
    """Find functions that may not run at all."""
    for function in templates.of_type(FUNCTION):
        at = function["ReservedConcurrentExecutions"]
        if at.number == 0:
            yield Problem.of(
                at, "UC6433", "got 0, with which Lambda refuses every invocation", "none, or 1 or more"
            )


def life_cycles_may_end_jobs(templates: Templates) -> Iterator[Problem]:
    """Find functions of a life cycle whose role may not find and end jobs."""
    for function in life_cycles(templates):
        role = role_of(function["Role"])
        if role is None:
            continue
        lacking = (
            [] if any(may(role, action, many=action == _TERMINATE) for action in _ENDING) else [_TERMINATE]
        )
        if may(role, "batch:TerminateJob") and not lacking and not may(role, "batch:ListJobs"):
            lacking = ["batch:ListJobs"]
        if (
            may(role, "batch:TerminateJob")
            and not may(role, "ec2:DescribeCapacityReservations")
            and not _knows_end(function)
        ):
            lacking.append("ec2:DescribeCapacityReservations")
        for kind, action in _STATES.items():
            named = [each for each in function["Environment"].targets if each.type == kind]
            if named and not any(may(role, action, each) for each in named):
                lacking.append(f"{action} on {named[0].logical_id}")
        if lacking:
            yield Problem.of(
                function["Role"],
                "UC6434",
                f"{role.logical_id} does not allow {', '.join(lacking)}, and {function.logical_id} cannot end the jobs of the block",
                "what the function does, on the queue of the block",
            )


def _knows_end(function: Resource) -> bool:
    return not any(
        True
        for each in function["Environment"]["Variables"].members
        if _RESERVATION_ID.fullmatch(each.text or "")
    )


def life_cycles_are_aimed_at_their_block(templates: Templates) -> Iterator[Problem]:
    """Find functions of a life cycle that know another queue or reservation than that of the nodes."""
    nodes = [each for each in nodes_of(templates) if each.in_block]
    owners = {each.owner for each in nodes}
    blocks = [each.target["CapacityReservationId"].value for each in nodes]
    for function in life_cycles(templates):
        role = role_of(function["Role"])
        told = {each.type for each in function["Environment"].targets}
        for each in role["Policies"].targets if role is not None else ():
            if each.type in _STATES and each.type not in told:
                yield _astray(
                    function["Environment"],
                    f"no variable with {each.logical_id}, which its role is for",
                    [each.logical_id],
                )
        for at in function["Environment"]["Variables"].members:
            target = at.target
            if target is not None and target.type == COMPUTE_ENVIRONMENT and owners and target not in owners:
                yield _astray(
                    at,
                    f"{target.logical_id}, whose nodes are in no block",
                    sorted(each.logical_id for each in owners),
                )
            if target is not None and target.type == QUEUE and owners:
                behind = environments_of(target)
                if behind is not None and not owners & set(behind):
                    yield _astray(
                        at,
                        f"{target.logical_id}, whose nodes are in no block",
                        _queues_over(templates, owners),
                    )
            if (
                _RESERVATION_ID.fullmatch(at.text or "")
                and blocks
                and all(differ(at.value, each) for each in blocks)
            ):
                yield _astray(at, f"{at.text}, and nodes are launched into {blocks[0]}", [str(blocks[0])])


def _queues_over(templates: Templates, owners: set[Resource]) -> list[str]:
    return [each.logical_id for each in templates.of_type(QUEUE) if owners & set(environments_of(each) or ())]


def _astray(at: Property, problem: str, allowed: list[str]) -> Problem:
    return Problem.of(at, "UC6435", f"got {problem}", " or ".join(allowed))


def functions_may_be_invoked(templates: Templates) -> Iterator[Problem]:
    """Find rules and schedules that may not invoke their function."""
    permissions = list(templates.of_type(_PERMISSION))
    for trigger in triggers(templates):
        if trigger.source.type == _SCHEDULE or not trigger.target["RoleArn"].missing:
            role = role_of(trigger.target["RoleArn"])
            if role is not None and not may(role, "lambda:InvokeFunction", trigger.function):
                yield Problem.of(
                    trigger.target["RoleArn"],
                    "UC6436",
                    f"{role.logical_id} does not allow lambda:InvokeFunction on {trigger.function.logical_id}",
                    "lambda:InvokeFunction on it",
                )
        elif not any(_lets(each, trigger) for each in permissions):
            yield Problem.of(
                trigger.target["Arn"],
                "UC6436",
                f"no permission lets {trigger.source.logical_id} invoke {trigger.function.logical_id}: the function never runs, and no "
                "deployment fails",
                "AWS::Lambda::Permission for events.amazonaws.com, with the rule as SourceArn",
            )


def _lets(permission: Resource, trigger: Trigger) -> bool:
    function, source = permission["FunctionName"], permission["SourceArn"]
    named = function.targets
    if named and trigger.function not in named and trigger.target["Arn"].target not in named:
        return False
    if not named and differ(
        function.text or "?", trigger.function["FunctionName"].text or function.text or "?"
    ):
        return False
    if permission["Principal"].text not in {"events.amazonaws.com", "*", None}:
        return False
    if permission["Action"].text not in {"lambda:InvokeFunction", "lambda:*", "*", None}:
        return False
    return source.missing or not source.targets or trigger.source in source.targets


def closed_queues_are_opened(templates: Templates) -> Iterator[Problem]:
    """Find disabled queues and environments that nothing in the templates may enable."""
    roles = [role_of(each["Role"]) for each in templates.of_type(FUNCTION)]
    for kind, action in _STATES.items():
        for resource in templates.of_type(kind):
            if resource["State"].text == "DISABLED" and not any(
                role is None or may(role, action, resource) for role in roles
            ):
                yield Problem.of(
                    resource["State"],
                    "UC6437",
                    "got DISABLED, and nothing here may enable it: no job starts",
                    "ENABLED",
                )


def alarms_notify(templates: Templates) -> Iterator[Problem]:
    """Find alarms without an action, or with actions that are switched off."""
    composites = list(templates.of_type("AWS::CloudWatch::CompositeAlarm"))
    heard = {target for each in composites for target in each["AlarmRule"].targets}
    named = any(not each["AlarmRule"].targets for each in composites)  # by a name that is not known here
    for alarm in (*templates.of_type("AWS::CloudWatch::Alarm"), *composites):
        actions = [alarm[name] for name in ("AlarmActions", "OKActions", "InsufficientDataActions")]
        if alarm["ActionsEnabled"].flag is False and any(each.items for each in actions):
            yield Problem.of(
                alarm["ActionsEnabled"], "UC6429", "got false, so that the alarm notifies nothing", "true"
            )
        silent = all(each.missing or each.value == [] for each in actions)
        if silent and alarm not in {*heard, *composites} and not named:
            yield Problem.of(
                actions[0],
                "UC6429",
                "no action, so that the alarm notifies nothing",
                "a topic or another action",
            )
