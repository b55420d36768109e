"""The job queue of a cluster and what can be submitted to it, found through its CloudFormation stack or by ARN."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError

from ultracluster_catalog.limits.queues import QUEUE_NAME_TAG
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.jobs.dependencies import job_name, refuse_definition

__all__ = ["Client", "Queue", "definitions_of", "find_definition", "find_queue", "find_queues", "region_of"]

Client = Callable[[str], Any]
"""Gives the boto3 client of a service, always in the same Region."""

_ARN: Final = re.compile(
    r"arn:aws[a-z-]*:batch:(?P<region>[a-z0-9-]+):\d{12}:(?P<kind>job-queue|job|job-definition)/\S+"
)
_QUEUE: Final = "AWS::Batch::JobQueue"
_DEFINITION: Final = "AWS::Batch::JobDefinition"


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """A job queue.

    Attributes:
        arn: Its ARN.
        definitions: ARNs of the job definitions in the same stack. Empty when the queue was given by ARN.
        name: Its name among the queues of its cluster. None for the cluster's own, or when it was given by ARN.
    """

    arn: str
    definitions: tuple[str, ...]
    name: str | None = None

    def limits(self, client: Client) -> tuple[bool, int | None]:
        """Give whether jobs need a share identifier, and the most nodes of a job.

        Args:
            client: Gives boto3 clients.

        Returns:
            The latter is None when the type of the nodes is not known, or not one only.

        Raises:
            FindingsError: UC6202 if AWS Batch does not know the queue.
        """
        batch = client("batch")
        found = batch.describe_job_queues(jobQueues=[self.arn])["jobQueues"]
        if not found:
            raise _no_cluster(f"AWS Batch has no queue {self.arn}", "Check the ARN, and deploy the cluster")
        # One multi-node job is placed in one environment.
        most: list[int | None] = []
        for entry in found[0]["computeEnvironmentOrder"]:
            arn = entry["computeEnvironment"]
            shown = batch.describe_compute_environments(computeEnvironments=[arn])["computeEnvironments"][0]
            most.append(_most_nodes(shown.get("computeResources", {})))
        known = [one for one in most if one is not None]
        return "schedulingPolicyArn" in found[0], max(known) if known and len(known) == len(most) else None


def _most_nodes(resources: Mapping[str, Any]) -> int | None:
    types = [INSTANCE_TYPES.get(name) for name in resources.get("instanceTypes", [])]
    if len(types) != 1 or types[0] is None or "maxvCpus" not in resources:
        return None
    return int(resources["maxvCpus"]) // types[0].vcpus


def region_of(text: str) -> str | None:
    """Give the Region that an ARN of AWS Batch names; None for what is no such ARN.

    Args:
        text: What a person typed.
    """
    match = _ARN.fullmatch(text)
    return match["region"] if match else None


def find_queue(cluster: str, *, region: str, client: Client, name: str | None = None) -> Queue:
    """Find a queue of a cluster.

    Args:
        cluster: The cluster's name in a rollout, the name of a stack with its queues, or the ARN of a queue.
        region: Its Region.
        client: Gives boto3 clients of that Region.
        name: Name of one of its further queues. Default: the cluster's own queue.

    Raises:
        FindingsError: UC6202 if there is no such stack, or it has another number of own queues than one; UC6311 if it
            has no queue of that name.
    """
    queues = find_queues(cluster, region=region, client=client)
    found = next((one for one in queues if one.name == name), None)
    if found is None:
        names = ", ".join(one.name for one in queues if one.name)
        raise FindingsError(
            [
                Finding(
                    code="UC6311",
                    problem=f"got {quote(name)}",
                    allowed=names or "no name: the cluster has no further queues",
                    path="--queue",
                )
            ]
        )
    return found


def find_queues(cluster: str, *, region: str, client: Client) -> list[Queue]:
    """Find all queues of a cluster, its own first.

    Args:
        cluster: The cluster's name in a rollout, the name of a stack with its queues, or the ARN of a queue.
        region: Its Region.
        client: Gives boto3 clients of that Region.

    Raises:
        FindingsError: UC6202 if there is no such stack, or it has another number of own queues than one.
    """
    if region_of(cluster):
        return [Queue(arn=cluster, definitions=())]
    resources = _stack_resources(cluster, region=region, client=client)
    arns = [arn for kind, arn in resources if kind == _QUEUE]
    definitions = tuple(arn for kind, arn in resources if kind == _DEFINITION)
    names = _queue_names(arns, client=client) if len(arns) > 1 else {}
    queues = [Queue(arn=arn, definitions=definitions, name=names.get(arn)) for arn in arns]
    if sum(one.name is None for one in queues) != 1:
        raise _no_cluster(
            f"the stack of {quote(cluster)} in {region} has {len(queues)} job queues",
            "Give the ARN of the queue instead",
        )
    return sorted(queues, key=lambda one: one.name or "")


def _queue_names(arns: list[str], *, client: Client) -> dict[str, str]:
    """The names that further queues of a cluster carry as a tag."""
    shown = client("batch").describe_job_queues(jobQueues=arns)["jobQueues"]
    return {
        one["jobQueueArn"]: one["tags"][QUEUE_NAME_TAG]
        for one in shown
        if QUEUE_NAME_TAG in one.get("tags", {})
    }


def _stack_resources(cluster: str, *, region: str, client: Client) -> list[tuple[str, str]]:
    # The name that ClusterStage gives, then any stack: applications name their own.
    for stack in (f"{cluster}-{region}-Cluster", cluster):
        try:
            pages = client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack)
            return [
                (resource["ResourceType"], resource["PhysicalResourceId"])
                for page in pages
                for resource in page["StackResourceSummaries"]
                if "PhysicalResourceId" in resource
            ]
        except ClientError as error:
            if error.response["Error"]["Code"] != "ValidationError":
                raise
    raise _no_cluster(
        f"CloudFormation has no stack of a cluster {quote(cluster)} in {region}",
        "Give --region with the Region of the cluster, its name in the rollout, a stack with one queue, or the queue's ARN",
    )


def _no_cluster(problem: str, remedy: str) -> FindingsError:
    return FindingsError([Finding(code="UC6202", problem=problem, remedy=remedy)])


def definitions_of(queue: Queue, *, client: Client) -> list[Mapping[str, Any]]:
    """Give the job definitions of a queue's cluster, as AWS Batch describes them.

    Args:
        queue: A queue of the cluster.
        client: Gives boto3 clients.
    """
    named = list(queue.definitions)
    return (
        list(client("batch").describe_job_definitions(jobDefinitions=named)["jobDefinitions"])
        if named
        else []
    )


def find_definition(job: str, *, queue: Queue, client: Client) -> Mapping[str, Any]:
    """Find the definition of a job.

    Args:
        job: Its name in the rollout, the ARN of a definition, or its name with revision.
        queue: The cluster's queue.
        client: Gives boto3 clients.

    Returns:
        The definition as AWS Batch describes it.

    Raises:
        FindingsError: UC6203 if it is none of the cluster's.
    """
    batch = client("batch")
    ours = definitions_of(queue, client=client)
    for definition in ours:
        if job in (job_name(definition), definition["jobDefinitionArn"], _with_revision(definition)):
            return dict(definition)
    if region_of(job) or ":" in job:
        found = batch.describe_job_definitions(jobDefinitions=[job])["jobDefinitions"]
        if found and found[0]["status"] == "ACTIVE":
            return dict(found[0])
    names = sorted(job_name(one) or _with_revision(one) for one in ours)
    allowed = ", ".join(names) if names else "the ARN of an active job definition, or its NAME:REVISION"
    raise FindingsError([refuse_definition(f"got {quote(job)}", allowed=allowed)])


def _with_revision(definition: Mapping[str, Any]) -> str:
    return f"{definition['jobDefinitionName']}:{definition['revision']}"
