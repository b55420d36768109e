"""Load a rollout, and select its clusters by wave or by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from ultracluster_cli.output import print_findings
from ultracluster_rules.findings import Finding, FindingsError, quote, reject
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.rollout import Rollout
from ultracluster_stacks.config import LoadedRollout, load_rollout


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_Cluster = TypeVar("_Cluster", bound=_Named)


def load_clusters(
    rollout: Path, *, wave: str | None = None, names: Sequence[str] = (), deployable: bool = True
) -> tuple[LoadedRollout, list[Cluster]]:
    """Load a rollout, print its warnings, and return it with its clusters of a wave and with given names."""
    loaded = load_rollout(rollout, deployable=deployable)
    print_findings(loaded.warnings)
    return loaded, clusters_named(clusters_of(loaded.config, wave), names, rollout=rollout)


def clusters_of(config: Rollout, wave: str | None) -> list[Cluster]:
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
