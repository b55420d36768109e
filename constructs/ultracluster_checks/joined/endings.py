"""When a Capacity Block ends, and what is planned for that time: schedules, leads, and actions of Auto Scaling groups."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ultracluster_catalog.capacity.capacity_blocks import TERMINATION_BEFORE_END
from ultracluster_checks.joined.life import MACHINE, life_cycles
from ultracluster_checks.joined.nodes import Nodes, nodes_of
from ultracluster_checks.machines import AUTO_SCALING_GROUP
from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import DRAIN_IN_TIME, NO_MIXED_INSTANCES
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_checks.values import Unknown
from ultracluster_rules.findings import quote

_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::\d\d)?(Z|\+00:00)?")
_LEAD: Final = re.compile(r"(?i)(?!.*checkpoint).*lead.*(minute|second)s?")
_LATEST: Final = TERMINATION_BEFORE_END
_EARLIEST: Final = timedelta(hours=24)
_ACTION: Final = "AWS::AutoScaling::ScheduledAction"
# Amazon EC2 Auto Scaling user guide, Capacity Blocks, 2026-11: scale in more than 30 minutes before the end; no warm pools.


def _named_time(template: Resource, word: str) -> datetime | None:
    """Return the time that a parameter of a template is named for, such as the end of its block, in UTC."""
    found = []
    for name, parameter in template.template.parameters.items():
        if word in name.lower():
            found.append(_parsed(str(parameter.get("Default")), "UTC"))
    return found[0] if len(found) == 1 else None


def _parsed(text: str, zone: str) -> datetime | None:
    found = _TIME.search(text)
    if found is None:
        return None
    try:
        at = datetime.fromisoformat(found[1])
        return at.replace(tzinfo=UTC if found[2] else ZoneInfo(zone)).astimezone(UTC)
    except (ValueError, OverflowError, ZoneInfoNotFoundError):
        return None


def life_cycles_start_in_time(templates: Templates) -> Iterator[Problem]:
    """Find schedules, leads and waits after which the nodes of a block are already being terminated."""
    for worker, own in life_cycles(templates).items():
        end = _named_time(worker, "end")
        for trigger in own:
            expression, window = trigger.source["ScheduleExpression"], trigger.source["FlexibleTimeWindow"]
            zone = trigger.source["ScheduleExpressionTimezone"].text or "UTC"
            at = _parsed(expression.text or "", zone) if (expression.text or "").startswith("at(") else None
            late = timedelta(minutes=window["MaximumWindowInMinutes"].number or 0)
            if end and at and not _LATEST < end - at - late <= _EARLIEST:
                yield _too_late(
                    expression, f"it starts the end of jobs at {at + late:%Y-%m-%d %H:%M} UTC", end
                )
        for variable in worker["Environment"]["Variables"].members:
            unit = _LEAD.fullmatch(str(variable.path[-1]))
            if unit and variable.number is not None:
                lead = timedelta(**{f"{unit[1].lower()}s": min(variable.number, 10**6)})
                if lead <= _LATEST:
                    yield Problem.of(
                        variable,
                        DRAIN_IN_TIME,
                        f"got {variable.number}; EC2 terminates nodes from 30 minutes before the end",
                        "more than 30 minutes",
                    )
        for wait in _waits(worker.properties) if worker.type == MACHINE else ():
            if (wait.number or 0) >= 600:  # noqa: PLR2004 - seconds from the warning to the termination
                yield Problem.of(
                    wait,
                    DRAIN_IN_TIME,
                    f"got {wait.number} seconds, and from EC2's warning to the end of nodes are 600",
                    "less",
                )


def _waits(at: Property) -> Iterator[Property]:
    for each in (*at.members, *at.items):
        if each.path[-1] == "Seconds":
            yield each
        yield from _waits(each)


def _too_late(at: Property, problem: str, end: datetime) -> Problem:
    return Problem.of(
        at,
        DRAIN_IN_TIME,
        f"got {quote(at.text)}: {problem}, and the block ends at {end:%Y-%m-%d %H:%M} UTC",
        f"within the day before {end - _LATEST:%Y-%m-%d %H:%M} UTC",
    )


def groups_leave_their_block(templates: Templates) -> Iterator[Problem]:
    """Find Auto Scaling groups over a Capacity Block that are not empty when it ends, or start before it does."""
    for nodes in nodes_of(templates):
        if nodes.owner.type != AUTO_SCALING_GROUP or not nodes.in_block:
            continue
        yield from _kept(templates, nodes)
        actions = [
            each for each in templates.of_type(_ACTION) if each["AutoScalingGroupName"].target is nodes.owner
        ]
        end, start = _named_time(nodes.owner, "end"), _named_time(nodes.owner, "start")
        timed = [(each, _parsed(each["StartTime"].text or "", "UTC")) for each in actions]
        if (
            end is None
            or any(at is None for _, at in timed)
            or any(
                isinstance(each["AutoScalingGroupName"].value, Unknown) for each in templates.of_type(_ACTION)
            )
        ):
            continue
        last = [each for each, at in timed if at and _LATEST < end - at <= _EARLIEST and _empties(each)]
        if not last:
            place = timed[-1][0]["StartTime"] if timed else nodes.owner.properties
            yield Problem.of(
                place,
                DRAIN_IN_TIME,
                f"{nodes.owner.logical_id} is not scaled to 0 within the day before its block ends, more than 30 minutes before "
                f"{end:%Y-%m-%d %H:%M} UTC",
                "a scheduled action with MinSize, DesiredCapacity and MaxSize 0",
            )
        for each, at in timed:
            if start and at and at < start and not _empties(each):
                yield Problem.of(
                    each["StartTime"],
                    DRAIN_IN_TIME,
                    f"the block starts at {start:%Y-%m-%d %H:%M} UTC",
                    "its start, or later",
                )


def _empties(action: Resource) -> bool:
    sizes = [action[name].number for name in ("MinSize", "DesiredCapacity", "MaxSize")]
    return 0 in sizes[1:] and not any(sizes)


def _kept(templates: Templates, nodes: Nodes) -> Iterator[Problem]:
    """Find what keeps nodes of a group when it is scaled in, or starts them before their block."""
    group = nodes.owner
    protected = group["NewInstancesProtectedFromScaleIn"]
    if protected.flag:
        yield Problem.of(protected, DRAIN_IN_TIME, "got true: scaling to 0 does not end these nodes", "false")
    for name in ("MinSize", "DesiredCapacity"):
        if (group[name].number or 0) > 0 and any(
            each["AutoScalingGroupName"].target is group for each in templates.of_type(_ACTION)
        ):
            yield Problem.of(
                group[name],
                DRAIN_IN_TIME,
                f"got {group[name].number}: launches fail until the block starts",
                "0, and a scheduled action at the start",
            )
    hooks = [*group["LifecycleHookSpecificationList"].items]
    hooks += [
        each.properties
        for each in templates.of_type("AWS::AutoScaling::LifecycleHook")
        if each["AutoScalingGroupName"].target is group
    ]
    for hook in hooks:
        wait = hook["HeartbeatTimeout"]
        if (hook["LifecycleTransition"].text or "").endswith("TERMINATING") and (
            wait.missing or (wait.number or 0) > _LATEST.seconds
        ):
            yield Problem.of(
                wait,
                DRAIN_IN_TIME,
                "nodes wait in the hook for longer than from the scale-in to the end of the block",
                "up to 1800",
            )
    for pool in templates.of_type("AWS::AutoScaling::WarmPool"):
        if pool["AutoScalingGroupName"].target is group:
            yield Problem.of(
                pool.properties,
                NO_MIXED_INSTANCES,
                "a warm pool over a Capacity Block, which Amazon EC2 Auto Scaling does not support",
                "none",
            )
