"""The end of a Capacity Block: a function must end its jobs in time, be enabled and permitted, and manage its queue."""

import json
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
from ultracluster_checks.joined.permissions import fixed_arn, may, role_of, statements_of
from ultracluster_checks.machines import COMPUTE_ENVIRONMENT
from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import DRAIN_IN_TIME, DRAIN_IS_ALLOWED, FUNCTION_IS_ALLOWED
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_checks.values import Reference, Text, Unknown
from ultracluster_rules.findings import quote

FUNCTION: Final = "AWS::Lambda::Function"
MACHINE: Final = "AWS::StepFunctions::StateMachine"
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
_CALLED: Final = (
    "batch:CancelJob",
    "batch:DescribeJobQueues",
    "batch:DescribeJobs",
    "batch:ListJobs",
    "batch:TerminateJob",
    "batch:UpdateComputeEnvironment",
    "batch:UpdateJobQueue",
    "ec2:DescribeCapacityReservations",
    "ec2:TerminateInstances",
)
_CLOSING: Final = (*_ENDING, "batch:UpdateJobQueue", "batch:UpdateComputeEnvironment", "batch:CancelJob")
_STATES: Final = {QUEUE: "batch:UpdateJobQueue", COMPUTE_ENVIRONMENT: "batch:UpdateComputeEnvironment"}
_EVENTS: Final = frozenset((*BLOCK_DELIVERED_EVENTS, *BLOCK_EXPIRATION_WARNING_EVENTS))
_DETAIL: Final = {"capacity-reservation-id", "end-date"}
_OF_INSTANCE: Final = {
    "instance-lifecycle",
    "instance-action",
    "instance-id",
    "instance-termination-time",
    "availability-zone-id",
}
_RESERVATION_ID: Final = re.compile(r"cr-[0-9a-f]{8,17}")
_OF_RESERVATION: Final = ("ec2:DescribeCapacityReservations",)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?")
# https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html (2026-11)
_RETIRED: Final = {
    "python2.7",
    "python3.6",
    "python3.7",
    "python3.8",
    "nodejs12.x",
    "nodejs14.x",
    "nodejs16.x",
    "nodejs18.x",
    "go1.x",
    "ruby2.7",
    "java8",
    "dotnet6",
}
_WATCHED: Final = {"FunctionName": (FUNCTION, "FunctionName"), "QueueName": ("AWS::SQS::Queue", "QueueName")}
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
    """A trigger of a function."""

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
    """Return the triggers of the functions of templates."""
    found = []
    for source in templates.of_type(_RULE, _SCHEDULE):
        targets = source["Targets"].items if source.type == _RULE else [source["Target"]]
        for target in targets:
            function = _function(target["Arn"])
            if function is not None:
                found.append(Trigger(source, target, function))
    return tuple(found)


def role_at(worker: Resource) -> Property:
    """Return the role of a function or state machine."""
    return worker["Role" if worker.type == FUNCTION else "RoleArn"]


def told(worker: Resource) -> Property:
    """Return what a function or state machine is told: its environment, or its definition."""
    return worker["Environment"] if worker.type == FUNCTION else worker.properties


def calls(worker: Resource) -> set[str] | None:
    """Return the actions of AWS that inline code or a definition calls; None if they are not known here."""
    if worker.type == FUNCTION:
        code = worker["Code"]["ZipFile"].text
        if code is None or "boto3" not in code:
            return None
        names = {
            each.replace("_", "").lower() for each in re.findall(r"[.\"']([a-z]+(?:_[a-z]+)+)[\"'(]", code)
        }
        return {action for action in _CALLED if action.partition(":")[2].lower() in names}
    text = json.dumps(worker.properties.value, default=str)
    found = {
        f"{service}:{name[0].upper()}{name[1:]}" for service, name in re.findall(r"aws-sdk:(\w+):(\w+)", text)
    }
    return found or None


def _function(at: Property) -> Resource | None:
    found = at.target
    if found is not None and found.type in {"AWS::Lambda::Alias", "AWS::Lambda::Version"}:
        found = found["FunctionName"].target
    return found if found is not None and found.type in {FUNCTION, MACHINE} else None


