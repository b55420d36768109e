"""Plans a rollout or a rollback: what is deployed now, what comes, and in which steps."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from ultracluster_cli._aws.cluster_targets import ClusterTargets
from ultracluster_cli._aws.targets import Target
from ultracluster_cli.plan.stacks import AssembledStack, assembled_stacks
from ultracluster_cli.rollout.history import Run, earlier_deployment
from ultracluster_cli.rollout.stack_status import changing, look, template_digest
from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_runtime.rollout.plan import (
    ALARMS,
    DEPLOY,
    JOB,
    PREFLIGHT,
    STACKS,
    PlannedCluster,
    PlannedStack,
    RolloutPlan,
)
from ultracluster_stacks.config import ClusterConfig, RolloutConfig

__all__ = ["plan_forward", "plan_rollback", "rollout_digest", "stacks_of"]


def rollout_digest(config: RolloutConfig) -> str:
    """Give a digest of everything that a rollout file says: comments and order of keys count for nothing."""
    return hashlib.sha256(config.model_dump_json().encode()).hexdigest()


def steps_of(cluster: ClusterConfig) -> tuple[str, ...]:
    """Give the steps of a cluster: looking at the account, deploying it, then its gates."""
    jobs = [f"{JOB}{gate}" for job in cluster.jobs for gate in job.gate_names]
    return (PREFLIGHT, DEPLOY, STACKS, *jobs, ALARMS)


def plan_forward(
    config: RolloutConfig,
    *,
    file: Path,
    wave: str | None,
    targets: ClusterTargets,
    bake_minutes: float,
    stacks: Sequence[AssembledStack],
    assembly: str,
) -> RolloutPlan:
    """Plan a rollout.

    Args:
        config: What the file says.
        file: The rollout file.
        wave: The one wave. None for all.
        targets: Where each cluster goes.
        bake_minutes: How long no alarm may be heard.
        stacks: What was synthesized.
        assembly: Where that will be, below the folder of all rollouts.

    Raises:
        FindingsError: If somebody else is changing a stack (UC9602).
    """
    waves = config.select_waves(wave)
    clusters = []
    busy: list[str] = []
    for each in waves:
        for cluster in each.clusters:
            name = cluster.stage
            after = [one for one in stacks if one.stack.cluster == name]
            planned, problems = _now(after, targets.of(name))
            busy += problems
            clusters.append(
                PlannedCluster(
                    name=name,
                    wave=each.name,
                    region=cluster.region,
                    assembly=assembly,
                    stacks=planned,
                    steps=steps_of(cluster),
                )
            )
    _refuse_busy(busy)
    return RolloutPlan(
        file=str(file),
        digest=rollout_digest(config),
        target=targets.only(each.name for each in clusters).account,
        bake_minutes=bake_minutes,
        waves=tuple(each.name for each in waves),
        clusters=tuple(clusters),
    )


def plan_rollback(
    wave: str, *, undone: Run, earlier: list[Run], rollouts: Path, targets: ClusterTargets
) -> RolloutPlan:
    """Plan to deploy again what the clusters of a wave had before a rollout came to them.

    Args:
        wave: The wave.
        undone: The rollout to undo, which has deployed clusters of the wave.
        earlier: The rollouts before it, oldest first.
        rollouts: The folder of all rollouts.
        targets: Where each cluster goes.

    Raises:
        FindingsError: If that is not kept (UC9607), or somebody else is changing a stack (UC9602).
    """
    plan = undone.journal.plan
    touched = [each for each in plan.clusters if each.wave == wave and undone.touched(each.name)]
    found = {each.name: earlier_deployment(earlier, each) for each in touched}
    if missing := [each for each in touched if found[each.name] is None]:
        raise FindingsError(_not_kept(each) for each in missing)
    clusters, busy = [], []
    for old in found.values():
        assert old is not None  # noqa: S101 - see `missing`
        after = stacks_of(old, rollouts)
        planned, problems = _now(after, targets.of(old.name))
        busy += problems
        clusters.append(
            PlannedCluster(
                name=old.name,
                wave=wave,
                region=old.region,
                assembly=old.assembly,
                stacks=planned,
                steps=(DEPLOY, STACKS),
            )
        )
    _refuse_busy(busy)
    return RolloutPlan(
        file=plan.file,
        digest=plan.digest,
        target=targets.only(each.name for each in clusters).account,
        bake_minutes=0,
        waves=(wave,),
        clusters=tuple(clusters),
        undoes=undone.folder.name,
    )


def stacks_of(cluster: PlannedCluster, rollouts: Path) -> list[AssembledStack]:
    """Read the stacks of a planned cluster from the assembly that was kept for it."""
    stacks = assembled_stacks(rollouts / cluster.assembly)
    return [one for one in stacks if one.stack.cluster == cluster.name]


def _now(after: Sequence[AssembledStack], target: Target) -> tuple[tuple[PlannedStack, ...], list[str]]:
    """The stacks with what is there now, and which of them are being changed."""
    wanted = [
        PlannedStack(
            name=one.stack.name,
            region=one.stack.region,
            before=None,
            after=template_digest(one.stack.template),
        )
        for one in after
    ]
    seen = look(wanted, client=target.client)
    planned = tuple(
        PlannedStack(
            name=one.planned.name, region=one.planned.region, before=one.digest, after=one.planned.after
        )
        for one in seen
    )
    return planned, changing(seen)


def _refuse_busy(busy: Sequence[str]) -> None:
    if busy:
        remedy = "Wait until whoever does that is done; CloudFormation takes one change of a stack at a time"
        raise FindingsError(Finding(code="UC9602", problem=problem, remedy=remedy) for problem in busy)


def _not_kept(cluster: PlannedCluster) -> Finding:
    if all(stack.before is None for stack in cluster.stacks):
        return Finding(
            code="UC9607",
            problem=f"{cluster.name} was not there before",
            remedy=f"Delete it with `cdk destroy '{cluster.name}/**'`, or leave it",
        )
    return Finding(
        code="UC9607",
        problem=f"no rollout that is kept here has made what {cluster.name} had before",
        remedy="Take the earlier rollout file from version control, and roll that out",
    )
