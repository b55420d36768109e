"""Find the clusters whose place new ones take, in the account alone: renamed ones, and ones of another Region."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from botocore.exceptions import ClientError

from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_cli._aws.deployed_template import read_deployed
from ultracluster_cli._aws.target import ClusterTargets, Target
from ultracluster_cli.plan.stacks import reservations_of
from ultracluster_runtime.functions.responses import AWS_ERRORS, problem_of
from ultracluster_spec.cluster import STACKS, Cluster
from ultracluster_stacks.config.rehearsal import REHEARSAL_PREFIX
from ultracluster_stacks.plan import StackTemplate

_AT_ONCE: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class FormerClusters:
    """What an account has of clusters that are not in the rollout file."""

    stacks: tuple[StackTemplate, ...] = ()  # of clusters whose reservation or name a new cluster has
    others: tuple[str, ...] = ()  # clusters in the Regions of new ones that have neither
    unanswered: str = ""  # one line about what could not be asked; empty if everything was


@dataclass(frozen=True, kw_only=True, slots=True)
class _Deployed:
    """A cluster of the account, by a job queue."""

    name: str
    region: str
    queue: str  # ARN


def find_former_clusters(
    before: Sequence[StackTemplate],
    after: Sequence[StackTemplate],
    *,
    clusters: Sequence[Cluster],
    defined: Sequence[Cluster],
    targets: ClusterTargets,
) -> FormerClusters:
    """Search the accounts of new clusters; nothing is asked if all are deployed.

    Args:
        before: Deployed stacks.
        after: Stacks of the plan.
        clusters: Clusters of the plan.
        defined: All clusters of the rollout file, also those of other waves.
        targets: Accounts of the clusters.
    """
    deployed = {stack.key for stack in before}
    there = {stack.cluster for stack in after if stack.key in deployed}
    planned = {stack.cluster for stack in after}
    new = [cluster for cluster in clusters if cluster.stage in planned - there]
    known = {cluster.key for cluster in defined}
    stacks: dict[tuple[str, str], StackTemplate] = {}
    others: list[str] = []
    seen: set[tuple[str, str]] = set()  # Region and stack of queues, of which a cluster can have many
    unanswered: list[str] = []
    for profile in dict.fromkeys(targets.of(cluster.stage).profile for cluster in new):
        here = [cluster for cluster in new if targets.of(cluster.stage).profile == profile]
        target = targets.of(here[0].stage)
        found, unread = _clusters_of(target, home=here[0].region)
        unanswered += unread
        for one in found:
            moved = any(cluster.name == one.name for cluster in here)
            beside = {cluster.stage for cluster in here if cluster.region == one.region}
            if (one.region, one.name) in known or not (moved or beside):
                continue
            try:
                stack = _stack_of(one, target)
                if stack is None or (one.region, stack) in seen:
                    continue
                seen.add((one.region, stack))
                read = list(_stacks_of(stack, one, target))
            except (*AWS_ERRORS, ValueError) as error:
                unanswered.append(f"{one.name} in {one.region}: {problem_of(error)}")
                continue
            wanted = reservations_of([stack for stack in after if stack.cluster in beside])
            if moved or wanted & reservations_of(read):
                stacks |= {stack.key: stack for stack in read if stack.key not in deployed}
            elif read:
                others.append(f"{one.name} in {one.region}")
    said = (
        f"Whether a new cluster is one that was renamed or moved could not be asked: {'; '.join(unanswered)}"
    )
    return FormerClusters(
        stacks=tuple(stacks.values()),
        others=tuple(dict.fromkeys(others)),
        unanswered=said if unanswered else "",
    )


def _clusters_of(target: Target, *, home: str) -> tuple[list[_Deployed], list[str]]:
    """Return the clusters of an account by the tags of their queues, without rehearsals, and what could not be read."""
    unread = []
    try:
        enabled = {one["RegionName"] for one in target.client("ec2", home).describe_regions()["Regions"]}
    except AWS_ERRORS as error:
        unread.append(f"other Regions than {home}: {problem_of(error)}")
        enabled = {home}

    def read(region: str) -> tuple[list[_Deployed], str]:
        try:
            pages = target.client("batch", region).get_paginator("describe_job_queues").paginate()
            queues = [queue for page in pages for queue in page["jobQueues"]]
        except AWS_ERRORS as error:
            return [], f"{region}: {problem_of(error)}"
        named = ((queue.get("tags", {}).get(CLUSTER_TAG, ""), queue["jobQueueArn"]) for queue in queues)
        return [
            _Deployed(name=name, region=region, queue=arn)
            for name, arn in named
            if name and not name.startswith(REHEARSAL_PREFIX)
        ], ""

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = list(pool.map(read, sorted({home} | enabled & set(REGIONS))))
    return [one for found, _ in answers for one in found], [*unread, *(said for _, said in answers if said)]


def _stack_of(cluster: _Deployed, target: Target) -> str | None:
    """Return the stack that has the queue of a deployed cluster; None if no stack has it."""
    cloudformation = target.client("cloudformation", cluster.region)
    try:
        found = cloudformation.describe_stack_resources(PhysicalResourceId=cluster.queue)["StackResources"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ValidationError":
            raise
        return None
    return str(found[0]["StackName"])


def _stacks_of(stack: str, cluster: _Deployed, target: Target) -> Iterator[StackTemplate]:
    """Yield the stacks of a deployed cluster: those of a rollout file, or the one that has its queue."""
    cloudformation = target.client("cloudformation", cluster.region)
    stage = stack.removesuffix(f"-{STACKS[-1]}")
    for name in [stack] if stage == stack else [f"{stage}-{part}" for part in STACKS]:
        deployed = read_deployed(name, cloudformation)
        if deployed.template is not None:
            yield StackTemplate(cluster=stage, name=name, region=cluster.region, template=deployed.template)
