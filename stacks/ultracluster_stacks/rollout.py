"""From a rollout file to the stages of an app."""

from constructs import Construct

from ultracluster_stacks.config import RolloutConfig
from ultracluster_stacks.stacks.cluster_stage import ClusterStage

__all__ = ["define_rollout"]


def define_rollout(
    scope: Construct, rollout: RolloutConfig, *, wave: str | None = None
) -> list[ClusterStage]:
    """Define a stage for each cluster.

    Args:
        scope: The app.
        rollout: The clusters, by waves.
        wave: Name of the one wave to define. Default: all waves.
    """
    return [
        ClusterStage(scope, config=cluster)
        for each in rollout.waves
        if wave in (None, each.name)
        for cluster in each.clusters
    ]
