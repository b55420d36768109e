"""The clusters of one wave of a rollout, or of all."""

from ultracluster_catalog.findings import Finding, FindingsError, quote
from ultracluster_stacks.config import ClusterConfig, RolloutConfig

__all__ = ["clusters_of"]


def clusters_of(config: RolloutConfig, wave: str | None) -> list[ClusterConfig]:
    """Return the clusters of a wave.

    Args:
        config: The rollout.
        wave: Name of the wave. None for all.

    Raises:
        FindingsError: If the rollout has no such wave (UC9008).
    """
    names = [each.name for each in config.waves]
    if wave is not None and wave not in names:
        problem = f"got the wave {quote(wave)}, which the rollout does not have"
        raise FindingsError([Finding(code="UC9008", problem=problem, allowed=", ".join(names))])
    return [cluster for each in config.waves if wave in (None, each.name) for cluster in each.clusters]
