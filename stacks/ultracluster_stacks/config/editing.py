"""Edit a rollout file in place: the AMIs of its clusters, and capacity that refers to orders of the ledger."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ultracluster_rules.findings import Finding, FindingsError, Severity
from ultracluster_stacks.config.loading.loader import load_rollout
from ultracluster_stacks.config.reading.defaults import cluster_locs, with_defaults
from ultracluster_stacks.config.reading.environment import refuse_environment
from ultracluster_stacks.config.reading.problem import Loc, value_at
from ultracluster_stacks.config.reading.source_file import read_source_file
from ultracluster_stacks.config.reading.yaml_edit import set_values
from ultracluster_stacks.config.reading.yaml_source import read_yaml
from ultracluster_stacks.config.rules.capacity_rules import UNRESOLVED_ORDER

_IMAGE: Final = "image_id"
_FIRST: Final = ("capacity",)


@dataclass(frozen=True, kw_only=True, slots=True)
class RawCluster:
    """A raw cluster of a rollout file: its own values, and those merged with `defaults`."""

    loc: Loc
    wave: str
    own: Mapping[str, Any]
    merged: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterImage:
    """The AMI of one cluster of a rollout file, empty if there is none; `inherited` if it comes from `defaults`."""

    loc: Loc
    cluster: str
    region: str
    profile: str | None
    instance_type: str
    image_id: str
    inherited: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderedCapacity:
    """Capacity of a cluster that refers to an order; its path is ``capacity`` or ``additional_capacity.0``.

    The reservation is empty while the order is unresolved.
    """

    loc: Loc
    wave: str
    path: str
    cluster: str
    region: str
    zone_id: str
    instance_type: str
    nodes: int
    market_type: str
    order: str
    reservation_id: str

    @property
    def gives_zone(self) -> bool:
        """Whether this capacity determines the zone of the cluster: the first one, while it is unresolved."""
        return self.path == _FIRST[0] and not self.reservation_id


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


def _is_resolvable(finding: Finding) -> bool:
    """Return whether a command that edits the file fixes a finding."""
    return finding.code == UNRESOLVED_ORDER or finding.path.rpartition(".")[2] == _IMAGE


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


def cluster_images(path: str | os.PathLike[str]) -> list[ClusterImage]:
    """Read the AMIs of a rollout, which may be missing or invalid; everything else must be valid."""
    return [
        ClusterImage(
            loc=cluster.loc,
            cluster=str(cluster.merged["name"]),
            region=str(cluster.merged["region"]),
            profile=cluster.merged.get("profile"),
            instance_type=str(cluster.merged["instance_type"]),
            image_id=str(cluster.merged.get(_IMAGE) or ""),
            inherited=_IMAGE not in cluster.own,
        )
        for cluster in validated_clusters(path)
    ]


def image_values(
    images: Sequence[ClusterImage], ids: Mapping[Loc, str], *, others: bool = False
) -> dict[Loc, str]:
    """Return the values that give each cluster the AMI with the ID for its location.

    The AMI is set in `defaults` if all clusters inherit it and get the same one; otherwise in each cluster, since AMIs
    are specific to a Region, and custom ones to an account. `others` are clusters whose AMIs do not change.
    """
    new = {ids[image.loc] for image in images}
    if not others and len(new) == 1 and all(image.inherited and image.image_id for image in images):
        return {("defaults", _IMAGE): new.pop()}
    return {(*image.loc, _IMAGE): ids[image.loc] for image in images}


def ordered_capacity(path: str | os.PathLike[str]) -> list[OrderedCapacity]:
    """Read the capacity with orders of a rollout that is valid except for unresolved orders and AMIs."""
    return [capacity for cluster in validated_clusters(path) for capacity in _ordered_capacity_of(cluster)]


def _ordered_capacity_of(cluster: RawCluster) -> Iterator[OrderedCapacity]:
    values = cluster.merged
    additional = values.get("additional_capacity") or ()
    sources: list[tuple[Loc, Any]] = [(_FIRST, values.get("capacity") or {})]
    sources += [(("additional_capacity", index), capacity) for index, capacity in enumerate(additional)]
    for loc, capacity in sources:
        if capacity.get("order"):
            yield OrderedCapacity(
                loc=(*cluster.loc, *loc),
                wave=cluster.wave,
                path=".".join(str(part) for part in loc),
                cluster=str(values["name"]),
                region=str(values["region"]),
                zone_id=str(values["zone_id"]),
                instance_type=str(values["instance_type"]),
                nodes=int(capacity.get("max_nodes") or values["nodes"]),
                market_type=str(capacity.get("market_type", "capacity-block")),
                order=str(capacity["order"]),
                reservation_id=str(capacity.get("reservation_id") or ""),
            )


def cluster_places(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Return name and Region of every cluster of a file that `ordered_capacity` accepts."""
    return [(str(cluster.merged["name"]), str(cluster.merged["region"])) for cluster in read_clusters(path)]


def update_rollout(path: Path, values: Mapping[Loc, str | int]) -> tuple[Finding, ...]:
    """Set values in a rollout file, preserving all other text, and return the errors and warnings of the result."""
    path.write_text(set_values(read_source_file(path), values), encoding="utf-8", newline="")
    try:
        return load_rollout(path).warnings
    except FindingsError as error:
        return error.findings
