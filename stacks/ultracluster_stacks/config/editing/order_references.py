"""Capacity of a rollout file that refers to orders of the ledger."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_stacks.config.editing.raw_clusters import read_clusters, validated_clusters
from ultracluster_stacks.config.reading.problem import Loc

_FIRST: Final = ("capacity",)


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


def ordered_capacity(path: str | os.PathLike[str]) -> list[OrderedCapacity]:
    """Read the capacity with orders of a rollout that is valid except for unresolved orders and AMIs."""
    return [
        capacity
        for cluster in validated_clusters(path)
        for capacity in _of_cluster(cluster.loc, cluster.wave, cluster.merged)
    ]


def cluster_places(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Return name and Region of every cluster of a file that `ordered_capacity` accepts."""
    return [(str(cluster.merged["name"]), str(cluster.merged["region"])) for cluster in read_clusters(path)]


def _of_cluster(loc: Loc, wave: str, cluster: Mapping[str, Any]) -> Iterator[OrderedCapacity]:
    additional = cluster.get("additional_capacity") or ()
    places: list[tuple[Loc, Any]] = [(_FIRST, cluster.get("capacity") or {})]
    places += [(("additional_capacity", index), capacity) for index, capacity in enumerate(additional)]
    for place, capacity in places:
        if capacity.get("order"):
            yield OrderedCapacity(
                loc=(*loc, *place),
                wave=wave,
                path=".".join(str(part) for part in place),
                cluster=str(cluster["name"]),
                region=str(cluster["region"]),
                zone_id=str(cluster["zone_id"]),
                instance_type=str(cluster["instance_type"]),
                nodes=int(capacity.get("max_nodes") or cluster["nodes"]),
                market_type=str(capacity.get("market_type", "capacity-block")),
                order=str(capacity["order"]),
                reservation_id=str(capacity.get("reservation_id") or ""),
            )
