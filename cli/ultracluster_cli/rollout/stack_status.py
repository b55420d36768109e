"""Compare the stacks of a cluster in CloudFormation with a planned rollout."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ultracluster_catalog.observability.alarms import REMINDING_ALARMS
from ultracluster_cli._aws.deployed_template import EMPTY_STATES, read_deployed, stack_resources
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.rollout.plan import PlannedCluster, PlannedStack

_HEALTHY = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE"})
_NAMES_AT_ONCE = 100  # limit of DescribeAlarms
_ALARM = "AWS::CloudWatch::Alarm"
_COMPOSITE = "AWS::CloudWatch::CompositeAlarm"
# Logical IDs in ClusterAlarms: construct path, alarm ID and the hash of the CDK.
_ALARM_OF_CLUSTER = re.compile(r".*Alarms([A-Z][A-Za-z]*)[0-9A-F]{8}")
# CloudFormation returns these characters as question marks.
_NOT_KEPT = re.compile(r"[^\x00-\x7f]")


@dataclass(frozen=True, kw_only=True, slots=True)
class StackStatus:
    """A stack in CloudFormation: its status, None without it, and the digest of its template, None without resources."""

    planned: PlannedStack
    status: str | None
    digest: str | None


def template_digest(template: Mapping[str, Any]) -> str:
    """Return a digest of a template, ignoring differences that CloudFormation does not preserve."""
    text = json.dumps(template, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(_NOT_KEPT.sub("?", text).encode("ascii")).hexdigest()


def describe_stacks(stacks: Sequence[PlannedStack], *, client: Clients) -> list[StackStatus]:
    """Read the stacks of a cluster from CloudFormation."""
    return [_describe_stack(stack, client("cloudformation", stack.region)) for stack in stacks]


def _describe_stack(stack: PlannedStack, cloudformation: Any) -> StackStatus:
    deployed = read_deployed(stack.name, cloudformation)
    digest = None if deployed.template is None else template_digest(deployed.template)
    return StackStatus(planned=stack, status=deployed.status, digest=digest)


def changing_stacks(stacks: Sequence[StackStatus]) -> list[str]:
    """Describe the stacks with an operation in progress."""
    return [
        f"{stack.planned.name} is {stack.status}"
        for stack in stacks
        if stack.status and stack.status.endswith("_IN_PROGRESS") and stack.status not in EMPTY_STATES
    ]


def differing_stacks(stacks: Sequence[StackStatus]) -> list[str]:
    """Describe the stacks that have neither the template before the rollout nor the planned one."""
    return [
        f"{stack.planned.name} has changed since this rollout was planned"
        for stack in stacks
        if stack.digest not in {stack.planned.before, stack.planned.after}
    ]


def unhealthy_stacks(stacks: Sequence[StackStatus]) -> list[str]:
    """Describe the stacks that differ from the plan or are unhealthy."""
    return [
        f"{stack.planned.name} is {stack.status or 'missing'}"
        for stack in stacks
        if stack.status not in _HEALTHY
    ] + [
        f"{stack.planned.name} has changed since it was deployed"
        for stack in stacks
        if stack.status in _HEALTHY and stack.digest != stack.planned.after
    ]


def alarms_of(cluster: PlannedCluster, *, client: Clients) -> Iterator[str]:
    """Return the names of the alarms that a deployment must not set off.

    Reminder alarms are excluded: they fire while a canary is idle or its block nears the end. The composite alarm of
    the cluster is excluded too, since its members are checked individually.
    """
    for stack in cluster.stacks:
        for resource in stack_resources(stack.name, client("cloudformation", stack.region)):
            if _judges(resource):
                yield resource["PhysicalResourceId"]


def _judges(resource: Mapping[str, Any]) -> bool:
    kind, match = resource["ResourceType"], _ALARM_OF_CLUSTER.fullmatch(resource["LogicalResourceId"])
    own_id = match[1] if match else None
    return (kind == _ALARM and own_id not in REMINDING_ALARMS) or (kind == _COMPOSITE and own_id != "Cluster")


def firing_alarms(names: Sequence[str], cloudwatch: Any) -> Iterator[Mapping[str, Any]]:
    """Return the alarms among `names` that are in ALARM."""
    for first in range(0, len(names), _NAMES_AT_ONCE):
        answer = cloudwatch.describe_alarms(
            AlarmNames=names[first : first + _NAMES_AT_ONCE],
            AlarmTypes=["MetricAlarm", "CompositeAlarm"],
            MaxRecords=_NAMES_AT_ONCE,
        )
        for alarm in (*answer.get("MetricAlarms", ()), *answer.get("CompositeAlarms", ())):
            if alarm["StateValue"] == "ALARM":
                yield alarm
