"""Lifecycle hooks of Auto Scaling groups: an event that comes, to what can act on it, in the time of the hook."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.codes import EVENTS, IN_TIME, REFERENCES
from ultracluster_checks.model.nodes import AUTO_SCALING_GROUP, EVENT_RULE, Nodes, nodes_of
from ultracluster_checks.model.permissions import may, role_of
from ultracluster_checks.model.template import Property, Resource
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.workers import FUNCTION, worker_at
from ultracluster_rules.findings import quote

# https://docs.aws.amazon.com/autoscaling/ec2/userguide/automating-ec2-auto-scaling-with-eventbridge.html (2026-11)
_ENDING: Final = "EC2 Instance-terminate Lifecycle Action"
_TRANSITIONS: Final = {
    _ENDING: "autoscaling:EC2_INSTANCE_TERMINATING",
    "EC2 Instance-launch Lifecycle Action": "autoscaling:EC2_INSTANCE_LAUNCHING",
}
_ENDED: Final = "EC2 Instance Terminate Successful"
_ON_NODES: Final = ("ssm:SendCommand", "autoscaling:CompleteLifecycleAction")
_HEARTBEAT: Final = 3600
"""Seconds that a hook waits by default. Amazon EC2 Auto Scaling API reference, LifecycleHookSpecification (2026-11)."""


def hooks_of(group: Resource) -> list[Property]:
    """Return the lifecycle hooks of a group, also those that are resources of their own."""
    alone = group.referrers("AWS::AutoScaling::LifecycleHook", "AutoScalingGroupName")
    return [*group["LifecycleHookSpecificationList"].items, *(each.properties for each in alone)]


@rule(EVENTS, EVENT_RULE)
def hooks_send_the_event(source: Resource) -> Iterator[Wrong]:
    """Find rules that wait for a lifecycle action which no hook of the group brings about.

    Amazon EC2 Auto Scaling user guide, lifecycle hooks and EventBridge events (2026-11).
    """
    pattern = source["EventPattern"]
    kinds, named = pattern["detail-type"], pattern["detail"]["AutoScalingGroupName"]
    waits = [each for each in kinds.texts if each in _TRANSITIONS]
    about = [each.target for each in named.items if each.target and each.target.type == AUTO_SCALING_GROUP]
    for group in about:
        given = {hook["LifecycleTransition"].text for hook in hooks_of(group)}
        for kind in waits if None not in given else ():
            if _TRANSITIONS[kind or ""] not in given:
                got = f"{group.logical_id} has no hook for it, so that Auto Scaling never sends {quote(kind)}"
                yield kinds, got, f"a hook with {_TRANSITIONS[kind or '']}"


@rule(EVENTS, EVENT_RULE)
def nodes_are_there_when_asked(source: Resource) -> Iterator[Wrong]:
    """Find functions that are to act on a node, and are called when it has been terminated.

    Amazon EC2 Auto Scaling user guide, EventBridge events (2026-11): "Terminate Successful" comes after the end.
    """
    kinds = source["EventPattern"]["detail-type"]
    for target in source["Targets"].items if _ENDED in kinds.texts else ():
        worker = worker_at(target["Arn"])
        role = role_of(worker["Role"]) if worker is not None and worker.type == FUNCTION else None
        if role is not None and any(may(role, action) for action in _ON_NODES):
            yield kinds, f"got {quote(_ENDED)}: the node has gone when the function is called", _ENDING


@rule(IN_TIME, AUTO_SCALING_GROUP)
def hooks_wait_for_what_they_start(group: Resource) -> Iterator[Wrong]:
    """Find hooks that end before the function or command that they wait for.

    Amazon EC2 Auto Scaling user guide, lifecycle hooks (2026-11): the default result follows after the timeout.
    """
    for hook in hooks_of(group):
        wait = hook["HeartbeatTimeout"]
        seconds = _HEARTBEAT if wait.missing else wait.number
        for work, longest in _work_of(group, hook["LifecycleTransition"].text) if seconds else ():
            if seconds is not None and seconds < longest:
                got = f"the hook ends after {seconds} seconds, and {work.logical_id} may take {longest}"
                yield (hook if wait.missing else wait), got, f"more than {longest} seconds"


@rule(REFERENCES, nodes_of)
def scripts_name_their_hook(nodes: Nodes) -> Iterator[Wrong]:
    """Find nodes that complete the lifecycle action of a hook or group with another name than theirs."""
    data, group = nodes.data["UserData"], nodes.owner
    if group.type != AUTO_SCALING_GROUP:
        return
    hooks = [hook["LifecycleHookName"] for hook in hooks_of(group)]
    for option, names in (
        ("lifecycle-hook-name", hooks),
        ("auto-scaling-group-name", [group["AutoScalingGroupName"]]),
    ):
        found = re.search(
            rf"complete-lifecycle-action\b[^;&|]*?--{option}[= \\\n]+[\"']?([^\s\"'\\]+)", data.pattern
        )
        known = [each.pattern for each in names if not each.missing]
        if found and known and "$" not in found[1].replace("${AWS::", "") and found[1] not in known:
            yield data, f"--{option} is {found[1]}, which {group.logical_id} does not have", known[0]


def _work_of(group: Resource, transition: str | None) -> Iterator[tuple[Resource, int]]:
    """Return the functions that a hook calls, and the commands that these send, with their timeouts in seconds."""
    for source in group.template.templates.of_type(EVENT_RULE):
        pattern = source["EventPattern"]
        named = pattern["detail"]["AutoScalingGroupName"]
        waits = {_TRANSITIONS.get(each or "") for each in pattern["detail-type"].texts}
        if transition not in waits or (named.items and group not in named.targets):
            continue
        for worker in filter(None, (worker_at(each["Arn"]) for each in source["Targets"].items)):
            if worker.type == FUNCTION and (seconds := worker["Timeout"].number):
                yield worker, seconds
            for document in {each for each in worker.properties.targets if each.type == "AWS::SSM::Document"}:
                steps = document["Content"]["mainSteps"].items
                limits = [each["inputs"]["timeoutSeconds"].number for each in steps]
                if limits and None not in limits:
                    yield document, sum(each or 0 for each in limits)
