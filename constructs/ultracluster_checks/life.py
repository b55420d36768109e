"""Functions and state machines that end the jobs of a Capacity Block: woken in time, permitted, and aimed at its queue."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from ultracluster_catalog.capacity.capacity_blocks import TERMINATION_BEFORE_END
from ultracluster_checks.calls import actions_of, swallowed_errors
from ultracluster_checks.codes import EVENTS, IN_TIME, RUNNING
from ultracluster_checks.events import is_about_blocks, waits_for_aws
from ultracluster_checks.model.nodes import (
    COMPUTE_ENVIRONMENT,
    EVENT_RULE,
    QUEUE,
    RESERVATION_ID,
    differ,
    environments_of,
    known_blocks,
    nodes_of,
)
from ultracluster_checks.model.permissions import fixed_arn, may, role_of, statements_of
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.model.values import Text
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_checks.scale_in import LONGEST_LEAD, scheduled_calls
from ultracluster_checks.times import (
    TIME,
    default_time,
    period_of,
    start_of,
    too_late,
    window_of,
    zone_of,
)
from ultracluster_checks.workers import (
    FUNCTION,
    MACHINE,
    SCHEDULE,
    Trigger,
    role_at,
    settings_of,
    triggers,
)
from ultracluster_rules.findings import quote

_PERMISSION: Final = "AWS::Lambda::Permission"
_TERMINATE: Final = "batch:TerminateJob"
_DESCRIBE: Final = "ec2:DescribeCapacityReservations"
_STATES: Final = {QUEUE: "batch:UpdateJobQueue", COMPUTE_ENVIRONMENT: "batch:UpdateComputeEnvironment"}
_ENDING: Final = {_TERMINATE, "autoscaling:SetDesiredCapacity", "autoscaling:UpdateAutoScalingGroup", "ec2:TerminateInstances"}  # fmt: skip
_CLOSING: Final = {*_ENDING, *_STATES.values(), "batch:CancelJob"}
_CALLED: Final = {*_CLOSING, _DESCRIBE, "batch:DescribeJobQueues", "batch:DescribeJobs", "batch:ListJobs"}
_LEAD: Final = re.compile(r"(?i)(?!.*checkpoint)(?=.*(?:lead|before)).*?(minute|second)s?.*")
# https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html (2026-11)
_RETIRED: Final = {"python2.7", "python3.6", "python3.7", "python3.8", "nodejs12.x", "nodejs14.x", "nodejs16.x", "nodejs18.x", "go1.x", "ruby2.7", "java8", "dotnet6"}  # fmt: skip
_LONGEST_WAIT: Final = 10
"""Minutes between the warning of EC2, 40 before the end, and the termination of instances, 30 before it."""

_WAITING: Final = re.compile("RUNNABLE|STARTING|SUBMITTED|PENDING")
_DAY: Final = 86_400  # seconds; the shortest block
_SHORTEST_TIMEOUT: Final = 30
"""Seconds in which a few dozen calls of AWS's APIs are answered; Lambda's default of 3 is one call."""


def _calls(worker: Resource) -> set[str] | None:
    """Return the actions of AWS that inline code or a definition calls; None if they are not known here."""
    if worker.type == FUNCTION:
        return {*actions_of(worker)} & _CALLED or None
    definition = json.dumps(worker.properties.value, default=str)
    calls = re.findall(r"aws-sdk:(\w+):(\w+)", definition)
    return {f"{service}:{name[0].upper()}{name[1:]}" for service, name in calls} or None


@lru_cache(maxsize=1)
def life_cycles(templates: Templates) -> dict[Resource, list[Trigger]]:
    """Return the functions that close queues or end jobs of a Capacity Block, each with its triggers."""
    blocks, workers = known_blocks(templates), {}
    for worker in templates.of_type(FUNCTION, MACHINE):
        own = [each for each in triggers(templates) if each.worker is worker]
        role, settings = role_of(role_at(worker)), settings_of(worker)
        warned = any(is_about_blocks(each.source, word="Expiration") for each in own)
        about = any(_names(each.value, blocks) for each in settings["Variables"].members)
        acts = role is not None and any(may(role, action) for action in _CLOSING)
        knows = any(target.type in _STATES for target in settings.targets)
        allowed = role is not None and role["ManagedPolicyArns"].missing and may(role, _TERMINATE)
        ends = bool(blocks) and (allowed or _TERMINATE in (_calls(worker) or ()))
        if (warned and (acts or knows)) or (about and acts) or (ends and knows):
            workers[worker] = own
    return workers


def _names(value: Any, blocks: tuple[Any, ...]) -> bool:
    return value in blocks or (isinstance(value, Text) and any(part in blocks for part in value.parts))


def _workers(templates: Templates) -> list[Resource]:
    return list(life_cycles(templates))


def _cycles(templates: Templates) -> list[tuple[Resource, list[Trigger]]]:
    return list(life_cycles(templates).items())


@rule("UC6430")
def block_jobs_are_ended(templates: Templates) -> Iterator[Wrong]:
    """Find queues of a Capacity Block for which the templates define nothing that ends their jobs."""
    acting = life_cycles(templates) or any(templates.of_type(MACHINE))
    scheduled = any("batch" in each["Target"]["Arn"].pattern for each in templates.of_type(SCHEDULE))
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
            got = "no rule and no schedule wakes the function up, and the jobs of the block are not ended"
            yield worker.properties, got, f"a rule that targets it at least every {_LONGEST_WAIT} minutes"
        for source in (trigger.source for trigger in own):
            at = source["ScheduleExpression"]
            if (period_of(source) or 0) > _LONGEST_WAIT:
                got = f"got {quote(at.text)}, and between EC2's warning and the end of instances are {_LONGEST_WAIT} minutes"
                yield at, got, f"rate(1 minute) to rate({_LONGEST_WAIT} minutes)"


def _has_other_sources(worker: Resource) -> bool:
    kinds = ("AWS::Lambda::EventSourceMapping", "AWS::SNS::Subscription", _PERMISSION, "AWS::Lambda::Url")
    scheduling = {"events.amazonaws.com", "scheduler.amazonaws.com"}
    sources = worker.template.templates.of_type(*kinds)
    others = (each for each in sources if each["Principal"].text not in scheduling)
    return any(worker in each.properties.targets for each in others)


@rule(IN_TIME)
def rules_are_enabled(templates: Templates) -> Iterator[Wrong]:
    """Find rules and schedules about blocks, queues and events of AWS that are disabled or have no target."""
    about = [each for each in templates.of_type(EVENT_RULE) if is_about_blocks(each)]
    for source in about:
        if source["Targets"].empty:
            got = "no target, so that EC2's warning reaches nothing"
            yield source["Targets"], got, "the function that ends jobs"
    cycles = {trigger.source for own in life_cycles(templates).values() for trigger in own}
    named = [
        (each.source, to.type) for each in triggers(templates) for to in settings_of(each.worker).targets
    ]
    knowing = {source for source, kind in named if kind == QUEUE}
    for source in templates.of_type(EVENT_RULE, SCHEDULE):
        watches = source in cycles | knowing or source in about
        if source["State"].text == "DISABLED" and (watches or waits_for_aws(source)):
            got = "nothing watches the jobs of the queue" if watches else "nothing acts on the event"
            yield Problem.of(
                source["State"], IN_TIME if watches else EVENTS, f"got DISABLED, so that {got}", "ENABLED"
            )


@rule(IN_TIME, _cycles)
def life_cycles_start_in_time(cycle: tuple[Resource, list[Trigger]]) -> Iterator[Wrong]:
    """Find schedules, leads and waits after which the nodes of a block are already being terminated."""
    worker, own = cycle
    end = default_time(worker, "end")
    for source in (trigger.source for trigger in own):
        at, late = source["ScheduleExpression"], window_of(source)
        opens = re.search("(?i)open|enable", source.logical_id + source["Target"]["Input"].pattern)
        start = start_of(source) if (at.text or "").startswith("at(") and not opens else None
        if end and start and not TERMINATION_BEFORE_END < end - start - late <= LONGEST_LEAD:
            begins = f"it starts the end of jobs at {start + late:%Y-%m-%d %H:%M} UTC"
            got = f"got {quote(at.text)}: {begins}, and the block ends at {end:%Y-%m-%d %H:%M} UTC"
            yield at, got, f"within the day before {end - TERMINATION_BEFORE_END:%Y-%m-%d %H:%M} UTC"
        elif start and end is None:
            yield from too_late(at, start, late=late, zone=zone_of(source))
    for at in worker["Environment"]["Variables"].members:
        unit = _LEAD.fullmatch(str(at.path[-1]))
        seconds = min(at.number or 0, 10**6) * (60 if unit and unit[1].lower() == "minute" else 1)
        if unit and at.number is not None and seconds <= TERMINATION_BEFORE_END.total_seconds():
            got = f"got {at.number}; EC2 terminates nodes from 30 minutes before the end"
            yield at, got, "more than 30 minutes"
    for wait in _waits(worker.properties) if worker.type == MACHINE else ():
        if (wait.number or 0) >= _LONGEST_WAIT * 60:
            got = f"got {wait.number} seconds, and from EC2's warning to the end of nodes are 600"
            yield wait, got, "less"


@rule(IN_TIME, _cycles)
def failed_calls_are_repeated_or_kept(cycle: tuple[Resource, list[Trigger]]) -> Iterator[Wrong]:
    """Find calls of a life cycle, other than regular ones, that are lost when they fail once."""
    worker, own = cycle
    again = any(period_of(trigger.source) for trigger in own)
    tries = [(each.target["RetryPolicy"], each.target["DeadLetterConfig"]) for each in own]
    for each in worker.referrers("AWS::Lambda::EventInvokeConfig", "FunctionName"):
        kept = worker["DeadLetterConfig"] if each["DestinationConfig"].missing else each["DestinationConfig"]
        tries.append((each.properties, kept))
    for retries, kept in tries if not again else ():
        if retries["MaximumRetryAttempts"].number == 0 and kept.missing:
            got = "a call that fails is neither repeated nor kept, and the jobs of the block are not ended"
            yield retries, got, "retries, or a dead-letter queue with an alarm"


def _waits(at: Property) -> Iterator[Property]:
    for each in at.parts:
        if each.path[-1] == "Seconds":
            yield each
        yield from _waits(each)


def _acting(templates: Templates) -> list[Resource]:
    """Return the functions and state machines of life cycles, and the functions that these machines invoke."""
    workers = _workers(templates)
    invoked = [to for each in workers if each.type == MACHINE for to in each.properties.targets]
    return list(dict.fromkeys([*workers, *(each for each in invoked if each.type == FUNCTION)]))


@rule("UC6434", triggers)
def queues_close_at_the_end(trigger: Trigger) -> Iterator[Wrong]:
    """Find functions and state machines that open the queue when its block ends, or close it when its block begins."""
    ends, begins = (is_about_blocks(trigger.source, word=word) for word in ("Expiration", "Delivered"))
    text = _text_of(trigger.worker)
    if ends is begins or not re.search("update_?(?:job_?queue|compute_?environment)", text, re.IGNORECASE):
        return
    states = {*re.findall(r"\bstate[\"']?\s*[=:]\s*[\"'](ENABLED|DISABLED)", text, re.IGNORECASE)}
    if states == ({"ENABLED"} if ends else {"DISABLED"}):
        when = "end" if ends else "start"
        got = f"{trigger.worker.logical_id} sets {states.pop()} at the {when} of the block"
        yield trigger.worker.properties, got, "DISABLED" if ends else "ENABLED"


def _text_of(worker: Resource) -> str:
    return worker["Code"]["ZipFile"].text or json.dumps(worker.properties.value, default=str)


@rule("UC6434", _acting)
def life_cycles_end_running_jobs(worker: Resource) -> Iterator[Wrong]:
    """Find code and definitions that list jobs by status and leave out those that run."""
    text = _text_of(worker)
    if re.search("jobstatus", text, re.IGNORECASE) and _WAITING.search(text) and "RUNNING" not in text:
        at = worker["Code"] if worker.type == FUNCTION else worker.properties
        got = f"{worker.logical_id} lists jobs that wait only, and those that run are not ended"
        yield at, got, "RUNNING"


@rule("UC6434", _workers)
def errors_are_not_swallowed(worker: Resource) -> Iterator[Wrong]:
    """Find code that goes on when ending a job fails, so that the failure is neither repeated nor noticed."""
    for caught in swallowed_errors(worker, "terminate_job") if worker.type == FUNCTION else ():
        got = (
            f"an error of terminate_job is dropped in line {caught}, and Lambda takes the call for a success"
        )
        yield worker["Code"]["ZipFile"], got, "an error at the end if a job was not ended"


@rule(EVENTS, _cycles)
def block_events_arrive_whole(cycle: tuple[Resource, list[Trigger]]) -> Iterator[Wrong]:
    """Find inputs that replace the event of EC2 for code outside of the template, which may read it."""
    for trigger in cycle[1] if not cycle[0]["Code"]["ZipFile"].pattern else ():
        replaced = [at for name in ("Input", "InputPath") if not (at := trigger.target[name]).missing]
        if replaced and is_about_blocks(trigger.source):
            yield replaced[0], "the function gets this instead of EC2's event", "the whole event"


@rule(RUNNING, FUNCTION)
def functions_can_run(function: Resource) -> Iterator[Wrong]:
    """Find functions that Lambda refuses or never runs, and those of a life cycle that end before they could end jobs."""
    timeout, most = function["Timeout"], function["ReservedConcurrentExecutions"]
    handler, runtime = function["Handler"], function["Runtime"]
    short = timeout.missing or (timeout.number is not None and timeout.number < _SHORTEST_TIMEOUT)
    if short and function in life_cycles(function.template.templates):
        got = "no timeout, which is 3 seconds" if timeout.missing else f"{timeout.number} seconds"
        got = f"got {got}; ending the jobs of a block takes many calls"
        yield timeout, got, f"{_SHORTEST_TIMEOUT} to 900"
    if most.number == 0:
        yield most, "got 0, with which Lambda refuses every invocation", "none, or 1 or more"
    inline = function["Code"]["ZipFile"].text is not None
    if inline and handler.text is not None and not handler.text.startswith("index."):
        yield handler, f"got {quote(handler.text)}; inline code is the module index", "index.handler"
    if runtime.text in _RETIRED:
        yield runtime, f"got {runtime.text}, of which Lambda creates no functions", "python3.13"


@rule("UC6434", _workers)
def life_cycles_may_end_jobs(worker: Resource) -> Iterator[Wrong]:
    """Find functions and state machines of a life cycle that do not end jobs, or whose role does not allow it."""
    role, called, settings = role_of(role_at(worker)), _calls(worker), settings_of(worker)
    blocks = {each.owner for each in nodes_of(worker.template.templates) if each.may_be_in_block}
    invoked = [role_of(role_at(each)) for each in settings.targets if each.type == FUNCTION]
    if worker.type == MACHINE and any(each is not None and may(each, _TERMINATE) for each in invoked):
        return  # a function that it invokes ends them
    if called is not None and not called & _ENDING:
        got = f"{worker.logical_id} ends no job: it calls {', '.join(sorted(called))}"
        yield worker.properties, got, _TERMINATE
    if role is None:
        return
    ends = any(may(role, action, many=action == _TERMINATE) for action in _ENDING)
    lacking = [] if ends else [_TERMINATE]
    reading = {"batch:ListJobs"} | (set() if _knows_end(settings) else {_DESCRIBE})
    needed = reading if called is None else called - _ENDING
    if may(role, _TERMINATE) or called is not None:
        lacking += [action for action in sorted(needed) if not may(role, action)]
    for kind, action in _STATES.items():
        named = [each for each in settings.targets if each.type == kind]
        used = named and (called is None or action in called) and action not in lacking
        closed = [each for each in named if used and not may(role, action, each)]
        # A queue that goes on with other nodes stays open.
        closed = [each for each in closed if kind != QUEUE or blocks.issuperset(environments_of(each) or ())]
        if closed and (kind == QUEUE or len(closed) == len(named)):
            lacking.append(f"{action} on {closed[0].logical_id}")
    if lacking:
        got = f"{role.logical_id} does not allow {', '.join(lacking)}, and {worker.logical_id} cannot end the jobs of the block"
        yield role_at(worker), got, "what the function does, on the queue of the block"


def _knows_end(settings: Property) -> bool:
    texts = [each.text or "" for each in settings["Variables"].members]
    return any(map(TIME.search, texts)) or not any(map(RESERVATION_ID.fullmatch, texts))


@rule("UC6434", "AWS::IAM::Role")
def jobs_are_submitted_to_their_queue(role: Resource) -> Iterator[Wrong]:
    """Find roles that may submit jobs, and not to the queues of these templates."""
    queues = list(role.template.templates.of_type(QUEUE))
    unnamed = queues and not any(queue["JobQueueName"].text for queue in queues)
    for statement in statements_of(role) if unnamed else ():
        submits = any(action.text == "batch:SubmitJob" for action in statement["Action"].one_or_more)
        named = [
            each
            for each in statement["Resource"].one_or_more
            if ":job-queue/" in each.pattern or any(target.type == QUEUE for target in each.targets)
        ]
        names = [(fixed_arn(each) or "*").rpartition(":")[2] for each in named]
        fixed = not any("*" in name for name in names) and not any(each.targets for each in named)
        if submits and named and fixed:
            got = f"got {named[0].pattern}, and the queue is {queues[0].logical_id}"
            yield named[0], got, "the ARN of the queue"


@rule("UC6435", _workers)
def life_cycles_are_aimed_at_their_block(worker: Resource) -> Iterator[Wrong]:
    """Find functions and state machines of a life cycle that know another queue or reservation than that of the nodes."""
    templates, settings = worker.template.templates, settings_of(worker)
    nodes = [each for each in nodes_of(templates) if each.may_be_in_block]
    owners, role = {each.owner for each in nodes}, role_of(role_at(worker))
    blocks = [each.target["CapacityReservationId"].value for each in nodes]
    variables = settings["Variables"].members
    known = bool(variables) and not any(each.unknown for each in variables)
    if worker.type == MACHINE:
        known = _calls(worker) is not None
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
    for at in variables if blocks else ():
        if RESERVATION_ID.fullmatch(at.text or "") and all(differ(at.value, each) for each in blocks):
            yield at, f"got {at.text}, and nodes are launched into {blocks[0]}", str(blocks[0])


@rule("UC6437", *_STATES)
def closed_queues_are_opened(resource: Resource) -> Iterator[Wrong]:
    """Find disabled queues and environments that nothing in the templates may enable."""
    templates = resource.template.templates
    codes = {each: each["Code"]["ZipFile"].text or "ENABLED" for each in templates.of_type(FUNCTION)}
    roles = [role_of(each["Role"]) for each, code in codes.items() if "ENABLED" in code]
    scheduled = any(each.opens and each.on is resource for each in scheduled_calls(templates))
    opened = scheduled or any(role is None or may(role, _STATES[resource.type], resource) for role in roles)
    if resource["State"].text == "DISABLED" and not opened:
        yield resource["State"], "got DISABLED, and nothing here may enable it: no job starts", "ENABLED"
