"""Rules about the jobs of a cluster: nodes, processes, time, image and environment."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Final

from ultracluster_catalog.capacity.capacity_blocks import drain_before_end
from ultracluster_catalog.names.identifiers import ECR_IMAGE
from ultracluster_rules.images import check_container
from ultracluster_rules.machines import get_instance_type
from ultracluster_stacks.config.models.capacity import CapacityConfig
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.models.job import JOB_NODES, PROCESSES_PER_NODE, JobConfig
from ultracluster_stacks.config.reading.problem import Problem, shown
from ultracluster_stacks.config.rules import gate_rules, job_kind_rules
from ultracluster_stacks.config.rules.queue_rules import used

__all__ = ["JOB_RULES", "RULES"]


def job_names_are_unique(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse duplicate job names, which would share a job definition."""
    seen: set[str] = set()
    for index, job in enumerate(cluster.jobs):
        name = getattr(job, "name", None)
        if name in seen:
            yield Problem(loc=("jobs", index, "name"), code="UC6110", problem=f"duplicate job {shown(name)}")
        if name is not None:
            seen.add(name)


def job_has_a_queue(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """A job goes to the cluster's own queue, or to one that the cluster has; a precompile job has one of its own."""
    names = [each.name for each in cluster.additional_queues]
    if job.queue is not None and (job.kind == "precompile" or job.queue not in names):
        yield Problem(
            loc=("queue",),
            code="UC6315",
            problem=f"got {shown(job.queue)} for a {job.kind} job",
            allowed="" if job.kind == "precompile" else ", ".join(names),
            remedy="Leave it out: it has a queue of its own"
            if job.kind == "precompile"
            else "Name one of additional_queues, or leave it out for the cluster's own queue",
        )


def job_fits_cluster(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Refuse a job that needs more nodes than its queue has, which never starts."""
    most = max(
        (cluster.nodes_from(capacity) for capacity in _behind(cluster, job).values()), default=cluster.nodes
    )
    if job.kind == "multi-node" and job.nodes is not None and job.nodes > most:
        yield JOB_NODES.broken(
            ("nodes",),
            problem=f"got {job.nodes} nodes, but {'the cluster' if job.queue is None else 'its queue'} has {most}",
            allowed=f"1 to {most}",
        )


def queue_starts_job(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Refuse multi-node jobs on Spot nodes, where AWS Batch never starts them."""
    for name, source in _behind(cluster, job).items():
        if source.market_type == "spot" and job.kind == "multi-node":
            yield Problem(
                loc=("queue",),
                code="UC6308",
                problem=f"its queue has Spot nodes ({shown(name)}), on which AWS Batch does not run multi-node jobs: "
                "the job would block the queue forever",
                remedy="Use a queue without Spot nodes; see queue.capacity and additional_queues",
            )


def _behind(cluster: ClusterConfig, job: JobConfig) -> dict[str, CapacityConfig]:
    """Return the capacity behind the queue of a job; empty where the cluster has no such queue."""
    own = {None: cluster.queue}
    queue = (own | {each.name: each for each in cluster.additional_queues}).get(job.queue)
    return used(cluster, queue) if queue else {}


def nodes_can_talk(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Refuse multi-node jobs without EFA, which collectives need."""
    nodes = cluster.nodes if job.nodes is None else job.nodes
    if job.without_efa or job.kind != "multi-node":
        return
    if nodes > 1 and cluster.machine.efa_interfaces == 0:
        yield Problem(
            loc=("nodes",),
            code="UC6102",
            problem=f"the job runs on {nodes} nodes, but {cluster.instance_type} has no EFA",
            allowed="1 node on this type",
            remedy="Set nodes: 1, choose an instance type with EFA, or set without_efa: true",
        )


def node_holds_processes(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """A process takes one NeuronCore at least; physical ones, for jobs that set the logical size to 1."""
    machine = cluster.machine
    if job.kind == "precompile" and job.instance_type is not None:
        machine = get_instance_type(job.instance_type)
    cores = machine.neuron_cores
    if job.processes_per_node is not None and 0 < cores < job.processes_per_node:
        yield PROCESSES_PER_NODE.broken(
            ("processes_per_node",),
            problem=f"got {job.processes_per_node}, but {machine.name} has {cores} NeuronCores",
            allowed=f"1 to {cores}",
        )


def launcher_has_a_command(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:  # noqa: ARG001 - one signature
    """The launcher replaces the command of the image, which it cannot read."""
    if not job.command:
        yield Problem(
            loc=("command",),
            code="UC6142",
            problem="command is required: the launcher replaces that of the image",
            remedy="Set what the launcher starts, such as command: [train.py]",
        )


def launcher_starts_processes(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:  # noqa: ARG001 - one signature
    """The other launchers start one process on each node."""
    if job.launcher != "torchrun" and job.processes_per_node not in {None, 1}:
        yield Problem(
            loc=("processes_per_node",),
            code="UC6140",
            problem=f"got {job.processes_per_node} processes on a node with the launcher {job.launcher}, which starts one",
            remedy="Remove it, or choose torchrun",
        )


def timeout_is_within_capacity(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Warn of a job whose timeout is after the end of its capacity."""
    start, end = cluster.capacity.start, cluster.capacity.end
    if job.kind == "precompile":
        return  # its node is none of that capacity
    if job.timeout_hours is None or start is None or end is None or start >= end:
        return
    usable = end - start
    if cluster.capacity.market_type == "capacity-block":
        usable -= drain_before_end(cluster.machine)
    if timedelta(hours=job.timeout_hours) > usable:
        yield Problem(
            loc=("timeout_hours",),
            code="UC6105",
            problem=f"got {job.timeout_hours} hours, but the capacity can be used for "
            f"{usable / timedelta(hours=1):.1f} hours",
            remedy="Write checkpoints, and set a timeout that ends before the capacity",
        )


def image_is_pinned(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:  # noqa: ARG001 - one signature
    """Warn of an image whose tag can move, so that attempts or nodes may run different images."""
    tag = job.image.rpartition("/")[2].partition(":")[2]  # of a digest: its hexadecimal digits
    if tag in {"", "latest"}:
        yield Problem(
            loc=("image",),
            code="UC6107",
            problem=f"got {shown(job.image)} {'with the tag latest' if tag else 'without a tag'}",
            remedy="Use an immutable tag or a digest, so that all nodes and attempts run the same image",
        )


def image_is_near(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Warn of an image that nodes without internet access cannot pull."""
    found = re.fullmatch(ECR_IMAGE, job.image)
    if found is None or found["region"] != cluster.region:
        yield Problem(
            loc=("image",),
            code="UC6108",
            problem=f"{shown(job.image)} is not in the Amazon ECR of {cluster.region}, the only registry that "
            "nodes can reach without a NAT gateway",
            remedy="Copy or replicate it there",
        )


def image_runs_on_chips(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Warn of a container image of AWS, or a copy of one, that is not built for the chips of the nodes."""
    for finding in check_container(job.image, cluster.machine):
        yield Problem.of(finding, ("image",))


RULES: Final[tuple[Callable[[ClusterConfig], Iterator[Problem]], ...]] = (
    job_names_are_unique,
    *job_kind_rules.RULES,
)
"""Rules about all jobs of a cluster."""

JOB_RULES: Final[tuple[Callable[[ClusterConfig, JobConfig], Iterator[Problem]], ...]] = (
    job_has_a_queue,
    job_fits_cluster,
    queue_starts_job,
    nodes_can_talk,
    node_holds_processes,
    launcher_has_a_command,
    launcher_starts_processes,
    timeout_is_within_capacity,
    *gate_rules.JOB_RULES,
    image_is_pinned,
    image_is_near,
    image_runs_on_chips,
    *job_kind_rules.JOB_RULES,
)
"""Rules over one job, in the order in which their problems are found; places are seen from the job."""
