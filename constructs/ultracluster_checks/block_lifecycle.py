"""Functions that end the jobs of a Capacity Block: woken in time, permitted, and aimed at its queue."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ultracluster_catalog.capacity.capacity_blocks import TERMINATION_BEFORE_END
from ultracluster_checks.codes import IN_TIME
from ultracluster_checks.events import is_about_blocks
from ultracluster_checks.model.nodes import (
    COMPUTE_ENVIRONMENT,
    EVENT_RULE,
    QUEUE,
    RESERVATION_ID,
    differ,
    environments_of,
    has_all_environments,
    known_blocks,
    nodes_of,
)
from ultracluster_checks.model.permissions import fixed_arn, may, role_of, statements_of
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.model.values import Text
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.times import TIME, period_of
from ultracluster_spec.findings import Severity, quote
from ultracluster_spec.record import RuleRecord

_FUNCTION: Final = "AWS::Lambda::Function"
_PERMISSION: Final = "AWS::Lambda::Permission"
_SCHEDULE: Final = "AWS::Scheduler::Schedule"
_TERMINATE: Final = "batch:TerminateJob"
_DESCRIBE: Final = "ec2:DescribeCapacityReservations"
_STATES: Final = {QUEUE: "batch:UpdateJobQueue", COMPUTE_ENVIRONMENT: "batch:UpdateComputeEnvironment"}
_ENDING: Final = {_TERMINATE, "autoscaling:SetDesiredCapacity", "autoscaling:UpdateAutoScalingGroup", "ec2:TerminateInstances"}  # fmt: skip
_CLOSING: Final = {*_ENDING, *_STATES.values(), "batch:CancelJob"}
_LEAD: Final = re.compile(r"(?i)(?!.*checkpoint)(?=.*(?:lead|before)).*?(minute|second)s?.*")
_LONGEST_WAIT: Final = 10
"""Minutes between the warning of EC2, 40 before the end, and the termination of instances, 30 before it."""

_DAY: Final = 86_400  # seconds; the shortest block
_SHORTEST_TIMEOUT: Final = 30
"""Seconds in which a few dozen calls of AWS's APIs are answered; Lambda's default of 3 is one call."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """A rule of EventBridge, with a target of it that is a function."""

    source: Resource
    target: Property
    worker: Resource


@lru_cache(maxsize=1)
def _triggers(templates: Templates) -> tuple[Trigger, ...]:
    """Return the triggers of the functions of templates."""
    return tuple(
        Trigger(source, target, worker)
        for source in templates.of_type(EVENT_RULE)
        for target in source["Targets"].items
        if (worker := _function_at(target["Arn"])) is not None
    )


def _function_at(at: Property) -> Resource | None:
    """Return the function that a property names, also by an alias or version."""
    worker = at.target
    if worker is not None and worker.type in {"AWS::Lambda::Alias", "AWS::Lambda::Version"}:
        worker = worker["FunctionName"].target
    return worker if worker is not None and worker.type == _FUNCTION else None


@lru_cache(maxsize=1)
def life_cycles(templates: Templates) -> dict[Resource, list[Trigger]]:
    """Return the functions that close queues or end jobs of a Capacity Block, each with its triggers."""
    blocks, workers = known_blocks(templates), {}
    for worker in templates.of_type(_FUNCTION):
        own = [each for each in _triggers(templates) if each.worker is worker]
        role, settings = role_of(worker["Role"]), worker["Environment"]
        warned = any(is_about_blocks(each.source, word="Expiration") for each in own)
        about = any(_names(each.value, blocks) for each in settings["Variables"].members)
        acts = role is not None and any(may(role, action) for action in _CLOSING)
        knows = any(target.type in _STATES for target in settings.targets)
        allowed = role is not None and role["ManagedPolicyArns"].missing and may(role, _TERMINATE)
        ends = bool(blocks) and allowed
        if (warned and (acts or knows)) or (about and acts) or (ends and knows):
            workers[worker] = own
    return workers


def _names(value: Any, blocks: tuple[Any, ...]) -> bool:
    return value in blocks or (isinstance(value, Text) and any(part in blocks for part in value.parts))


@rule("UC6430")
def block_jobs_are_ended(templates: Templates) -> Iterator[Wrong]:
    """Find queues of a Capacity Block for which the templates define nothing that ends their jobs."""
    # What a state machine does is not known here.
    acting = life_cycles(templates) or any(templates.of_type("AWS::StepFunctions::StateMachine"))
    scheduled = any("batch" in each["Target"]["Arn"].pattern for each in templates.of_type(_SCHEDULE))
    # Also without any handler, whose code is unknown here.
    limits = [
        job["Timeout"]["AttemptDurationSeconds"] for job in templates.of_type("AWS::Batch::JobDefinition")
    ]
    bounded = all(not each.missing and (each.number or 0) <= _DAY for each in limits)
    blocks = {nodes.owner for nodes in nodes_of(templates) if nodes.in_batch and nodes.in_block}
    for queue in () if acting or scheduled or bounded else templates.of_type(QUEUE):
        if {*(environments_of(queue) or ())} & blocks:
            got = "jobs run on nodes of a Capacity Block, and nothing ends them before EC2 does, 30 minutes before the end of the block"
            allowed = "a function that runs on a schedule or on EC2's warning, and that may end jobs"
            yield queue.properties, got, allowed


@rule(IN_TIME)
def life_cycles_wake_up(templates: Templates) -> Iterator[Wrong]:
    """Find functions of a life cycle that nothing wakes up, or too rarely."""
    targets = [each["Targets"] for each in templates.of_type(EVENT_RULE)]
    unknown = any(at.unknown for some in targets for at in (some, *(each["Arn"] for each in some.items)))
    for worker, own in life_cycles(templates).items():
        if not own and not unknown and not _has_other_sources(worker):
            got = "no rule wakes the function up, and the jobs of the block are not ended"
            yield worker.properties, got, f"a rule that targets it at least every {_LONGEST_WAIT} minutes"
        for source in (trigger.source for trigger in own):
            at = source["ScheduleExpression"]
            if (period_of(source) or 0) > _LONGEST_WAIT:
                got = f"got {quote(at.text)}, and between EC2's warning and the end of instances are {_LONGEST_WAIT} minutes"
                yield at, got, f"rate(1 minute) to rate({_LONGEST_WAIT} minutes)"


def _has_other_sources(worker: Resource) -> bool:
    kinds = (
        _SCHEDULE,
        "AWS::Lambda::EventSourceMapping",
        "AWS::SNS::Subscription",
        _PERMISSION,
        "AWS::Lambda::Url",
    )
    sources = worker.template.templates.of_type(*kinds)
    others = (each for each in sources if each["Principal"].text != "events.amazonaws.com")
    return any(worker in each.properties.targets for each in others)


@rule(IN_TIME)
def rules_are_enabled(templates: Templates) -> Iterator[Wrong]:
    """Find rules about blocks and their queues that are disabled or have no target."""
    about = [each for each in templates.of_type(EVENT_RULE) if is_about_blocks(each)]
    for source in about:
        if source["Targets"].empty:
            got = "no target, so that EC2's warning reaches nothing"
            yield source["Targets"], got, "the function that ends jobs"
    cycles = [trigger.source for own in life_cycles(templates).values() for trigger in own]
    for trigger in _triggers(templates):
        knows = any(each.type == QUEUE for each in trigger.worker["Environment"].targets)
        cycles += [trigger.source] if knows else []
    for source in dict.fromkeys([*about, *cycles]):
        if source["State"].text == "DISABLED":
            yield source["State"], "got DISABLED, so that nothing watches the jobs of the queue", "ENABLED"


@rule(IN_TIME, life_cycles)
def life_cycles_start_in_time(worker: Resource) -> Iterator[Wrong]:
    """Find leads after which the nodes of a block are already being terminated."""
    for at in worker["Environment"]["Variables"].members:
        unit = _LEAD.fullmatch(str(at.path[-1]))
        seconds = min(at.number or 0, 10**6) * (60 if unit and unit[1].lower() == "minute" else 1)
        if unit and at.number is not None and seconds <= TERMINATION_BEFORE_END.total_seconds():
            got = f"got {at.number}; EC2 terminates nodes from 30 minutes before the end"
            yield at, got, "more than 30 minutes"


@rule("UC6433", life_cycles)
def life_cycles_have_time(function: Resource) -> Iterator[Wrong]:
    """Find functions of a life cycle that Lambda never runs, or that end before they could end jobs."""
    timeout, most = function["Timeout"], function["ReservedConcurrentExecutions"]
    if timeout.missing or (timeout.number is not None and timeout.number < _SHORTEST_TIMEOUT):
        got = "no timeout, which is 3 seconds" if timeout.missing else f"{timeout.number} seconds"
        got = f"got {got}; ending the jobs of a block takes many calls"
        yield timeout, got, f"{_SHORTEST_TIMEOUT} to 900"
    if most.number == 0:
        yield most, "got 0, with which Lambda refuses every invocation", "none, or 1 or more"


@rule("UC6436", life_cycles)
def life_cycles_may_be_called(worker: Resource) -> Iterator[Wrong]:
    """Find functions of a life cycle that no permission lets their rule invoke."""
    templates = worker.template.templates
    permissions = list(templates.of_type(_PERMISSION))
    for each in life_cycles(templates)[worker]:
        elsewhere = worker.is_shared or each.source.is_shared or not each.target["RoleArn"].missing
        if not elsewhere and not any(lets_invoke(one, each) for one in permissions):
            got = f"no permission lets {each.source.logical_id} invoke {worker.logical_id}: the function never runs, and no deployment fails"
            allowed = "AWS::Lambda::Permission for events.amazonaws.com, with the rule as SourceArn"
            yield each.target["Arn"], got, allowed


def lets_invoke(permission: Resource, trigger: Trigger) -> bool:
    """Return whether a permission lets a rule invoke its function, or may do so."""
    action, principal, on = (permission[name] for name in ("Action", "Principal", "SourceArn"))
    known = action.text in {"lambda:InvokeFunction", "lambda:*", "*", None}
    called = {trigger.worker, trigger.target["Arn"].target}  # also an alias or a version
    return (
        known
        and principal.text in {"events.amazonaws.com", "*", None}
        and _may_be(permission["FunctionName"], called, trigger.worker["FunctionName"])
        and (on.missing or _may_be(on, {trigger.source}, trigger.source["Name"]))
    )


def _may_be(at: Property, resources: set[Resource | None], name: Property) -> bool:
    """Return whether a name or ARN is that of a resource, whose own name none has by chance, or may be."""
    if at.targets:
        return bool(resources & {*at.targets})
    parts = re.split("[:/]", fixed_arn(at) or "*")
    return "*" in parts[-1] or name.unknown or name.text in parts


@rule("UC6434", life_cycles)
def life_cycles_may_end_jobs(worker: Resource) -> Iterator[Wrong]:
    """Find functions of a life cycle whose role does not allow them to end jobs."""
    role, settings = role_of(worker["Role"]), worker["Environment"]
    if role is None:
        return
    blocks = {each.owner for each in nodes_of(worker.template.templates) if each.may_be_in_block}
    ends = any(may(role, action, many=action == _TERMINATE) for action in _ENDING)
    lacking = [] if ends else [_TERMINATE]
    if may(role, _TERMINATE):
        reading = {"batch:ListJobs"} | (set() if _knows_end(settings) else {_DESCRIBE})
        lacking += [action for action in sorted(reading) if not may(role, action)]
    for kind, action in _STATES.items():
        named = [each for each in settings.targets if each.type == kind]
        closed = [each for each in named if not may(role, action, each)]
        # A queue that goes on with other nodes stays open, and so may a further one: no node starts for its jobs.
        closed = [each for each in closed if kind != QUEUE or blocks.issuperset(environments_of(each) or ())]
        if closed and len(closed) == len(named):
            lacking.append(f"{action} on {closed[0].logical_id}")
    if lacking:
        got = f"{role.logical_id} does not allow {', '.join(lacking)}, and {worker.logical_id} cannot end the jobs of the block"
        yield worker["Role"], got, "what the function does, on the queue of the block"


def _knows_end(settings: Property) -> bool:
    texts = [each.text or "" for each in settings["Variables"].members]
    return any(map(TIME.search, texts)) or not any(map(RESERVATION_ID.fullmatch, texts))


@rule("UC6435", life_cycles)
def life_cycles_are_aimed_at_their_block(worker: Resource) -> Iterator[Wrong]:
    """Find functions of a life cycle that know another queue or reservation than that of the nodes."""
    templates, settings = worker.template.templates, worker["Environment"]
    nodes = [each for each in nodes_of(templates) if each.may_be_in_block]
    owners, role = {each.owner for each in nodes}, role_of(worker["Role"])
    blocks = [each.target["CapacityReservationId"].value for each in nodes]
    variables = settings["Variables"].members
    known = bool(variables) and not any(each.unknown for each in variables)
    meant = [target for each in (statements_of(role) if role else ()) for target in each["Resource"].targets]
    for target in dict.fromkeys(meant) if known else ():
        named = target["JobQueueName"].text in {each.text or "" for each in variables}
        if target.type in _STATES and target not in settings.targets and not named:
            got = f"got nothing that names {target.logical_id}, which its role is for"
            yield settings, got, target.logical_id
    over = [each.logical_id for each in templates.of_type(QUEUE) if owners & {*(environments_of(each) or ())}]
    for target in settings.targets if owners else ():
        behind = {target} if target.type == COMPUTE_ENVIRONMENT else {*(environments_of(target) or owners)}
        elsewhere = any(each["Type"].text == "UNMANAGED" for each in behind)  # nodes join those by themselves
        if target.type in _STATES and not owners & behind and not elsewhere:
            yield settings, f"got {target.logical_id}, whose nodes are in no block", " or ".join(over)
    for at in variables if blocks and has_all_environments(templates) else ():
        if RESERVATION_ID.fullmatch(at.text or "") and all(differ(at.value, each) for each in blocks):
            yield at, f"got {at.text}, and nodes are launched into {blocks[0]}", str(blocks[0])


@rule("UC6437", *_STATES)
def closed_queues_are_opened(resource: Resource) -> Iterator[Wrong]:
    """Find disabled queues and environments that nothing in the templates may enable."""
    templates = resource.template.templates
    roles = [role_of(each["Role"]) for each in templates.of_type(_FUNCTION)]
    opened = any(role is None or may(role, _STATES[resource.type], resource) for role in roles)
    if resource["State"].text == "DISABLED" and not opened and not any(templates.of_type(_SCHEDULE)):
        yield resource["State"], "got DISABLED, and nothing here may enable it: no job starts", "ENABLED"


RECORDS: Final = (
    RuleRecord(
        "UC6433",
        "A function that ends jobs runs, and has enough time.",
        remedy="Set a timeout of 30 seconds or more and a concurrency above 0.",
        source="AWS Lambda developer guide, timeout and reserved concurrency, 2026-11: with 0 every invocation is refused.",
    ),
    RuleRecord(
        "UC6436",
        "A rule may call the function that ends jobs.",
        remedy="Add an AWS::Lambda::Permission with the rule as SourceArn; for a schedule, a role that allows lambda:InvokeFunction.",
        source="EventBridge user guide, resource-based policies for Lambda, 2026-11.",
    ),
    RuleRecord(
        "UC6430",
        "Something ends the jobs of a Capacity Block before EC2 ends its nodes.",
        severity=Severity.WARNING,
        remedy="Run a function each minute that ends the jobs, as a BlockLifecycle does, or leave the rule out with the place where it is done.",
        source="EC2 user guide, Capacity Blocks for ML, 2026-11: instances are terminated from 30 minutes before the end.",
    ),
    RuleRecord(
        "UC6434",
        "What ends the jobs of a Capacity Block does so, and its role allows it.",
        remedy="Allow batch:ListJobs and batch:TerminateJob, and what changes the queue.",
        source="Service Authorization Reference, AWS Batch, 2026-11.",
    ),
    RuleRecord(
        "UC6435",
        "The function that ends jobs knows the queue and the reservation of the nodes.",
        remedy="Name the queue, environment and reservation of the nodes.",
        source="EC2 user guide, Capacity Blocks for ML, 2026-11: nodes run in the reservation that the launch template names.",
    ),
    RuleRecord(
        "UC6437",
        "A disabled queue or environment is enabled by something.",
        severity=Severity.WARNING,
        remedy="Enable it, or let a function enable it when the block starts.",
        source="AWS Batch user guide, job queue state, 2026-11: a disabled queue finishes jobs and takes none.",
        example="Queue: {Type: AWS::Batch::JobQueue, Properties: {Priority: 1, State: ENABLED}}",
    ),
)
