"""Constraints of SubmitJob. They are those of API_SubmitJob and API_NodeOverrides, botocore 1.44.5."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ultracluster_local.services.batch.containers import check_requirements
from ultracluster_local.services.batch.job_definitions import check_retries
from ultracluster_local.services.batch.node_ranges import nodes_of
from ultracluster_local.services.batch.state import Batch, client_error, platform_of, refused

__all__ = ["check_submission"]

_REFERENCE = re.compile(r"Ref::([A-Za-z0-9_-]+)")
_MOST_BYTES = 30 * 1024  # AWS Batch quotas, "Maximum payload size for SubmitJob API operations"


def check_submission(
    batch: Batch, queue: Mapping[str, Any], definition: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    """Refuse an invalid job.

    Args:
        batch: Resources of the Region.
        queue: Job queue.
        definition: Job definition.
        given: Job as submitted.

    Raises:
        ServiceError: If it is invalid.
    """
    if queue["state"] != "ENABLED":
        raise client_error(f"Job queue {queue['jobQueueName']} is not enabled: it is DISABLED")
    size = len(str(given).encode())
    if size > _MOST_BYTES:  # ASFHyP3/hyp3#3041 (2026-03-09)
        raise refused(f"Job size must be less than {_MOST_BYTES // 1024} KiB, got {size // 1024 + 1} KiB")
    _check_share(queue, definition, given)
    _check_capability(batch, queue, definition)
    check_retries(given.get("retryStrategy"))
    _check_parameters(definition, given)
    _check_overrides(definition, given, fargate=definition.get("platformCapabilities") == ["FARGATE"])


def _check_share(queue: Mapping[str, Any], definition: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    share = given.get("shareIdentifier")
    priority = given.get("schedulingPriorityOverride", definition.get("schedulingPriority"))
    if not queue.get("schedulingPolicyArn"):
        if priority is not None or share:  # AWS's error message, from volcengine.com/article/1154372
            raise client_error(
                "Job with shareIdentifier or schedulingPriority can only be submitted to job queue with fair share "
                "scheduling policy"
            )
        return
    if not share:
        raise client_error(
            "shareIdentifier must be specified for a job queue with fair share scheduling policy."
        )
    if priority is None:  # AWS's error message, from nextflow-io/nextflow#3505
        raise client_error(
            "Either schedulingPriority in job definition or schedulingPriorityOverride should be specified."
        )


def _check_parameters(definition: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    known = {**(definition.get("parameters") or {}), **(given.get("parameters") or {})}
    own = (given.get("containerOverrides") or {}).get("command")
    commands = [own] if own else list(_commands(definition))
    for command in commands:
        for word in command:
            match = _REFERENCE.fullmatch(word)
            if match and match[1] not in known:  # AWS's error message
                raise client_error(f"Unable to substitute value. No parameter found for reference {match[1]}")


def _commands(definition: Mapping[str, Any]) -> Iterator[list[str]]:
    yield (definition.get("containerProperties") or {}).get("command") or []
    for one in (definition.get("nodeProperties") or {}).get("nodeRangeProperties") or []:
        yield (one.get("container") or {}).get("command") or []


def _check_overrides(definition: Mapping[str, Any], given: Mapping[str, Any], *, fargate: bool) -> None:
    nodes = definition.get("nodeProperties")
    container, node_overrides = given.get("containerOverrides"), given.get("nodeOverrides")
    if container:
        if nodes:
            raise client_error(
                "Container overrides should not be set for a multinode job; use nodeOverrides instead."
            )
        _check_container_overrides(container, fargate=fargate)
    if not node_overrides:
        return
    if not nodes:
        raise client_error("Node overrides should only be set for a multinode job.")
    targets = [one["targetNodes"] for one in nodes["nodeRangeProperties"]]
    count = node_overrides.get("numNodes") or nodes["numNodes"]
    if "numNodes" in node_overrides:
        _check_count(nodes, targets, count)
    named = [one["targetNodes"] for one in node_overrides.get("nodePropertyOverrides") or []]
    other = [target for target in named if not _matches(target, targets, count)]
    if other:  # AWS's error message, from aws/aws-parallelcluster#964
        raise client_error(
            f"NodeOverride targets should match job definition. Non matching targets - {','.join(other)}"
        )
    for one in node_overrides.get("nodePropertyOverrides") or []:
        check_requirements(one.get("containerOverrides") or {})


def _check_capability(batch: Batch, queue: Mapping[str, Any], definition: Mapping[str, Any]) -> None:
    if queue.get("serviceEnvironmentOrder"):
        raise client_error(f"Job queue {queue['jobQueueName']} takes service jobs only")
    wanted = definition.get("platformCapabilities") or ["EC2"]
    environments = [
        batch.environments[one["computeEnvironment"]] for one in queue.get("computeEnvironmentOrder") or []
    ]
    if any(platform_of(one) not in wanted for one in environments):  # AWS's error message
        raise client_error(
            f"Job Queue is attached to Compute Environment that can not run Jobs with capability {wanted[0]}"
        )


def _check_container_overrides(container: Mapping[str, Any], *, fargate: bool) -> None:
    check_requirements(container, fargate=fargate)
    if "" in (container.get("command") or []):
        raise client_error("Command cannot be empty")  # boto/boto3#3612


def _matches(target: str, targets: list[str], count: int) -> bool:
    """Return whether an override names a range of the definition, whichever way it is written."""
    return target in targets or nodes_of(target, count) in [nodes_of(one, count) for one in targets]


def _check_count(nodes: Mapping[str, Any], targets: list[str], count: int) -> None:
    open_ranges = [target for target in targets if target.endswith(":")]
    if not open_ranges:
        raise client_error(
            "numNodes can be overridden only if a node range of the job definition has an open upper boundary"
        )
    if any(int(target[:-1] or 0) >= count for target in open_ranges):
        raise client_error("numNodes must be greater than the lower boundary of the open node range")
    if nodes["mainNode"] >= count:
        raise client_error(
            "The main node index of the job definition must be fewer than numNodes of the override"
        )
