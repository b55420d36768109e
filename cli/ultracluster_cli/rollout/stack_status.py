"""What CloudFormation has of a cluster, next to what a rollout has planned for it."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ultracluster_catalog.observability.alarms import REMINDING_ALARMS
from ultracluster_cli._aws.clients import Client
from ultracluster_cli._aws.deployed_template import EMPTY_STATES, read_deployed
from ultracluster_runtime.rollout.plan import PlannedCluster, PlannedStack

__all__ = ["SeenStack", "alarms_of", "changing", "differing", "look", "template_digest", "unhealthy"]

_HEALTHY = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE"})
_ALARM = "AWS::CloudWatch::Alarm"
_COMPOSITE = "AWS::CloudWatch::CompositeAlarm"
# Logical ids of what ClusterAlarms defines: its own id, that of the alarm, and the hash of the CDK.
_ALARM_OF_CLUSTER = re.compile(r".*Alarms([A-Z][A-Za-z]*)[0-9A-F]{8}")
# CloudFormation gives a question mark for each of these; so does the diff of the CDK CLI before it compares.
_NOT_KEPT = re.compile(r"[^\x00-\x7f]")


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenStack:
    """A stack as CloudFormation has it.

    Attributes:
        planned: What is planned for it.
        status: Its status. None if it is not there.
        digest: Of its template. None if it holds nothing.
    """

    planned: PlannedStack
    status: str | None
    digest: str | None


def template_digest(template: Mapping[str, Any]) -> str:
    """Give a digest that two templates share if CloudFormation can see no difference between them."""
    text = json.dumps(template, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(_NOT_KEPT.sub("?", text).encode("ascii")).hexdigest()


def look(stacks: Sequence[PlannedStack], *, client: Client) -> list[SeenStack]:
    """Read the stacks of a cluster from CloudFormation.

    Args:
        stacks: The stacks.
        client: Gives boto3 clients.

    Raises:
        botocore.exceptions.ClientError: If CloudFormation refuses.
    """
    return [_look(stack, client("cloudformation", stack.region)) for stack in stacks]


def _look(stack: PlannedStack, cloudformation: Any) -> SeenStack:
    found = read_deployed(stack.name, cloudformation)
    digest = None if found.template is None else template_digest(found.template)
    return SeenStack(planned=stack, status=found.status, digest=digest)


def changing(seen: Sequence[SeenStack]) -> list[str]:
    """Say which stacks are being changed right now."""
    return [
        f"{one.planned.name} is {one.status}"
        for one in seen
        if one.status and one.status.endswith("_IN_PROGRESS") and one.status not in EMPTY_STATES
    ]


def differing(seen: Sequence[SeenStack]) -> list[str]:
    """Say which stacks are neither as they were when the rollout was planned, nor as it makes them."""
    return [
        f"{one.planned.name} has another template than when this rollout was planned"
        for one in seen
        if one.digest not in {one.planned.before, one.planned.after}
    ]


def unhealthy(seen: Sequence[SeenStack]) -> list[str]:
    """Say which stacks are not as the rollout makes them, or not in a healthy state."""
    return [
        f"{one.planned.name} is {one.status or 'not there'}" for one in seen if one.status not in _HEALTHY
    ] + [
        f"{one.planned.name} has another template than the one that was deployed"
        for one in seen
        if one.status in _HEALTHY and one.digest != one.planned.after
    ]


def alarms_of(cluster: PlannedCluster, *, client: Client) -> Iterator[str]:
    """Give the names of the alarms in the stacks of a cluster that can say that a deployment is bad.

    The reminders of a cluster go off while a canary waits for work or its block nears the end. Its composite alarm says
    nothing that the alarms in its rule do not say, and these are looked at one by one.

    Args:
        cluster: The cluster.
        client: Gives boto3 clients.
    """
    for stack in cluster.stacks:
        pages = client("cloudformation", stack.region).get_paginator("list_stack_resources")
        for page in pages.paginate(StackName=stack.name):
            for resource in page["StackResourceSummaries"]:
                if _judges(resource) and "PhysicalResourceId" in resource:
                    yield resource["PhysicalResourceId"]


def _judges(resource: Mapping[str, Any]) -> bool:
    kind, found = resource["ResourceType"], _ALARM_OF_CLUSTER.fullmatch(resource["LogicalResourceId"])
    own_id = found[1] if found else None
    return (kind == _ALARM and own_id not in REMINDING_ALARMS) or (kind == _COMPOSITE and own_id != "Cluster")
