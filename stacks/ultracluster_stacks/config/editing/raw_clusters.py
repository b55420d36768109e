"""Raw clusters of a rollout file, for commands that set AMIs or reservations."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_rules.findings import Finding, FindingsError, Severity
from ultracluster_stacks.config.loading.loader import load_rollout
from ultracluster_stacks.config.reading.defaults import cluster_locs, with_defaults
from ultracluster_stacks.config.reading.environment import refuse_environment
from ultracluster_stacks.config.reading.problem import Loc, value_at
from ultracluster_stacks.config.reading.yaml_source import read_yaml
from ultracluster_stacks.config.rules.capacity_rules import UNRESOLVED_ORDER

IMAGE_KEY: Final = "image_id"


@dataclass(frozen=True, kw_only=True, slots=True)
class RawCluster:
    """A raw cluster of a rollout file: its own values, and those merged with `defaults`."""

    loc: Loc
    wave: str
    own: Mapping[str, Any]
    merged: Mapping[str, Any]


def validated_clusters(path: str | os.PathLike[str]) -> list[RawCluster]:
    """Read the clusters of a rollout that is valid except for AMIs and unresolved orders."""
    refuse_environment(path)
    try:
        load_rollout(path)
    except FindingsError as error:
        others = [finding for finding in error.findings if not _is_resolvable(finding)]
        if any(finding.severity is Severity.ERROR for finding in others):
            raise FindingsError(others) from None
    return read_clusters(path)


def read_clusters(path: str | os.PathLike[str]) -> list[RawCluster]:
    """Read the clusters of a rollout that `validated_clusters` accepts."""
    values = read_yaml(path).values
    merged = with_defaults(values)
    return [
        RawCluster(
            loc=loc,
            wave=str(value_at(values, loc[:2])["name"]),
            own=value_at(values, loc),
            merged=value_at(merged, loc),
        )
        for loc in cluster_locs(values)
    ]


def _is_resolvable(finding: Finding) -> bool:
    """Return whether a command that edits the file fixes a finding."""
    return finding.code == UNRESOLVED_ORDER or finding.path.rpartition(".")[2] == IMAGE_KEY
