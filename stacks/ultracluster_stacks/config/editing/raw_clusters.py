"""The clusters of a rollout file as they are written there, for commands that write AMIs or reservations beside them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_rules.findings import Finding, FindingsError, Severity
from ultracluster_stacks.config.loading.loader import load_rollout
from ultracluster_stacks.config.reading.defaults import cluster_locs, with_defaults
from ultracluster_stacks.config.reading.environment import refuse_environment
from ultracluster_stacks.config.reading.problem import Loc
from ultracluster_stacks.config.reading.yaml_source import read_yaml
from ultracluster_stacks.config.rules.capacity_rules import UNRESOLVED_ORDER

__all__ = ["IMAGE_KEY", "WrittenCluster", "read_clusters", "written_clusters"]

IMAGE_KEY: Final = "image_id"


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenCluster:
    """A cluster of a rollout file.

    Attributes:
        loc: Its place in the file.
        wave: Name of its wave.
        own: Its own values.
        merged: Its values with the defaults of the file.
    """

    loc: Loc
    wave: str
    own: Mapping[str, Any]
    merged: Mapping[str, Any]


def written_clusters(path: str | os.PathLike[str]) -> list[WrittenCluster]:
    """Read the clusters of a rollout that is right but for AMIs, and for orders that are not resolved.

    Args:
        path: The rollout file.

    Raises:
        FindingsError: With every other mistake of the file.
    """
    refuse_environment(path)
    try:
        load_rollout(path)
    except FindingsError as error:
        others = [one for one in error.findings if not _comes_later(one)]
        if any(one.severity is Severity.ERROR for one in others):
            raise FindingsError(others) from None
    return read_clusters(path)


def read_clusters(path: str | os.PathLike[str]) -> list[WrittenCluster]:
    """Read the clusters of a rollout that `written_clusters` has found right.

    Args:
        path: The rollout file.
    """
    values = read_yaml(path).values
    merged = with_defaults(values)
    return [
        WrittenCluster(
            loc=loc, wave=str(_at(values, loc[:2])["name"]), own=_at(values, loc), merged=_at(merged, loc)
        )
        for loc in cluster_locs(values)
    ]


def _comes_later(finding: Finding) -> bool:
    """Return whether a command that writes the file repairs it; an AMI depends on the Region, which an order may set."""
    return finding.code == UNRESOLVED_ORDER or finding.path.rpartition(".")[2] == IMAGE_KEY


def _at(values: Any, loc: Loc) -> Any:
    for part in loc:
        values = values[part]
    return values
