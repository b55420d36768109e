"""Capacity of a rollout file that comes from an order of the ledger."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_stacks.config.editing.raw_clusters import read_clusters, written_clusters
from ultracluster_stacks.config.reading.problem import Loc

__all__ = ["OrderedCapacity", "cluster_places", "ordered_capacity"]

_FIRST: Final = ("capacity",)


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderedCapacity:
    """Capacity of a cluster that names an order.

    Attributes:
        loc: Place of the capacity in the file.
        wave: Name of the wave of the cluster.
        path: Path of the capacity in its cluster: ``capacity`` or ``additional_capacity.0``.
        cluster: Name of the cluster.
        region: Its Region.
        zone_id: Its zone.
        instance_type: Name of its instance type.
        nodes: Most nodes from this capacity.
        market_type: How it is bought.
        order: Name of the order.
        reservation_id: The reservation, or empty while the order is not resolved.
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
        """Whether the zone of the cluster follows this capacity: the first of a cluster that is not resolved yet."""
        return self.path == _FIRST[0] and not self.reservation_id


def ordered_capacity(path: str | os.PathLike[str]) -> list[OrderedCapacity]:
    """Read what names an order, in a rollout that is right but for orders that are not resolved and AMIs.

    Args:
        path: The rollout file.

    Raises:
        FindingsError: With every other mistake of the file.
    """
    return [
        found for each in written_clusters(path) for found in _of_cluster(each.loc, each.wave, each.merged)
    ]


def cluster_places(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Return name and Region of every cluster of a file that `ordered_capacity` has read.

    Args:
        path: The rollout file.
    """
    return [(str(each.merged["name"]), str(each.merged["region"])) for each in read_clusters(path)]


def _of_cluster(loc: Loc, wave: str, cluster: Mapping[str, Any]) -> Iterator[OrderedCapacity]:
    additional = cluster.get("additional_capacity") or ()
    places: list[tuple[Loc, Any]] = [(_FIRST, cluster.get("capacity") or {})]
    places += [(("additional_capacity", index), each) for index, each in enumerate(additional)]
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
