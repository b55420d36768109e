"""Plan the steps of a rollout or a rollback."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ultracluster_cli._aws.target import ClusterTargets
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_cli.rollout.history import Run, earlier_deployment
from ultracluster_cli.rollout.stack_status import changing_stacks, describe_stacks, template_digest
from ultracluster_runtime.rollout import plan as rollout_plan
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding, FindingsError, reject
from ultracluster_spec.rollout import Rollout
from ultracluster_spec.values import plain
from ultracluster_stacks.plan import StackTemplate


def rollout_digest(config: Rollout) -> str:
    """Return a digest of a rollout that ignores comments and the order of keys."""
    return hashlib.sha256(json.dumps(plain(config)).encode()).hexdigest()


def steps_of(cluster: Cluster) -> tuple[str, ...]:
    """Return the steps of a cluster: preflight, deployment, then its gates."""
    jobs = [f"{rollout_plan.JOB}{gate}" for job in cluster.jobs for gate in job.gate_names]
    return (rollout_plan.PREFLIGHT, rollout_plan.DEPLOY, rollout_plan.STACKS, *jobs, rollout_plan.ALARMS)


def plan_forward(
    config: Rollout,
    *,
    file: Path,
    wave: str | None,
    targets: ClusterTargets,
    bake_minutes: float,
    stacks: Sequence[StackTemplate],
    assembly: str,
) -> rollout_plan.RolloutPlan:
    """Plan a rollout, or raise FindingsError if another deployment is changing a stack.

    ``assembly`` is the path of the stacks' cloud assembly in the folder of all rollouts.
    """
    waves = config.select_waves(wave)
    clusters = [
        rollout_plan.PlannedCluster(
            name=cluster.stage,
            wave=wave_config.name,
            region=cluster.region,
            assembly=assembly,
            stacks=_unread([stack for stack in stacks if stack.cluster == cluster.stage]),
            steps=steps_of(cluster),
        )
        for wave_config in waves
        for cluster in wave_config.clusters
    ]
    return rollout_plan.RolloutPlan(
        file=str(file),
        digest=rollout_digest(config),
        target=targets.only(cluster.name for cluster in clusters).account,
        bake_minutes=bake_minutes,
        waves=tuple(wave_config.name for wave_config in waves),
        clusters=_with_deployed(clusters, targets),
    )


def plan_rollback(
    wave: str, *, undone: Run, earlier: list[Run], rollouts: Path, targets: ClusterTargets
) -> rollout_plan.RolloutPlan:
    """Plan to redeploy the clusters of a wave as they were before a rollout."""
    plan = undone.journal.plan
    touched = [cluster for cluster in plan.clusters if cluster.wave == wave and undone.touched(cluster.name)]
    earlier_clusters = {cluster.name: earlier_deployment(earlier, cluster) for cluster in touched}
    if missing := [cluster for cluster in touched if earlier_clusters[cluster.name] is None]:
        raise FindingsError(_not_kept(cluster) for cluster in missing)
    steps = (rollout_plan.DEPLOY, rollout_plan.STACKS)
    clusters = [
        replace(cluster, wave=wave, stacks=_unread(stacks_of(cluster, rollouts)), steps=steps)
        for cluster in filter(None, earlier_clusters.values())
    ]
    return rollout_plan.RolloutPlan(
        file=plan.file,
        digest=plan.digest,
        target=targets.only(cluster.name for cluster in clusters).account,
        bake_minutes=0,
        waves=(wave,),
        clusters=_with_deployed(clusters, targets),
        undoes=undone.folder.name,
    )


def stacks_of(cluster: rollout_plan.PlannedCluster, rollouts: Path) -> list[StackTemplate]:
    """Read the stacks of a planned cluster from its stored assembly."""
    stacks = assembled_stacks(rollouts / cluster.assembly)
    return [stack for stack in stacks if stack.cluster == cluster.name]


def _unread(stacks: Sequence[StackTemplate]) -> tuple[rollout_plan.PlannedStack, ...]:
    """Return planned stacks whose deployed templates are not read yet."""
    return tuple(
        rollout_plan.PlannedStack(
            name=stack.name, region=stack.region, before=None, after=template_digest(stack.template)
        )
        for stack in stacks
    )


def _with_deployed(
    clusters: Sequence[rollout_plan.PlannedCluster], targets: ClusterTargets
) -> tuple[rollout_plan.PlannedCluster, ...]:
    """Return clusters with the digests of their deployed templates, or raise FindingsError for stacks that are being changed."""
    current = [
        describe_stacks(cluster.stacks, client=targets.of(cluster.name).client) for cluster in clusters
    ]
    remedy = "Wait for that deployment to finish; CloudFormation runs one operation per stack at a time"
    busy = [problem for stacks in current for problem in changing_stacks(stacks)]
    reject(Finding.message(problem, remedy=remedy) for problem in busy)
    return tuple(
        replace(cluster, stacks=tuple(replace(stack.planned, before=stack.digest) for stack in stacks))
        for cluster, stacks in zip(clusters, current, strict=True)
    )


def _not_kept(cluster: rollout_plan.PlannedCluster) -> Finding:
    if all(stack.before is None for stack in cluster.stacks):
        remedy = f"Delete it with `cdk destroy '{cluster.name}/**'`, or keep it"
        return Finding.message(f"{cluster.name} did not exist before", remedy=remedy)
    remedy = "Roll out the earlier rollout file from version control"
    return Finding.message(f"no stored rollout has the earlier deployment of {cluster.name}", remedy=remedy)
