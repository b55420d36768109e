"""Define the jobs of a cluster in the order of their dependencies."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster import DatasetBucket, S3FilesMountTarget, TrainingQueue, UltraCluster
from ultracluster.jobs.cluster_job import ClusterJob
from ultracluster_spec.job import NamedJob


def define_jobs(
    cluster: UltraCluster,
    jobs: Sequence[NamedJob],
    *,
    datasets: Sequence[DatasetBucket],
    queues: Mapping[str, TrainingQueue],
) -> dict[str, ClusterJob]:
    """Define the jobs of a cluster and the mount targets of their S3 Files, and return the jobs by name."""
    mounts = {mount.file_system_arn: mount for job in jobs for mount in job.mounts}
    for arn, mount in mounts.items():
        if arn is not None:
            _define_mount_target(Stack.of(cluster), cluster, arn, mount.security_group_id)
    configs = {job.name: job for job in jobs}
    defined: dict[str, ClusterJob] = {}

    def define(job: NamedJob) -> ClusterJob:
        if job.name not in defined:
            after = [define(configs[name]) for name in job.depends_on]
            defined[job.name] = _define(cluster, job, after, queues.get(job.queue or ""))
            for dataset in datasets:
                dataset.grant_read(defined[job.name])
        return defined[job.name]

    for job in jobs:
        define(job)
    return defined


def _define_mount_target(scope: Construct, cluster: UltraCluster, arn: str, group_id: str | None) -> None:
    name = f"S3Files-{arn.rpartition('/')[2]}"
    S3FilesMountTarget(
        scope,
        name,
        network=cluster.network,
        file_system_arn=arn,
        security_group=ec2.SecurityGroup.from_security_group_id(scope, f"{name}-Group", group_id)
        if group_id
        else None,
    )


def _define(
    cluster: UltraCluster, job: NamedJob, depends_on: Sequence[ClusterJob], queue: TrainingQueue | None
) -> ClusterJob:
    match job.kind:
        case "single-node":
            return cluster.add_single_node_job(job.name, job, queue=queue, depends_on=depends_on)
        case "precompile":
            return cluster.add_precompile_job(job.name, job, depends_on=depends_on)
        case "support-check":
            return cluster.add_support_check(job.name, job, depends_on=depends_on)
        case "multi-node":
            before = [*depends_on, *_gates(cluster, job, depends_on, queue)]
            return cluster.add_multi_node_job(job.name, job, queue=queue, depends_on=before)


def _gates(
    cluster: UltraCluster, job: NamedJob, depends_on: Sequence[ClusterJob], queue: TrainingQueue | None
) -> list[ClusterJob]:
    """Add the gates of a job after its dependencies, so that they run just before it."""
    gates, added = job.gates, list[ClusterJob]()
    common: dict[str, Any] = {
        "image": job.image,
        "node_count": job.nodes,
        "neuron": job.neuron,
        "queue": queue,
    }
    if gates.fabric:
        limits: dict[str, Any] = {"min_bandwidth": gates.min_bandwidth, "max_latency": gates.max_latency}
        fabric = cluster.add_fabric_gate(f"{job.name}-fabric", depends_on=depends_on, **limits, **common)
        added.append(fabric)
    if gates.smoke:
        smoke = cluster.add_smoke_train(
            f"{job.name}-smoke",
            processes_per_node=job.processes_per_node if job.launcher == "torchrun" else None,
            device=gates.device,
            depends_on=[*depends_on, *added],
            **common,
        )
        added.append(smoke)
    return added