@lru_cache(maxsize=1)
def life_cycles(templates: Templates) -> dict[Resource, list[Trigger]]:
    """Return the functions that close queues or end jobs of a Capacity Block, each with its triggers."""
    blocks = known_blocks(templates)
    found: dict[Resource, list[Trigger]] = {}
    for function in templates.of_type(FUNCTION, MACHINE):
        own = [each for each in triggers(templates) if each.function is function]
        named = [each.value for each in told(function)["Variables"].members]
        role = role_of(role_at(function))
        warned = any(each.is_about_blocks for each in own)
        about = any(_names(value, blocks) for value in named)
        acts = role is not None and any(may(role, action) for action in _CLOSING)
        knows = any(target.type in {QUEUE, COMPUTE_ENVIRONMENT} for target in told(function).targets)
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
    acting = [*life_cycles(templates), *templates.of_type(MACHINE)]
    schedules = [each for each in templates.of_type(_SCHEDULE) if "batch" in each["Target"]["Arn"].pattern]
    blocks = {nodes.owner for nodes in nodes_of(templates) if nodes.in_batch and nodes.in_block}
    jobs = list(templates.of_type("AWS::Batch::JobDefinition"))
    bounded = all(
        not job["Timeout"].missing for job in jobs
    )  # also without any handler: its code is unknown here
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
    targets = [rule["Targets"] for rule in templates.of_type(_RULE)]
    arns = [each["Arn"] for at in targets for each in at.items]
    unknown = any(isinstance(each.value, Unknown) for each in (*targets, *arns))
    for function, own in life_cycles(templates).items():
        if not own and not unknown and not _has_other_sources(function):
            yield Problem.of(
                function.properties,
                DRAIN_IN_TIME,
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
                    DRAIN_IN_TIME,
                    f"got {quote(trigger.source['ScheduleExpression'].text)}, and between EC2's warning and the end of instances are "
                    f"{_LONGEST_WAIT} minutes",
                    f"rate(1 minute) to rate({_LONGEST_WAIT} minutes)",
                )
    for rule in templates.of_type(_RULE):
        if _is_about_blocks(rule["EventPattern"]):
            yield from _asleep(rule, templates)
    for trigger in triggers(templates):
        knows = any(target.type == QUEUE for target in told(trigger.function).targets)
        if knows and trigger.source["State"].text == "DISABLED":
            yield Problem.of(trigger.source["State"], DRAIN_IN_TIME, _UNWATCHED, "ENABLED")


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
        yield Problem.of(source["State"], DRAIN_IN_TIME, _UNWATCHED, "ENABLED")
    bus = source["EventBusName"]
    if source.type == _RULE and bus.text not in {None, "default"}:
        yield Problem.of(
            bus,
            DRAIN_IN_TIME,
            f"got {quote(bus.text)}; events of EC2 and schedules are on the default bus only",
            "default",
        )
    elif bus.target is not None:
        yield Problem.of(
            bus,
            DRAIN_IN_TIME,
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
    if warned == {BLOCK_EXPIRATION_WARNING_EVENTS[1]}:
        yield Problem.of(
            kinds,
            "UC6432",
            f"only {quote(warned.copy().pop())}, an older name of the event",
            " and ".join(BLOCK_EXPIRATION_WARNING_EVENTS),
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
        if nodes.may_be_in_block
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
    kinds = {each.text for each in pattern["detail-type"].items}
    known = _DETAIL if INSTANCE_INTERRUPTION_WARNING_EVENT not in kinds else _DETAIL | _OF_INSTANCE
    for key in pattern["detail"].members:
        if key.path[-1] not in known:
            yield Problem.of(
                key,
                "UC6432",
                f"the events have no {quote(key.path[-1])}, so that none of them matches",
                ", ".join(sorted(_DETAIL)),
            )
    if pattern["account"].items and all(each.text for each in pattern["account"].items):
        yield Problem.of(
            pattern["account"], "UC6432", f"events of {pattern['account'].items[0].text} only", "no account"
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
        if not {found[3], found[4], found[5], found[6]} <= {"*", "?"}:
            return 1440
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
                DRAIN_IN_TIME,
                "no target, so that EC2's warning reaches nothing",
                "the function that ends jobs",
            )


def life_cycles_have_time(templates: Templates) -> Iterator[Problem]:
    """Find functions of a life cycle that end before they could end jobs."""
    for function in life_cycles(templates):
        if function.type != FUNCTION:
            continue
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
    """Find functions and state machines of a life cycle that do not end jobs, or whose role does not allow it."""
    for function in life_cycles(templates):
        role, called = role_of(role_at(function)), calls(function)
        if called is not None and not called & {*_ENDING}:
            yield Problem.of(
                function.properties,
                DRAIN_IS_ALLOWED,
                f"{function.logical_id} ends no job: it calls {', '.join(sorted(called)) or 'nothing'}",
                _TERMINATE,
            )
        if role is None:
            continue
        lacking = (
            [] if any(may(role, action, many=action == _TERMINATE) for action in _ENDING) else [_TERMINATE]
        )
        needed = {"batch:ListJobs", *_OF_RESERVATION} if called is None else called - {*_ENDING}
        if _knows_end(function) and called is None:
            needed -= {*_OF_RESERVATION}
        if may(role, _TERMINATE) or called is not None:
            lacking += [action for action in sorted(needed) if not may(role, action)]
        for kind, action in _STATES.items():
            named = [each for each in told(function).targets if each.type == kind]
            used = called is None or action in called
            if (
                named
                and used
                and action not in lacking
                and not any(may(role, action, each) for each in named)
            ):
                lacking.append(f"{action} on {named[0].logical_id}")
        if lacking:
            yield Problem.of(
                role_at(function),
                DRAIN_IS_ALLOWED,
                f"{role.logical_id} does not allow {', '.join(lacking)}, and {function.logical_id} cannot end the jobs of the block",
                "what the function does, on the queue of the block",
            )


def _knows_end(function: Resource) -> bool:
    variables = told(function)["Variables"].members
    timed = any(_TIME.search(each.text or "") for each in variables)
    return timed or not any(_RESERVATION_ID.fullmatch(each.text or "") for each in variables)


def life_cycles_are_aimed_at_their_block(templates: Templates) -> Iterator[Problem]:
    """Find functions and state machines of a life cycle that know another queue or reservation than that of the nodes."""
    nodes = [each for each in nodes_of(templates) if each.may_be_in_block]
    owners = {each.owner for each in nodes}
    blocks = [each.target["CapacityReservationId"].value for each in nodes]
    for function in life_cycles(templates):
        role = role_of(role_at(function))
        kinds = {each.type for each in told(function).targets}
        meant = [
            target
            for each in (statements_of(role) if role is not None else ())
            for target in each["Resource"].targets
        ]
        for target in dict.fromkeys(meant):
            if target.type in _STATES and target.type not in kinds and _is_told(function):
                yield _astray(
                    told(function),
                    f"nothing that names {target.logical_id}, which its role is for",
                    [target.logical_id],
                )
        for target in told(function).targets if owners else ():
            behind = (
                {target} if target.type == COMPUTE_ENVIRONMENT else set(environments_of(target) or owners)
            )
            if target.type in _STATES and not owners & behind:
                yield _astray(
                    told(function),
                    f"{target.logical_id}, whose nodes are in no block",
                    _queues_over(templates, owners),
                )
        for at in told(function)["Variables"].members:
            other = (
                _RESERVATION_ID.fullmatch(at.text or "")
                and blocks
                and all(differ(at.value, each) for each in blocks)
            )
            if other:
                yield _astray(at, f"{at.text}, and nodes are launched into {blocks[0]}", [str(blocks[0])])


def _is_told(function: Resource) -> bool:
    """Whether everything that the environment tells a function is known."""
    variables = told(function)["Variables"]
    if function.type == MACHINE:
        return calls(function) is not None
    return bool(variables.members) and not any(isinstance(each.value, Unknown) for each in variables.members)


def _queues_over(templates: Templates, owners: set[Resource]) -> list[str]:
    return [each.logical_id for each in templates.of_type(QUEUE) if owners & set(environments_of(each) or ())]


def _astray(at: Property, problem: str, allowed: list[str]) -> Problem:
    return Problem.of(at, "UC6435", f"got {problem}", " or ".join(allowed))


def functions_may_be_invoked(templates: Templates) -> Iterator[Problem]:
    """Find rules and schedules that may not invoke their function."""
    permissions = list(templates.of_type(_PERMISSION))
    for trigger in triggers(templates):
        machine = trigger.function.type == MACHINE
        action = "states:StartExecution" if machine else "lambda:InvokeFunction"
        if machine and trigger.target["RoleArn"].missing:
            yield Problem.of(
                trigger.target["RoleArn"],
                "UC6436",
                "no role, which EventBridge needs to start a state machine",
                f"a role that allows {action}",
            )
        elif trigger.source.type == _SCHEDULE or not trigger.target["RoleArn"].missing:
            role = role_of(trigger.target["RoleArn"])
            if role is not None and not may(role, action, trigger.function):
                yield Problem.of(
                    trigger.target["RoleArn"],
                    "UC6436",
                    f"{role.logical_id} does not allow {action} on {trigger.function.logical_id}",
                    f"{action} on it",
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
    arn, name = fixed_arn(source), trigger.source["Name"].text
    if arn is not None and not source.targets and not source.missing:
        resource = arn.rpartition(":")[2]  # without a name of its own, no fixed ARN is that of the rule
        return "*" in resource or (name is not None and resource.endswith(f"/{name}"))
    return source.missing or not source.targets or trigger.source in source.targets


def closed_queues_are_opened(templates: Templates) -> Iterator[Problem]:
    """Find disabled queues and environments that nothing in the templates may enable."""
    opening = [
        each
        for each in templates.of_type(FUNCTION)
        if "ENABLED" in (each["Code"]["ZipFile"].text or "ENABLED")
    ]
    roles = [role_of(each["Role"]) for each in opening]
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
    named = any(not each["AlarmRule"].targets for each in composites)  # the name is unknown here
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


def functions_can_be_made(templates: Templates) -> Iterator[Problem]:
    """Find functions that Lambda refuses, or that end with an error at every start."""
    for function in templates.of_type(FUNCTION):
        handler, runtime, role = function["Handler"], function["Runtime"], role_of(function["Role"])
        inline = function["Code"]["ZipFile"].text is not None
        if inline and handler.text is not None and not handler.text.startswith("index."):
            yield Problem.of(
                handler,
                "UC6433",
                f"got {quote(handler.text)}; inline code is the module index",
                "index.handler",
            )
        if runtime.text in _RETIRED:
            yield Problem.of(
                runtime, "UC6433", f"got {runtime.text}, of which Lambda creates no functions", "python3.13"
            )
        subnets = function["VpcConfig"]["SubnetIds"]
        if subnets.items and role is not None and not may(role, "ec2:CreateNetworkInterface"):
            yield Problem.of(
                subnets,
                DRAIN_IS_ALLOWED,
                f"{role.logical_id} does not allow ec2:CreateNetworkInterface",
                "AWSLambdaVPCAccessExecutionRole",
            )


def failures_are_kept(templates: Templates) -> Iterator[Problem]:
    """Find dead-letter queues and destinations that a function or schedule may not send to."""
    places = [
        (each, role_of(each["Role"]), each["DeadLetterConfig"]["TargetArn"])
        for each in templates.of_type(FUNCTION)
    ]
    for config in templates.of_type("AWS::Lambda::EventInvokeConfig"):
        function = _function(config["FunctionName"])
        if function is not None and function.type == FUNCTION:
            places.append(
                (function, role_of(function["Role"]), config["DestinationConfig"]["OnFailure"]["Destination"])
            )
    for schedule in templates.of_type(_SCHEDULE):
        target = schedule["Target"]
        places.append((schedule, role_of(target["RoleArn"]), target["DeadLetterConfig"]["Arn"]))
    for sender, role, at in places:
        action = {"AWS::SQS::Queue": "sqs:SendMessage", "AWS::SNS::Topic": "sns:Publish"}.get(
            at.target.type if at.target else ""
        )
        if role is not None and action and not may(role, action, at.target):
            yield Problem.of(
                at,
                FUNCTION_IS_ALLOWED,
                f"{role.logical_id} does not allow {action} on {at.pattern}, so that failures of {sender.logical_id} are lost",
                action,
            )


def alarms_watch_something(templates: Templates) -> Iterator[Problem]:
    """Find alarms on a function or queue by a fixed name that none of the templates has."""
    for alarm in templates.of_type("AWS::CloudWatch::Alarm"):
        for dimension in alarm["Dimensions"].items:
            kind, value = _WATCHED.get(dimension["Name"].text or ""), dimension["Value"]
            if kind is None or value.text is None:
                continue
            known = list(templates.of_type(kind[0]))
            if known and not any(
                value.text in {each[kind[1]].text, None} or isinstance(each[kind[1]].value, Unknown)
                for each in known
            ):
                yield Problem.of(
                    value,
                    "UC6429",
                    f"got {quote(value.text)}, which none of these templates has",
                    ", ".join(each.logical_id for each in known[:3]),
                )
