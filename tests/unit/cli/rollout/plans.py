"""Small plans of rollouts."""

from typing import Any

from ultracluster_runtime.rollout.plan import DEPLOY, PlannedCluster, PlannedStack, RolloutPlan


def planned_stack(name: str, *, before: str | None = None, after: str = "x") -> PlannedStack:
    return PlannedStack(name=name, region="us-east-2", before=before, after=after)


def planned_cluster(name: str, **terms: Any) -> PlannedCluster:
    """A cluster of the only wave, which is deployed."""
    usual = {"wave": "w", "region": "us-east-2", "assembly": "a", "stacks": (), "steps": (DEPLOY,)}
    return PlannedCluster(name=name, **usual | terms)


def rollout_plan(*clusters: PlannedCluster, file: str = "f") -> RolloutPlan:
    waves = tuple(dict.fromkeys(cluster.wave for cluster in clusters))
    return RolloutPlan(file=file, digest="d", target="t", bake_minutes=0, waves=waves, clusters=clusters)
