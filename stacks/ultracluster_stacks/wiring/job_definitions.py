"""Define the jobs of a cluster in the order of their dependencies."""

from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_ssm as ssm
from constructs import Construct

import ultracluster_spec.job as spec
from ultracluster import DatasetBucket, TrainingQueue, UltraCluster
from ultracluster.jobs.job import Job


def define_jobs(
    cluster: UltraCluster,
    jobs: Sequence[spec.Job],
    *,
    datasets: Sequence[DatasetBucket],
    queues: Mapping[str, TrainingQueue],
) -> dict[str, Job]:
    """Define the jobs of a cluster, and return them by name."""
    configs = {job.name: job for job in jobs}
    defined: dict[str, Job] = {}

    def define(job: spec.Job) -> Job:
        if job.name not in defined:
            after = [define(configs[name]) for name in job.depends_on]
            defined[job.name] = _define(cluster, job, after, queues.get(job.queue or ""))
            _grant(defined[job.name], job)
            for dataset in datasets:
                dataset.grant_read(defined[job.name])
        return defined[job.name]

    for job in jobs:
        define(job)
    return defined


def _grant(job: Job, config: spec.Job) -> None:
    """Add the permissions of the rollout file to the role of a job."""
    for statement in config.permissions.statements:
        job.role.add_to_principal_policy(
            iam.PolicyStatement(actions=list(statement.actions), resources=list(statement.resources))
        )
    for index, arn in enumerate(config.permissions.managed_policy_arns, start=1):
        job.role.add_managed_policy(iam.ManagedPolicy.from_managed_policy_arn(job, f"Policy{index}", arn))


def _secrets(scope: Construct, job: spec.Job) -> dict[str, batch.Secret]:
    secrets = {}
    for name, arn in job.secrets.items():
        construct_id = f"{job.name}-{name}"
        if ":ssm:" in arn:
            parameter = ssm.StringParameter.from_string_parameter_arn(scope, construct_id, arn)
            secrets[name] = batch.Secret.from_ssm_parameter(parameter)
        else:
            whole = ":".join(arn.split(":")[:7])
            secret = secretsmanager.Secret.from_secret_complete_arn(scope, construct_id, whole)
            key = arn.removeprefix(whole).strip(":")
            secrets[name] = batch.Secret.from_secrets_manager(secret, key or None)
    return secrets


def _define(
    cluster: UltraCluster, job: spec.Job, depends_on: Sequence[Job], queue: TrainingQueue | None
) -> Job:
    common: dict[str, Any] = {
        "image": job.image,
        "command": job.command,
        "processes_per_node": job.processes_per_node,
        "neuron": job.neuron,
        "environment": job.environment,
        "secrets": _secrets(cluster, job),
        "timeout": cdk.Duration.hours(job.timeout_hours) if job.timeout_hours else None,
        "launcher": job.launcher,
        "depends_on": depends_on,
        "resume": job.resume,
    }
    if job.attempts is not None:
        common["attempts"] = job.attempts
    if job.kind == "single-node":
        return cluster.add_single_node_job(job.name, array_size=job.array_size, queue=queue, **common)
    if job.kind == "precompile":
        return cluster.add_precompile_job(
            job.name, instance_type=job.instance_type, method=job.method, phase=job.phase, **common
        )
    common["depends_on"] = [*depends_on, *_gates(cluster, job, depends_on, queue)]
    return cluster.add_multi_node_job(
        job.name, node_count=job.nodes, queue=queue, without_efa=job.without_efa, **common
    )


def _gates(
    cluster: UltraCluster, job: spec.Job, depends_on: Sequence[Job], queue: TrainingQueue | None
) -> list[Job]:
    """Add the gates of a job after its dependencies, so that they run just before it."""
    gates, added = job.gates, list[Job]()
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
