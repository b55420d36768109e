"""Auto Scaling groups that a schedule opens for a Capacity Block, and empties before its end."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from ultracluster_catalog.capacity.capacity_blocks import (
    TERMINATION_BEFORE_END,
    ULTRASERVER_TERMINATION_BEFORE_END,
)
from ultracluster_checks.codes import IN_TIME
from ultracluster_checks.model.nodes import (
    AUTO_SCALING_GROUP,
    Nodes,
    nodes_of,
)
from ultracluster_checks.model.template import Property, Resource
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.times import default_time, moment, too_late
from ultracluster_spec.findings import quote

_LONGEST_LEAD: Final = timedelta(hours=24)
_SCALING: Final = "AWS::AutoScaling::ScheduledAction"
_BEFORE_START: Final = "launches fail until the block starts"


def _hooks_of(group: Resource) -> list[Property]:
    """Return the lifecycle hooks of a group, also those that are resources of their own."""
    alone = group.referrers("AWS::AutoScaling::LifecycleHook", "AutoScalingGroupName")
    return [*group["LifecycleHookSpecificationList"].items, *(each.properties for each in alone)]


@rule(IN_TIME, nodes_of)
def groups_leave_their_block(nodes: Nodes) -> Iterator[Wrong]:
    """Find Auto Scaling groups over a Capacity Block that are not empty when it ends, or start before it does."""
    group, templates = nodes.owner, nodes.owner.template.templates
    if group.type != AUTO_SCALING_GROUP or not nodes.in_block:
        return
    actions = group.referrers(_SCALING, "AutoScalingGroupName")
    waits = [
        hook["HeartbeatTimeout"]
        for hook in _hooks_of(group)
        if (hook["LifecycleTransition"].text or "").endswith("TERMINATING")
    ]
    yield from _stays(group, waits, scheduled=bool(actions))
    if any(each["AutoScalingGroupName"].unknown for each in templates.of_type(_SCALING)):
        return
    yield from _misses_any_end(group, actions, waits)
    end, start = default_time(group, "end"), default_time(group, "start")
    times = {each: moment(each["StartTime"].text) for each in actions}
    if end is None or None in times.values():
        return
    ultra = any(instance_type.name.partition(".")[0].endswith("u") for instance_type in nodes.types)
    lead = ULTRASERVER_TERMINATION_BEFORE_END if ultra else TERMINATION_BEFORE_END
    longest = TERMINATION_BEFORE_END.seconds
    hook = max((each.number or 0 for each in waits if (each.number or 0) <= longest), default=0)
    least = lead + timedelta(seconds=hook)
    leads = [end - at for action, at in times.items() if at and _empties(action, actions)]
    if not any(lead < each <= _LONGEST_LEAD and each >= least for each in leads):
        at = actions[-1]["StartTime"] if actions else group.properties
        day = f"within the day before its block ends, more than {lead.seconds // 60} minutes before {end:%Y-%m-%d %H:%M} UTC"
        allowed = "a scheduled action with MinSize, DesiredCapacity and MaxSize 0"
        yield at, f"{group.logical_id} is not scaled to 0 {day}", allowed
    for action, time in times.items():
        if start and time and time < start and not _empties(action, actions):
            got = f"the block starts at {start:%Y-%m-%d %H:%M} UTC"
            yield action["StartTime"], got, "its start, or later"


def _misses_any_end(group: Resource, actions: list[Resource], waits: list[Property]) -> Iterator[Wrong]:
    """Find what is wrong with the actions of a group whenever its block ends."""
    leaving = [each for each in actions if _empties(each, actions)]
    for action in actions if not leaving else ():
        got = f"no action scales {group.logical_id} to 0, so that EC2 terminates its nodes before the end of the block"
        yield action["DesiredCapacity"], got, "an action with MinSize, DesiredCapacity and MaxSize 0"
    longest = min(max((each.number or 0 for each in waits), default=0), TERMINATION_BEFORE_END.seconds)
    saving = timedelta(seconds=max(longest - 1, 0))  # until just before EC2 begins, which is early enough
    for action in actions:
        again, time = action["Recurrence"], moment(action["StartTime"].text)
        if action in leaving and time is not None:
            yield from too_late(action["StartTime"], time, late=saving)
        elif action in leaving and not again.missing and action["EndTime"].missing:
            got = f"got {quote(again.text)}: all nodes are ended again and again within the block"
            yield again, got, "StartTime, once before the end of the block"
        elif action not in leaving and not again.missing and action["EndTime"].missing:
            got = f"got {quote(again.text)}: nodes are launched again after the end of the block"
            yield again, got, "none"


def _empties(action: Resource, actions: list[Resource]) -> bool:
    if action["MinSize"].missing and any((each["MinSize"].number or 0) > 0 for each in actions):
        return False  # what another action set stays
    sizes = [action[name].number for name in ("MinSize", "DesiredCapacity", "MaxSize")]
    return 0 in sizes[1:] and not any(sizes)


def _stays(group: Resource, waits: list[Property], *, scheduled: bool) -> Iterator[Wrong]:
    """Find what keeps nodes of a group when it is scaled in, or starts them before their block."""
    # Amazon EC2 Auto Scaling user guide, Capacity Blocks, 2026-11: scale in more than 30 minutes before the end.
    protected = group["NewInstancesProtectedFromScaleIn"]
    if protected.flag and scheduled:
        yield protected, "got true: scaling to 0 does not end these nodes", "false"
    for size in (group["MinSize"], group["DesiredCapacity"]):
        if scheduled and (size.number or 0) > 0:
            yield size, f"got {size.number}: {_BEFORE_START}", "0, and a scheduled action at the start"
    for wait in waits:
        if wait.missing or (wait.number or 0) > TERMINATION_BEFORE_END.seconds:
            got = "nodes wait in the hook for longer than from the scale-in to the end of the block"
            yield wait, got, "up to 1800"
