"""Auto Scaling groups that a schedule opens for a Capacity Block, and empties before its end."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from ultracluster_catalog.capacity.capacity_blocks import (
    TERMINATION_BEFORE_END,
    ULTRASERVER_TERMINATION_BEFORE_END,
)
from ultracluster_checks.codes import IN_TIME
from ultracluster_checks.model.nodes import AUTO_SCALING_GROUP, Nodes, nodes_of
from ultracluster_checks.model.template import Property, Resource
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.times import moment
from ultracluster_spec.findings import quote

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
    yield from _misses_the_end(nodes, actions, waits)


def _misses_the_end(nodes: Nodes, actions: list[Resource], waits: list[Property]) -> Iterator[Wrong]:
    """Find what is wrong with the actions of a group whichever day its block ends."""
    ultra = any(instance_type.name.partition(".")[0].endswith("u") for instance_type in nodes.types)
    lead = ULTRASERVER_TERMINATION_BEFORE_END if ultra else TERMINATION_BEFORE_END
    leaving = [each for each in actions if _empties(each, actions)]
    for action in actions if not leaving else ():
        got = f"no action scales {nodes.name} to 0, so that EC2 terminates its nodes before the end of the block"
        yield action["DesiredCapacity"], got, "an action with MinSize, DesiredCapacity and MaxSize 0"
    longest = min(max((each.number or 0 for each in waits), default=0), TERMINATION_BEFORE_END.seconds)
    saving = timedelta(seconds=max(longest - 1, 0))  # until just before EC2 begins, which is early enough
    for action in actions:
        again, time = action["Recurrence"], moment(action["StartTime"].text)
        if action in leaving and time is not None:
            # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (2026-11)
            end = time.replace(hour=11, minute=30)
            closing = f"{end - lead:%H:%M} UTC"
            if time + saving >= end - lead and time < end + timedelta(minutes=30):
                got = f"got {time + saving:%H:%M} UTC; Capacity Blocks end at 11:30 UTC, and EC2 ends nodes from {closing}"
                yield action["StartTime"], got, f"before {closing}"
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
