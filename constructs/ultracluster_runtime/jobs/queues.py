"""Find the job queue of a cluster and its job definitions, by CloudFormation stack or ARN."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError

from ultracluster_catalog.limits.queues import QUEUE_NAME_TAG
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.jobs.dependencies import job_name, queue_of, refuse_definition
from ultracluster_spec.findings import FindingsError, quote

_ARN: Final = re.compile(
    r"arn:aws[a-z-]*:batch:(?P<region>[a-z0-9-]+):\d{12}:(?P<kind>job-queue|job|job-definition)/\S+"
)
_QUEUE: Final = "AWS::Batch::JobQueue"
_DEFINITION: Final = "AWS::Batch::JobDefinition"


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """Job queue."""

    arn: str
    # ARNs of the job definitions in the same stack. Empty if the queue was specified by ARN.
    definitions: tuple[str, ...]
    # Name of the queue in its cluster. None for the default queue, or if it was specified by ARN.
    name: str | None = None

    def described(self, client: Clients) -> Mapping[str, Any]:
        """Return the queue as AWS Batch describes it."""
        queues = client("batch").describe_job_queues(jobQueues=[self.arn])["jobQueues"]
        if not queues:
            raise _no_cluster(f"AWS Batch has no queue {self.arn}", "Check the ARN, and deploy the cluster")
        return dict(queues[0])

    def limits(self, client: Clients) -> tuple[bool, int | None]:
        """Return whether jobs need a share identifier, and the maximum number of nodes of a job.

        The maximum is None if the queue has several instance types, or one that is not in the catalog.
        """
        batch = client("batch")
        queue = self.described(client)
        # A multi-node job is placed in one environment.
        limits: list[int | None] = []
        for entry in queue["computeEnvironmentOrder"]:
            arn = entry["computeEnvironment"]
            environment = batch.describe_compute_environments(computeEnvironments=[arn])[
                "computeEnvironments"
            ][0]
            limits.append(_most_nodes(environment.get("computeResources", {})))
        known = [limit for limit in limits if limit is not None]
        most = max(known) if known and len(known) == len(limits) else None
        return "schedulingPolicyArn" in queue, most


def _most_nodes(resources: Mapping[str, Any]) -> int | None:
    types = [INSTANCE_TYPES.get(name) for name in resources.get("instanceTypes", [])]
    if len(types) != 1 or types[0] is None or "maxvCpus" not in resources:
        return None
    return int(resources["maxvCpus"]) // types[0].vcpus


def region_from_arn(text: str) -> str | None:
    """Return the Region of an ARN of AWS Batch, or None for any other text."""
    match = _ARN.fullmatch(text)
    return match["region"] if match else None


def find_queue(cluster: str, *, region: str, client: Clients, name: str | None = None) -> Queue:
    """Find a queue of a cluster: the one with a name, or the default queue."""
    queues = find_queues(cluster, region=region, client=client)
    queue = next((candidate for candidate in queues if candidate.name == name), None)
    if queue is None:
        names = ", ".join(candidate.name for candidate in queues if candidate.name)
        allowed = names or "none: the cluster has no further queues"
        raise FindingsError.message(f"got {quote(name)}", allowed=allowed, path="--queue")
    return queue


def find_queues(cluster: str, *, region: str, client: Clients) -> list[Queue]:
    """Find all queues of a cluster, the default queue first; there must be one.

    `cluster` is its name in a rollout, the name of a stack with its queues, or the ARN of a queue.
    """
    if region_from_arn(cluster):
        return [Queue(arn=cluster, definitions=())]
    resources = _stack_resources(cluster, region=region, client=client)
    arns = [arn for kind, arn in resources if kind == _QUEUE]
    definitions = tuple(arn for kind, arn in resources if kind == _DEFINITION)
    if not arns and definitions:  # the queue is that of another stack
        described = list_definitions(Queue(arn="", definitions=definitions), client=client)
        arns = sorted({arn for definition in described if (arn := queue_of(definition))})
    names = _queue_names(arns, client=client) if len(arns) > 1 else {}
    queues = [Queue(arn=arn, definitions=definitions, name=names.get(arn)) for arn in arns]
    if sum(queue.name is None for queue in queues) != 1:
        raise _no_cluster(
            f"the stack of {quote(cluster)} in {region} has {len(queues)} job queues",
            "Specify the ARN of the queue instead",
        )
    return sorted(queues, key=lambda queue: queue.name or "")


def _queue_names(arns: list[str], *, client: Clients) -> dict[str, str]:
    """Return the names of the further queues of a cluster, from their tag."""
    queues = client("batch").describe_job_queues(jobQueues=arns)["jobQueues"]
    return {
        queue["jobQueueArn"]: queue["tags"][QUEUE_NAME_TAG]
        for queue in queues
        if QUEUE_NAME_TAG in queue.get("tags", {})
    }


def _stack_resources(cluster: str, *, region: str, client: Clients) -> list[tuple[str, str]]:
    # First the stack name of ClusterStage, then any stack: applications choose their own names.
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
        "Specify --region, and the name of the cluster in the rollout, of a stack with one queue, or the ARN of the queue",
    )


def _no_cluster(problem: str, remedy: str) -> FindingsError:
    return FindingsError.message(problem, remedy=remedy)


def list_definitions(queue: Queue, *, client: Clients) -> list[Mapping[str, Any]]:
    """Return the job definitions of a queue's cluster, as AWS Batch describes them."""
    if not queue.definitions:
        return []
    described = client("batch").describe_job_definitions(jobDefinitions=list(queue.definitions))
    return list(described["jobDefinitions"])


def find_definition(job: str, *, queue: Queue, client: Clients) -> Mapping[str, Any]:
    """Return the definition of a job of the cluster (UC6203) as AWS Batch describes it.

    `job` is its name in the rollout, the ARN of a definition, or its name and revision.
    """
    batch = client("batch")
    definitions = list_definitions(queue, client=client)
    for definition in definitions:
        if job in (job_name(definition), definition["jobDefinitionArn"], _with_revision(definition)):
            return dict(definition)
    if region_from_arn(job) or ":" in job:
        descriptions = batch.describe_job_definitions(jobDefinitions=[job])["jobDefinitions"]
        if descriptions and descriptions[0]["status"] == "ACTIVE":
            return dict(descriptions[0])
    names = sorted(job_name(definition) or _with_revision(definition) for definition in definitions)
    allowed = ", ".join(names) if names else "the ARN of an active job definition, or NAME:REVISION"
    raise FindingsError([refuse_definition(f"got {quote(job)}", allowed=allowed)])


def _with_revision(definition: Mapping[str, Any]) -> str:
    return f"{definition['jobDefinitionName']}:{definition['revision']}"
