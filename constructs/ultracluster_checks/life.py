"""The end of a Capacity Block: something must end its jobs in time, be enabled and permitted, and manage their queue."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_DELIVERED_EVENTS,
    BLOCK_EXPIRATION_WARNING_EVENTS,
    INSTANCE_INTERRUPTION_WARNING_EVENT,
    TERMINATION_BEFORE_END,
    ULTRASERVER_TERMINATION_BEFORE_END,
)
from ultracluster_checks.codes import CALLING, EVENTS, IN_TIME, RUNNING
from ultracluster_checks.hooks import hooks_of
from ultracluster_checks.model.nodes import (
    AUTO_SCALING_GROUP,
    COMPUTE_ENVIRONMENT,
    EVENT_RULE,
    NODE_GROUP,
    QUEUE,
    Nodes,
    differ,
    environments_of,
    known_blocks,
    nodes_of,
)
from ultracluster_checks.model.permissions import fixed_arn, lets_invoke, may, role_of, statements_of
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.model.values import Reference, Text
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.roles import FUNCTION, MACHINE, SCHEDULE, worker_at
from ultracluster_rules.findings import quote

_PERMISSION: Final = "AWS::Lambda::Permission"
_SCALING: Final = "AWS::AutoScaling::ScheduledAction"
_TERMINATE: Final = "batch:TerminateJob"
_DESCRIBE: Final = "ec2:DescribeCapacityReservations"
_STATES: Final = {QUEUE: "batch:UpdateJobQueue", COMPUTE_ENVIRONMENT: "batch:UpdateComputeEnvironment"}
_ENDING: Final = (_TERMINATE, "autoscaling:SetDesiredCapacity", "autoscaling:UpdateAutoScalingGroup", "ec2:TerminateInstances")  # fmt: skip
_CLOSING: Final = (*_ENDING, *_STATES.values(), "batch:CancelJob")
_CALLED: Final = (*_CLOSING, _DESCRIBE, "batch:DescribeJobQueues", "batch:DescribeJobs", "batch:ListJobs")
_EVENTS: Final = frozenset((*BLOCK_DELIVERED_EVENTS, *BLOCK_EXPIRATION_WARNING_EVENTS))
_DETAIL: Final = {"capacity-reservation-id", "end-date"}
_OF_INSTANCE: Final = {"instance-lifecycle", "instance-action", "instance-id", "instance-termination-time", "availability-zone-id"}  # fmt: skip
_RESERVATION_ID: Final = re.compile(r"cr-[0-9a-f]{8,17}")
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::\d\d)?(Z|\+00:00)?")
_LEAD: Final = re.compile(r"(?i)(?!.*checkpoint)(?=.*(?:lead|before)).*?(minute|second)s?.*")
_RATE: Final = re.compile(r"rate\((\d{1,6}) (minute|hour|day)s?\)")
_CRON: Final = re.compile(r"cron\((\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\)")
_MINUTES: Final = {"minute": 1, "hour": 60, "day": 1440}
# https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html (2026-11)
_RETIRED: Final = {"python2.7", "python3.6", "python3.7", "python3.8", "nodejs12.x", "nodejs14.x", "nodejs16.x", "nodejs18.x", "go1.x", "ruby2.7", "java8", "dotnet6"}  # fmt: skip
_LONGEST_WAIT: Final = 10
"""Minutes between the warning of EC2, 40 before the end, and the termination of instances, 30 before it."""

_EARLIEST: Final = timedelta(hours=24)
_WAITING: Final = re.compile("RUNNABLE|STARTING|SUBMITTED|PENDING")
_SHORTEST_TIMEOUT: Final = 30
"""Seconds in which a few dozen calls of AWS's APIs are answered; Lambda's default of 3 is one call."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """A rule of EventBridge or a schedule, with a target of it that is a function or state machine."""

    source: Resource
    target: Property
    worker: Resource


def _kinds(pattern: Property) -> set[str]:
    return {each for each in pattern["detail-type"].texts if each is not None}


def _is_about_blocks(source: Resource, *, word: str = "") -> bool:
    """Return whether a rule waits for events about Capacity Blocks, with a word in their name if one is given."""
    kinds = _kinds(source["EventPattern"])
    about = ("Capacity Block" in each and word in each for each in kinds)
    return any(about) or INSTANCE_INTERRUPTION_WARNING_EVENT in kinds


@lru_cache(maxsize=1)
def _triggers(templates: Templates) -> tuple[Trigger, ...]:
    """Return the triggers of the functions and state machines of templates."""
    found = []
    for source in templates.of_type(EVENT_RULE, SCHEDULE):
        for target in source["Targets"].items if source.type == EVENT_RULE else [source["Target"]]:
            worker = worker_at(target["Arn"])
            if worker is not None:
                found.append(Trigger(source, target, worker))
    return tuple(found)


def _role_at(worker: Resource) -> Property:
    return worker["Role" if worker.type == FUNCTION else "RoleArn"]


def _told(worker: Resource) -> Property:
    """Return the settings of a function or state machine: its environment, or its definition."""
    return worker["Environment"] if worker.type == FUNCTION else worker.properties


def _calls(worker: Resource) -> set[str] | None:
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
    found = re.findall(r"aws-sdk:(\w+):(\w+)", text)
    return {f"{service}:{name[0].upper()}{name[1:]}" for service, name in found} or None


@lru_cache(maxsize=1)
def life_cycles(templates: Templates) -> dict[Resource, list[Trigger]]:
    """Return the functions that close queues or end jobs of a Capacity Block, each with its triggers."""
    blocks, found = known_blocks(templates), {}
    for worker in templates.of_type(FUNCTION, MACHINE):
        own = [each for each in _triggers(templates) if each.worker is worker]
        role = role_of(_role_at(worker))
        warned = any(_is_about_blocks(each.source, word="Expiration") for each in own)
        about = any(_names(each.value, blocks) for each in _told(worker)["Variables"].members)
        acts = role is not None and any(may(role, action) for action in _CLOSING)
        knows = any(target.type in _STATES for target in _told(worker).targets)
        called = _calls(worker) or set()
        ends = (bool(blocks) and _TERMINATE in called) or (
            role is not None and bool(blocks) and role["ManagedPolicyArns"].missing and may(role, _TERMINATE)
        )
        if (warned and (acts or knows)) or (about and acts) or (ends and knows):
            found[worker] = own
    return found


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
    jobs = templates.of_type("AWS::Batch::JobDefinition")
    bounded = all(
        not job["Timeout"].missing for job in jobs
    )  # also without any handler: its code is unknown here
    blocks = {nodes.owner for nodes in nodes_of(templates) if nodes.in_batch and nodes.in_block}
    for queue in () if acting or scheduled or bounded else templates.of_type(QUEUE):
        if {*(environments_of(queue) or ())} & blocks:
            got = "jobs run on nodes of a Capacity Block, and nothing ends them before EC2 does, 30 minutes before the end of the block"
            allowed = "a function that runs on a schedule or on EC2's warning, and that may end jobs"
            yield queue.properties, got, allowed


@rule(IN_TIME)
def life_cycles_wake_up(templates: Templates) -> Iterator[Wrong]:
    """Find functions of a life cycle that nothing wakes up, or too rarely."""
    places = [each["Targets"] for each in templates.of_type(EVENT_RULE)]
    unknown = any(each.unknown for at in places for each in (at, *(target["Arn"] for target in at.items)))
    for worker, own in life_cycles(templates).items():
        if not own and not unknown and not _has_other_sources(worker):
            got = "no rule and no schedule wakes the function up, and the jobs of the block are not ended"
            yield worker.properties, got, f"a rule that targets it at least every {_LONGEST_WAIT} minutes"
        for at in (trigger.source["ScheduleExpression"] for trigger in own):
            if (_period(at.text or "") or 0) > _LONGEST_WAIT:
                got = f"got {quote(at.text)}, and between EC2's warning and the end of instances are {_LONGEST_WAIT} minutes"
                yield at, got, f"rate(1 minute) to rate({_LONGEST_WAIT} minutes)"


@rule(IN_TIME)
def rules_of_blocks_are_enabled(templates: Templates) -> Iterator[Wrong]:
    """Find rules about blocks and their queues that are disabled, on another bus or without a target."""
    about = [each for each in templates.of_type(EVENT_RULE) if _is_about_blocks(each)]
    cycles = [trigger.source for own in life_cycles(templates).values() for trigger in own]
    for bus in (each["EventBusName"] for each in (*cycles, *about) if each.type == EVENT_RULE):
        named = None if bus.text in {None, "default"} else quote(bus.text)
        if other := bus.target.logical_id if bus.target else named:
            yield bus, f"got {other}; events of EC2 and schedules are on the default bus only", "default"
    for each in about:
        if each["Targets"].empty:
            got = "no target, so that EC2's warning reaches nothing"
            yield each["Targets"], got, "the function that ends jobs"
    knowing = [
        each for each in _triggers(templates) if QUEUE in {to.type for to in _told(each.worker).targets}
    ]
    for state in (source["State"] for source in (*cycles, *about, *(each.source for each in knowing))):
        if state.text == "DISABLED":
            yield state, "got DISABLED, so that nothing watches the jobs of the queue", "ENABLED"


def _has_other_sources(worker: Resource) -> bool:
    kinds = ("AWS::Lambda::EventSourceMapping", "AWS::SNS::Subscription", _PERMISSION, "AWS::Lambda::Url")
    scheduling = {"events.amazonaws.com", "scheduler.amazonaws.com"}
    sources = worker.template.templates.of_type(*kinds)
    return any(
        worker in each.properties.targets and each["Principal"].text not in scheduling for each in sources
    )


def _period(expression: str) -> int | None:
    """Return the minutes between two runs; None if unknown."""
    if found := _RATE.fullmatch(expression.strip()):
        return int(found[1]) * _MINUTES[found[2]]
    found = _CRON.fullmatch(expression.strip())
    if found is None:
        return None
    if found[6].isdigit():
        return None  # once
    minute, hourly = found[1], found[2] in {"*", "0-23", "*/1", "0/1"}
    if not hourly or not {found[3], found[4], found[5], found[6]} <= {"*", "?"}:
        return 1440
    step = re.fullmatch(r"(?:\*|0|0-59)/(\d{1,2})", minute)
    if minute == "*" or "," in minute or "-" in minute or step:
        return 1 if minute == "*" else int(step[1]) if step else 60 // (minute.count(",") + 1)
    return 60


@rule(IN_TIME, _cycles)
def life_cycles_start_in_time(cycle: tuple[Resource, list[Trigger]]) -> Iterator[Wrong]:
    """Find schedules, leads and waits after which the nodes of a block are already being terminated."""
    worker, own = cycle
    end = _named_time(worker, "end")
    for source in (trigger.source for trigger in own):
        at, zone = source["ScheduleExpression"], source["ScheduleExpressionTimezone"].text or "UTC"
        start = _parsed(at.text or "", zone) if (at.text or "").startswith("at(") else None
        late = timedelta(minutes=source["FlexibleTimeWindow"]["MaximumWindowInMinutes"].number or 0)
        if end and start and not TERMINATION_BEFORE_END < end - start - late <= _EARLIEST:
            yield (
                at,
                (
                    f"got {quote(at.text)}: it starts the end of jobs at {start + late:%Y-%m-%d %H:%M} UTC, and the block ends at "
                    f"{end:%Y-%m-%d %H:%M} UTC"
                ),
                f"within the day before {end - TERMINATION_BEFORE_END:%Y-%m-%d %H:%M} UTC",
            )
        elif start and end is None:
            yield from _too_late(at, start, late=late, zone=zone)
    again = any(_period(each.source["ScheduleExpression"].text or "") for each in own)
    for target in (each.target for each in own) if not again else ():
        if target["RetryPolicy"]["MaximumRetryAttempts"].number == 0 and target["DeadLetterConfig"].missing:
            got = "a call that fails is neither repeated nor kept, and the jobs of the block are not ended"
            yield target["RetryPolicy"], got, "retries, or a dead-letter queue with an alarm"
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


def _waits(at: Property) -> Iterator[Property]:
    for each in (*at.members, *at.items):
        if each.path[-1] == "Seconds":
            yield each
        yield from _waits(each)


def _named_time(resource: Resource, word: str) -> datetime | None:
    """Return the default, in UTC, of the only parameter whose name contains a word such as "end"."""
    parameters = resource.template.parameters.items()
    found = [_parsed(str(each.get("Default")), "UTC") for name, each in parameters if word in name.lower()]
    return found[0] if len(found) == 1 else None


def _parsed(text: str, zone: str) -> datetime | None:
    found = _TIME.search(text)
    once = _CRON.fullmatch(text.strip())
    if once and all(once[part].isdigit() for part in (1, 2, 3, 4, 6)):
        text = f"{once[6]}-{once[4]:0>2}-{once[3]:0>2}T{once[2]:0>2}:{once[1]:0>2}"
        found = _TIME.search(text)
    try:
        at = datetime.fromisoformat(found[1] if found else "")
        return at.replace(tzinfo=UTC if found and found[2] else ZoneInfo(zone)).astimezone(UTC)
    except (ValueError, OverflowError, ZoneInfoNotFoundError):
        return None


@rule(IN_TIME, nodes_of)
def groups_leave_their_block(nodes: Nodes) -> Iterator[Wrong]:
    """Find Auto Scaling groups over a Capacity Block that are not empty when it ends, or start before it does."""
    group, templates = nodes.owner, nodes.owner.template.templates
    if group.type != AUTO_SCALING_GROUP or not nodes.in_block:
        return
    actions = group.referrers(_SCALING, "AutoScalingGroupName")
    yield from _kept(group, scheduled=bool(actions))
    if any(each["AutoScalingGroupName"].unknown for each in templates.of_type(_SCALING)):
        return
    yield from _misses_the_end(group, actions)
    end, start = _named_time(group, "end"), _named_time(group, "start")
    timed = [(each, _parsed(each["StartTime"].text or "", "UTC")) for each in actions]
    if end is None or any(at is None for _, at in timed):
        return
    ultra = any(machine.name.partition(".")[0].endswith("u") for machine in nodes.types)
    lead = ULTRASERVER_TERMINATION_BEFORE_END if ultra else TERMINATION_BEFORE_END
    least = lead + _longest_hook(group)
    if not any(
        at and lead < end - at <= _EARLIEST and end - at >= least and _empties(each, actions)
        for each, at in timed
    ):
        yield (
            timed[-1][0]["StartTime"] if timed else group.properties,
            (
                f"{group.logical_id} is not scaled to 0 within the day before its block ends, more than {lead.seconds // 60} minutes before "
                f"{end:%Y-%m-%d %H:%M} UTC"
            ),
            "a scheduled action with MinSize, DesiredCapacity and MaxSize 0",
        )
    for each, at in timed:
        if start and at and at < start and not _empties(each, actions):
            yield each["StartTime"], f"the block starts at {start:%Y-%m-%d %H:%M} UTC", "its start, or later"


def _misses_the_end(group: Resource, actions: list[Resource]) -> Iterator[Wrong]:
    """Find what is wrong with the actions of a group whenever its block ends."""
    leaving = [each for each in actions if _empties(each, actions)]
    for action in actions if not leaving else ():
        got = f"no action scales {group.logical_id} to 0, so that EC2 terminates its nodes before the end of the block"
        yield action["DesiredCapacity"], got, "an action with MinSize, DesiredCapacity and MaxSize 0"
    for action in actions:
        again, at = action["Recurrence"], _parsed(action["StartTime"].text or "", "UTC")
        if action not in leaving and not again.missing and action["EndTime"].missing:
            yield (
                again,
                f"got {quote(again.text)}: nodes are launched again after the end of the block",
                "none",
            )
        if action in leaving and at is not None:
            yield from _too_late(action["StartTime"], at)


def _empties(action: Resource, others: list[Resource]) -> bool:
    if action["MinSize"].missing and any((each["MinSize"].number or 0) > 0 for each in others):
        return False  # what another action set stays
    sizes = [action[name].number for name in ("MinSize", "DesiredCapacity", "MaxSize")]
    return 0 in sizes[1:] and not any(sizes)


def _kept(group: Resource, *, scheduled: bool) -> Iterator[Wrong]:
    """Find what keeps nodes of a group when it is scaled in, or starts them before their block."""
    # Amazon EC2 Auto Scaling user guide, Capacity Blocks, 2026-11: scale in more than 30 minutes before the end.
    protected = group["NewInstancesProtectedFromScaleIn"]
    if protected.flag and scheduled:
        yield protected, "got true: scaling to 0 does not end these nodes", "false"
    for at in (group["MinSize"], group["DesiredCapacity"]):
        if scheduled and (at.number or 0) > 0:
            allowed = "0, and a scheduled action at the start"
            yield at, f"got {at.number}: launches fail until the block starts", allowed
    for wait in _hooks(group):
        if wait.missing or (wait.number or 0) > TERMINATION_BEFORE_END.seconds:
            got = "nodes wait in the hook for longer than from the scale-in to the end of the block"
            yield wait, got, "up to 1800"


def _hooks(group: Resource) -> Iterator[Property]:
    """Return the waits of the hooks that delay the end of nodes."""
    for hook in hooks_of(group):
        if (hook["LifecycleTransition"].text or "").endswith("TERMINATING"):
            yield hook["HeartbeatTimeout"]


def _longest_hook(group: Resource) -> timedelta:
    waits = [each.number or 0 for each in _hooks(group)]
    return timedelta(
        seconds=max([each for each in waits if each <= TERMINATION_BEFORE_END.seconds], default=0)
    )


@dataclass(frozen=True, slots=True)
class Call:
    """A schedule that calls an API of AWS once: when, on which queue or node group, and whether nodes may then run."""

    source: Resource
    at: datetime | None
    on: Resource
    opens: bool


@lru_cache(maxsize=1)
def _calls_of_schedules(templates: Templates) -> tuple[Call, ...]:
    """Return the schedules that open or close queues and node groups."""
    found = []
    for source in templates.of_type(SCHEDULE):
        told = source["Target"]["Input"]
        on = [each for each in told.targets if each.type == QUEUE]
        for group in templates.of_type(NODE_GROUP):
            name = group["NodegroupName"].text
            if group in told.targets or (name and f'"{name}"' in told.pattern):
                on.append(group)
        state = re.search(r'"State"\s*:\s*"(ENABLED|DISABLED)"', told.pattern)
        size = re.search(r'"(?:Desired|Min)Size"\s*:\s*[1-9]', told.pattern)
        late = timedelta(minutes=source["FlexibleTimeWindow"]["MaximumWindowInMinutes"].number or 0)
        at = _start_of(source)
        if len(on) == 1 and (state or "DesiredSize" in told.pattern):
            opens = state[1] == "ENABLED" if state else bool(size)
            found.append(Call(source, at if opens or at is None else at + late, on[0], opens))
    return tuple(found)


def _start_of(source: Resource) -> datetime | None:
    """Return when a schedule runs, if it does so once."""
    at, zone = source["ScheduleExpression"], source["ScheduleExpressionTimezone"].text or "UTC"
    return None if _RATE.fullmatch(at.text or "") else _parsed(at.text or "", zone)


@rule(IN_TIME)
def schedules_leave_the_block(templates: Templates) -> Iterator[Wrong]:
    """Find queues and node groups that schedules open for a block and do not close in time."""
    calls = [each for each in _calls_of_schedules(templates) if each.source["State"].text != "DISABLED"]
    for on in dict.fromkeys(each.on for each in calls):
        own = [each for each in calls if each.on is on]
        times = {each.at: each for each in own if each.at is not None}
        opened = [time for time, each in times.items() if each.opens]
        if any(each.at is None for each in own) or not opened:
            continue
        first, last = min(opened), times[max(times)]
        size = on["ScalingConfig"]["DesiredSize"]
        if on.type == NODE_GROUP and (size.number or 0) > 0:
            got, allowed = (
                f"got {size.number}: launches fail until the block starts",
                "0, and a schedule at the start",
            )
            yield size, got, allowed
        if last.opens:
            got = f"the last schedule for {on.logical_id} lets nodes run, and none closes it before the block ends"
            yield last.source["Target"]["Input"], got, "a schedule that closes it before the end"
            continue
        source = last.source
        late = timedelta(minutes=source["FlexibleTimeWindow"]["MaximumWindowInMinutes"].number or 0)
        zone = source["ScheduleExpressionTimezone"].text or "UTC"
        behind = {on, *(environments_of(on) or ())} if on.type == QUEUE else {on}
        block = any(nodes.in_block and nodes.owner in behind for nodes in nodes_of(templates))
        yield from _too_late(
            source["ScheduleExpression"], max(times) - late, late=late, zone=zone, block=block
        )
        for trigger in (each for each in _triggers(templates) if on in _told(each.worker).targets):
            at, start = trigger.source["ScheduleExpression"], _start_of(trigger.source)
            if start is None or trigger.source["State"].text == "DISABLED":
                continue
            if not first <= start or start < max(times):
                got = f"got {quote(at.text)}, and {on.logical_id} starts jobs from {first:%Y-%m-%d %H:%M} to {max(times):%Y-%m-%d %H:%M} UTC"
                yield at, got, "after the queue is closed"
            yield from _too_late(at, start, block=block)


def _too_late(
    at: Property, time: datetime, *, late: timedelta = timedelta(), zone: str = "UTC", block: bool = False
) -> Iterator[Wrong]:
    """Find times from 11:00 to noon UTC, or to midnight for nodes of a block, and times before 11:00 in another zone only.

    ``late`` is how much later than ``time`` it may become.
    """
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (2026-11)
    closing = time.replace(hour=11, minute=0)
    after = closing + timedelta(hours=13 if block else 1)
    elsewhere = zone in available_timezones() and f"{time.astimezone(ZoneInfo(zone)):%H:%M}" < "11:00"
    if time + late >= closing and (time < after or elsewhere):
        got = f"got {time + late:%H:%M} UTC; Capacity Blocks end at 11:30 UTC, and EC2 ends nodes from 11:00"
        yield at, got, "before 11:00 UTC"


def _acting(templates: Templates) -> list[Resource]:
    """Return the functions and state machines of life cycles, and the functions that these machines invoke."""
    workers = _workers(templates)
    invoked = [to for each in workers if each.type == MACHINE for to in each.properties.targets]
    return list(dict.fromkeys([*workers, *(each for each in invoked if each.type == FUNCTION)]))


@rule("UC6434", _triggers)
def queues_close_at_the_end(trigger: Trigger) -> Iterator[Wrong]:
    """Find functions and state machines that open the queue when its block ends, or close it when its block begins."""
    ends, begins = (_is_about_blocks(trigger.source, word=each) for each in ("Expiration", "Delivered"))
    text = _text_of(trigger.worker)
    if ends is begins or not re.search("update_?(?:job_?queue|compute_?environment)", text, re.IGNORECASE):
        return
    told = {*re.findall(r"\bstate[\"']?\s*[=:]\s*[\"'](ENABLED|DISABLED)", text, re.IGNORECASE)}
    if told == ({"ENABLED"} if ends else {"DISABLED"}):
        got = (
            f"{trigger.worker.logical_id} sets {told.pop()} at the {'end' if ends else 'start'} of the block"
        )
        yield trigger.worker.properties, got, "DISABLED" if ends else "ENABLED"


def _text_of(worker: Resource) -> str:
    return worker["Code"]["ZipFile"].text or json.dumps(worker.properties.value, default=str)


@rule("UC6434", _acting)
def life_cycles_end_running_jobs(worker: Resource) -> Iterator[Wrong]:
    """Find code and definitions that list jobs by status and leave out those that run."""
    text = _text_of(worker)
    if re.search("jobstatus", text, re.IGNORECASE) and _WAITING.search(text) and "RUNNING" not in text:
        at = worker["Code"] if worker.type == FUNCTION else worker.properties
        yield (
            at,
            f"{worker.logical_id} lists jobs that wait only, and those that run are not ended",
            "RUNNING",
        )


@rule(EVENTS)
def block_events_arrive(templates: Templates) -> Iterator[Wrong]:
    """Find patterns of events about Capacity Blocks that match none, and inputs that replace the event."""
    for trigger in _triggers(templates):
        hidden = [each for each in (trigger.target["Input"], trigger.target["InputPath"]) if not each.missing]
        if hidden and trigger.worker in life_cycles(templates) and _is_about_blocks(trigger.source):
            yield hidden[0], "the function gets this instead of EC2's event", "the whole event"
    about = [each for each in templates.of_type(EVENT_RULE) if _is_about_blocks(each)]
    warnings = {*BLOCK_EXPIRATION_WARNING_EVENTS}
    for source in about:
        pattern, kinds = source["EventPattern"], source["EventPattern"]["detail-type"]
        senders, named = pattern["source"].texts, _kinds(pattern)
        if senders and None not in senders and "aws.ec2" not in senders:
            yield pattern["source"], f"got {', '.join(map(str, senders))}", "aws.ec2"
        unknown = [
            each for each in kinds.items if "Capacity Block" in (each.text or "") and each.text not in _EVENTS
        ]
        for each in unknown:
            yield each, f"got {quote(each.text)}, which EC2 does not send", ", ".join(sorted(_EVENTS))
        warned = named & {*warnings, INSTANCE_INTERRUPTION_WARNING_EVENT}
        elsewhere = any(_kinds(each["EventPattern"]) & warnings for each in about if each is not source)
        if warned == {BLOCK_EXPIRATION_WARNING_EVENTS[1]}:
            got = f"only {quote(BLOCK_EXPIRATION_WARNING_EVENTS[1])}, an older name of the event"
            yield kinds, got, " and ".join(BLOCK_EXPIRATION_WARNING_EVENTS)
        if not warned and not unknown and not elsewhere and None not in kinds.texts:
            got = "the warning before the end is not among the events"
            yield kinds, got, " and ".join(BLOCK_EXPIRATION_WARNING_EVENTS)
        yield from _narrowed(pattern)


def _narrowed(pattern: Property) -> Iterator[Wrong]:
    nodes = [each for each in nodes_of(pattern.resource.template.templates) if each.may_be_in_block]
    blocks = [each.target["CapacityReservationId"].value for each in nodes]
    named, own = pattern["detail"]["capacity-reservation-id"], pattern.resource.region
    known = named.items and all(isinstance(each.value, str | Reference) for each in named.items)
    if blocks and known and all(differ(block, each.value) for each in named.items for block in blocks):
        yield named, f"got {named.items[0].pattern}, and nodes are launched into {blocks[0]}", f"{blocks[0]}"
    details = _DETAIL | (_OF_INSTANCE if INSTANCE_INTERRUPTION_WARNING_EVENT in _kinds(pattern) else set())
    for key in pattern["detail"].members:
        if key.path[-1] not in details:
            got = f"the events have no {quote(key.path[-1])}, so that none of them matches"
            yield key, got, ", ".join(sorted(_DETAIL))
    accounts, regions = pattern["account"], pattern["region"].texts
    if accounts.items and all(accounts.texts):
        yield accounts, f"events of {accounts.texts[0]} only", "no account"
    if own and regions and all(each not in {own, None} for each in regions):
        yield pattern["region"], f"got {regions[0]}, and the stack is in {own}", own


@rule(RUNNING, FUNCTION)
def functions_can_run(function: Resource) -> Iterator[Wrong]:
    """Find functions that Lambda refuses or never runs, and those of a life cycle that end before they could end jobs."""
    at = function["Timeout"]
    short = at.missing or (at.number is not None and at.number < _SHORTEST_TIMEOUT)
    if short and function in life_cycles(function.template.templates):
        got = "no timeout, which is 3 seconds" if at.missing else f"{at.number} seconds"
        yield at, f"got {got}; ending the jobs of a block takes many calls", f"{_SHORTEST_TIMEOUT} to 900"
    most = function["ReservedConcurrentExecutions"]
    handler = function["Handler"]
    runtime = function["Runtime"]
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
    role, called = role_of(_role_at(worker)), _calls(worker)
    invoked = [role_of(_role_at(each)) for each in _told(worker).targets if each.type == FUNCTION]
    if worker.type == MACHINE and any(each is not None and may(each, _TERMINATE) for each in invoked):
        return  # a function that it invokes ends them
    if called is not None and not called & {*_ENDING}:
        got = f"{worker.logical_id} ends no job: it calls {', '.join(sorted(called)) or 'nothing'}"
        yield worker.properties, got, _TERMINATE
    if role is None:
        return
    ends = any(may(role, action, many=action == _TERMINATE) for action in _ENDING)
    lacking = [] if ends else [_TERMINATE]
    reading = {"batch:ListJobs"} | (set() if _knows_end(worker) else {_DESCRIBE})
    needed = reading if called is None else called - {*_ENDING}
    if may(role, _TERMINATE) or called is not None:
        lacking += [action for action in sorted(needed) if not may(role, action)]
    for kind, action in _STATES.items():
        named = [each for each in _told(worker).targets if each.type == kind]
        used = named and (called is None or action in called) and action not in lacking
        if used and not any(may(role, action, each) for each in named):
            lacking.append(f"{action} on {named[0].logical_id}")
    if lacking:
        got = f"{role.logical_id} does not allow {', '.join(lacking)}, and {worker.logical_id} cannot end the jobs of the block"
        yield _role_at(worker), got, "what the function does, on the queue of the block"


def _knows_end(worker: Resource) -> bool:
    texts = [each.text or "" for each in _told(worker)["Variables"].members]
    return any(map(_TIME.search, texts)) or not any(map(_RESERVATION_ID.fullmatch, texts))


@rule("UC6434", "AWS::IAM::Role")
def jobs_are_submitted_to_their_queue(role: Resource) -> Iterator[Wrong]:
    """Find roles that may submit jobs, and not to the queues of these templates."""
    queues = list(role.template.templates.of_type(QUEUE))
    unnamed = queues and not any(queue["JobQueueName"].text for queue in queues)
    for statement in statements_of(role) if unnamed else ():
        if not any(each.text == "batch:SubmitJob" for each in statement["Action"].one_or_more):
            continue
        named = [
            each
            for each in statement["Resource"].one_or_more
            if ":job-queue/" in each.pattern or any(target.type == QUEUE for target in each.targets)
        ]
        fixed = [
            each
            for each in named
            if not each.targets and "*" not in (fixed_arn(each) or "*").rpartition(":")[2]
        ]
        if named and len(fixed) == len(named):
            got = f"got {fixed[0].pattern}, and the queue is {queues[0].logical_id}"
            yield fixed[0], got, "the ARN of the queue"


@rule("UC6435", _workers)
def life_cycles_are_aimed_at_their_block(worker: Resource) -> Iterator[Wrong]:
    """Find functions and state machines of a life cycle that know another queue or reservation than that of the nodes."""
    templates, told = worker.template.templates, _told(worker)
    nodes = [each for each in nodes_of(templates) if each.may_be_in_block]
    owners, role = {each.owner for each in nodes}, role_of(_role_at(worker))
    blocks = [each.target["CapacityReservationId"].value for each in nodes]
    kinds, variables = {each.type for each in told.targets}, told["Variables"].members
    known = bool(variables) and not any(each.unknown for each in variables)
    if worker.type == MACHINE:
        known = _calls(worker) is not None
    meant = [target for each in (statements_of(role) if role else ()) for target in each["Resource"].targets]
    for target in dict.fromkeys(meant) if known else ():
        if target.type in _STATES and target.type not in kinds:
            got = f"got nothing that names {target.logical_id}, which its role is for"
            yield told, got, target.logical_id
    over = [each.logical_id for each in templates.of_type(QUEUE) if owners & {*(environments_of(each) or ())}]
    for target in told.targets if owners else ():
        behind = {target} if target.type == COMPUTE_ENVIRONMENT else {*(environments_of(target) or owners)}
        elsewhere = any(each["Type"].text == "UNMANAGED" for each in behind)  # nodes join those by themselves
        if target.type in _STATES and not owners & behind and not elsewhere:
            yield told, f"got {target.logical_id}, whose nodes are in no block", " or ".join(over)
    for at in variables if blocks else ():
        if _RESERVATION_ID.fullmatch(at.text or "") and all(differ(at.value, each) for each in blocks):
            yield at, f"got {at.text}, and nodes are launched into {blocks[0]}", str(blocks[0])


@rule(CALLING, _triggers)
def functions_may_be_invoked(trigger: Trigger) -> Iterator[Wrong]:
    """Find rules and schedules that may not invoke their function."""
    source, target, worker = trigger.source, trigger.target, trigger.worker
    action = "states:StartExecution" if worker.type == MACHINE else "lambda:InvokeFunction"
    at, role = target["RoleArn"], role_of(target["RoleArn"])
    if worker.type == MACHINE and at.missing:
        yield at, "no role, which EventBridge needs to start a state machine", f"a role that allows {action}"
    elif source.type == SCHEDULE or not at.missing:
        if role is not None and not may(role, action, worker):
            yield at, f"{role.logical_id} does not allow {action} on {worker.logical_id}", f"{action} on it"
    elif not any(
        lets_invoke(each, "events.amazonaws.com", source, target["Arn"])
        for each in worker.template.templates.of_type(_PERMISSION)
    ):
        got = f"no permission lets {source.logical_id} invoke {worker.logical_id}: the function never runs, and no deployment fails"
        allowed = "AWS::Lambda::Permission for events.amazonaws.com, with the rule as SourceArn"
        yield target["Arn"], got, allowed


@rule("UC6437", *_STATES)
def closed_queues_are_opened(resource: Resource) -> Iterator[Wrong]:
    """Find disabled queues and environments that nothing in the templates may enable."""
    functions = resource.template.templates.of_type(FUNCTION)
    opening = [each for each in functions if "ENABLED" in (each["Code"]["ZipFile"].text or "ENABLED")]
    roles = [role_of(each["Role"]) for each in opening]
    scheduled = any(
        each.opens and each.on is resource for each in _calls_of_schedules(resource.template.templates)
    )
    opened = scheduled or any(role is None or may(role, _STATES[resource.type], resource) for role in roles)
    if resource["State"].text == "DISABLED" and not opened:
        yield resource["State"], "got DISABLED, and nothing here may enable it: no job starts", "ENABLED"
