"""Edit a rollout file in place: the AMIs of its clusters, and capacity that refers to orders of the ledger."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ultracluster_spec.capacity import UNRESOLVED_ORDER, CapacityRecord
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_spec.rollout import Rollout
from ultracluster_stacks.config.loading.loader import load_incomplete, load_rollout
from ultracluster_stacks.config.reading.defaults import CLUSTER_DEPTH, with_defaults
from ultracluster_stacks.config.reading.environment import refuse_environment
from ultracluster_stacks.config.reading.problem import Loc, value_at
from ultracluster_stacks.config.reading.source_file import read_source_file
from ultracluster_stacks.config.reading.yaml_edit import set_values
from ultracluster_stacks.config.reading.yaml_source import read_yaml

_IMAGE: Final = "image_id"


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterImage:
    """The AMI of one cluster as the file has it, empty if there is none; `inherited` if it comes from `defaults`."""

    loc: Loc
    cluster: Cluster
    image_id: str
    inherited: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderedCapacity:
    """Capacity of a cluster that refers to an order, which has a reservation once it is resolved."""

    loc: Loc
    cluster: Cluster
    capacity: CapacityRecord
    order: str

    @property
    def path(self) -> str:
        """Location in the cluster: ``capacity``, or for example ``additional_capacity.0``."""
        return ".".join(str(part) for part in self.loc[CLUSTER_DEPTH:])

    @property
    def nodes(self) -> int:
        """Number of nodes that the order must have."""
        return self.cluster.nodes_from(self.capacity)

    @property
    def gives_zone(self) -> bool:
        """Whether this capacity determines the zone of the cluster: the first one, while it is unresolved."""
        return self.path == "capacity" and not self.capacity.reservation_id


def load_editable(path: str | os.PathLike[str]) -> Rollout:
    """Load a rollout that is valid except for AMIs, which may be missing, and unresolved orders."""
    refuse_environment(path)
    return load_incomplete(path, is_incomplete=_is_resolvable)


def _is_resolvable(finding: Finding) -> bool:
    """Return whether a command that edits the file fixes a finding."""
    return finding.code == UNRESOLVED_ORDER or finding.path.rpartition(".")[2] == _IMAGE


def cluster_images(path: str | os.PathLike[str]) -> list[ClusterImage]:
    """Read the AMIs of a rollout, which may be missing or invalid; everything else must be valid."""
    clusters = load_editable(path).located_clusters()
    values = read_yaml(path).values
    merged = with_defaults(values)
    return [
        ClusterImage(
            loc=loc,
            cluster=cluster,
            image_id=str(value_at(merged, loc).get(_IMAGE) or ""),
            inherited=_IMAGE not in value_at(values, loc),
        )
        for loc, cluster in clusters
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


def ordered_capacity(rollout: Rollout, *, wave: str | None = None) -> Iterator[OrderedCapacity]:
    """Iterate over the capacity of a rollout, or of one of its waves, that refers to orders."""
    clusters = rollout.clusters(wave)
    for cluster_loc, cluster in rollout.located_clusters():
        for loc, capacity in cluster.sources():
            if capacity.order and cluster in clusters:
                yield OrderedCapacity(
                    loc=(*cluster_loc, *loc), cluster=cluster, capacity=capacity, order=capacity.order
                )


def update_rollout(path: Path, values: Mapping[Loc, str | int]) -> tuple[Finding, ...]:
    """Set values in a rollout file, preserving all other text, and return the errors and warnings of the result."""
    path.write_text(set_values(read_source_file(path), values), encoding="utf-8", newline="")
    try:
        return load_rollout(path).warnings
    except FindingsError as error:
        return error.findings
