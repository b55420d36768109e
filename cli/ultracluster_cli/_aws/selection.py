"""Load a rollout, and select its clusters by wave or by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from ultracluster_cli._cdk.workspace import default_rollout
from ultracluster_cli.output import print_findings
from ultracluster_runtime.jobs.submission import refuse_option
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding, FindingsError, quote, reject
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


def project_clusters() -> list[Cluster]:
    """Return the clusters of the project's rollout file; none outside of a project, or while its file has errors."""
    try:
        return load_rollout(default_rollout(), deployable=False).config.clusters()
    except FindingsError:
        return []


def locate(cluster: str | None, region: str | None) -> tuple[str, str | None]:
    """Return a cluster and its Region, from the rollout file of the project as far as they are not given."""
    if cluster is None:
        clusters = load_rollout(default_rollout(), deployable=False).config.clusters()
    else:
        clusters = project_clusters() if region is None else []
    matches = [
        config for config in clusters if cluster in (None, config.name) and region in (None, config.region)
    ]
    if len(matches) == 1:
        return matches[0].name, matches[0].region
    if cluster is not None and not matches:
        return cluster, region
    names = ", ".join(f"{config.name} in {config.region}" for config in clusters)
    got = f"{len(matches)} clusters" if cluster is None else f"{quote(cluster)} in several Regions"
    if not matches:
        got = f"none, and the project has no cluster in {region}"
    remedy = "Name the cluster and specify --region"
    raise FindingsError([refuse_option("CLUSTER", got, allowed=names, remedy=remedy)])


def shift_to_project(words: Sequence[str]) -> list[str]:
    """Return the words CLUSTER JOB COMMAND..., of which the first may be left out where the project has one cluster."""
    clusters = project_clusters()
    if len(clusters) == 1 and words[0] != clusters[0].name:
        jobs = {job.name for job in clusters[0].jobs}
        if len(words) == 1 or (words[0] in jobs and words[1] not in jobs):
            return [clusters[0].name, *words]
    return list(words)


def clusters_of(config: Rollout, wave: str | None) -> list[Cluster]:
    """Return the clusters of a wave, which must exist; None is all waves."""
    names = [wave_config.name for wave_config in config.waves]
    if wave is not None and wave not in names:
        problem = f"unknown wave {quote(wave)}"
        raise FindingsError.message(problem, allowed=", ".join(names))
    return config.clusters(wave)


def clusters_named(clusters: Sequence[_Cluster], names: Sequence[str], *, rollout: Path) -> list[_Cluster]:
    """Return the clusters with the given names, all of which must exist; without names, all."""
    known = dict.fromkeys(cluster.name for cluster in clusters)
    findings = [
        Finding.message(f"unknown cluster {quote(name)}", allowed=", ".join(known), location=str(rollout))
        for name in names
        if name not in known
    ]
    reject(findings)
    return [cluster for cluster in clusters if not names or cluster.name in names]
