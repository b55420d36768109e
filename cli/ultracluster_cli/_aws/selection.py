"""Select the clusters of a rollout by wave or by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from ultracluster_rules.findings import Finding, FindingsError, quote, reject
from ultracluster_stacks.config import ClusterConfig, RolloutConfig


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_Cluster = TypeVar("_Cluster", bound=_Named)


def clusters_of(config: RolloutConfig, wave: str | None) -> list[ClusterConfig]:
    """Return the clusters of a wave, which must exist (UC9008); None is all waves."""
    names = [wave_config.name for wave_config in config.waves]
    if wave is not None and wave not in names:
        problem = f"unknown wave {quote(wave)}"
        raise FindingsError.of("UC9008", problem, allowed=", ".join(names))
    return config.clusters(wave)


def clusters_named(clusters: Sequence[_Cluster], names: Sequence[str], *, rollout: Path) -> list[_Cluster]:
    """Return the clusters with the given names, all of which must exist (UC2201); without names, all."""
    known = dict.fromkeys(cluster.name for cluster in clusters)
    findings = [
        Finding(
            code="UC2201",
            problem=f"unknown cluster {quote(name)}",
            allowed=", ".join(known),
            location=str(rollout),
        )
        for name in names
        if name not in known
    ]
    reject(findings)
    return [cluster for cluster in clusters if not names or cluster.name in names]
