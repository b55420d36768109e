"""Rules across the clusters of a rollout: unique names, and IDs that exist in only one place."""

from collections.abc import Iterator
from typing import Any, Final

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK
from ultracluster_spec.capacity import refuse_shared_block
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.credentials import shown
from ultracluster_spec.findings import Finding
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rollout import Rollout
from ultracluster_spec.rules import At, Place, duplicates, located


def broken_by_rollout(rollout: Rollout) -> Iterator[tuple[Place, Finding]]:
    """Yield the place and the finding of everything that breaks a rule across clusters and waves."""
    clusters = list(rollout.located_clusters())
    yield from located(
        (
            *_repeated_waves(rollout),
            *_repeated_clusters(clusters),
            *_ids_in_two_places(clusters),
            *_shared_blocks(clusters),
        )
    )


def _read(value: Any, *names: str) -> Any:
    """Return a value by its path, or None if it could not be read."""
    for name in names:
        value = getattr(value, name, None)
    return value


def _repeated_waves(rollout: Rollout) -> Iterator[At]:
    for index, name in duplicates(_read(wave, "name") for wave in getattr(rollout, "waves", ())):
        yield At(("waves", index, "name"), f"duplicate wave {shown(name)}", code="UC2106")


def _repeated_clusters(clusters: list[tuple[Place, Cluster]]) -> Iterator[At]:
    """Refuse duplicate clusters in a Region, even in several accounts: stage names have no account."""
    seen: dict[tuple[str, str], Place] = {}
    for loc, cluster in clusters:
        name, region = _read(cluster, "name"), _read(cluster, "region")
        if name is None or region is None:
            continue
        first = seen.setdefault((name, region), loc)
        if first != loc:
            yield At(
                (*loc, "name"),
                f"duplicate cluster {shown(name)} in {region}, also in waves[{first[1]}].clusters[{first[3]}]",
                remedy="Use a unique name for each cluster in a Region",
                code="UC2105",
            )


def _ids_in_two_places(clusters: list[tuple[Place, Cluster]]) -> Iterator[At]:
    """Refuse IDs in several places: an AMI is in one Region, a reservation in one zone and for one type."""
    places: dict[str, tuple[Any, ...]] = {}
    for loc, cluster in clusters:
        place = (_read(cluster, "region"), _read(cluster, "zone_id"), _read(cluster, "instance_type"))
        if None in place:
            continue
        additional = _read(cluster, "additional_capacity") or ()
        ids: list[tuple[Place, tuple[Any, ...], Any]] = [
            (("image_id",), place[:1], _read(cluster, "image_id")),
            (("capacity", "reservation_id"), place, _read(cluster, "capacity", "reservation_id")),
            *(
                (("additional_capacity", index, "reservation_id"), place, _read(capacity, "reservation_id"))
                for index, capacity in enumerate(additional)
            ),
        ]
        for path, id_place, resource_id in ids:
            if resource_id is None:
                continue
            first = places.setdefault(resource_id, id_place)
            if first != id_place:
                yield At(
                    (*loc, *path),
                    f"{resource_id} is used in {' '.join(id_place)} and in {' '.join(first)}, but exists in "
                    "only one of them",
                    remedy="Use the ID of each place",
                    code="UC4115",
                )


def _shared_blocks(clusters: list[tuple[Place, Cluster]]) -> Iterator[At]:
    """Refuse a Capacity Block in two clusters."""
    users: dict[str, Place] = {}
    for loc, cluster in clusters:
        additional = _read(cluster, "additional_capacity") or ()
        sources: list[tuple[Place, Any]] = [(("capacity",), _read(cluster, "capacity"))]
        sources += [(("additional_capacity", index), source) for index, source in enumerate(additional)]
        for path, source in sources:
            block = _read(source, "reservation_id")
            if block is None or _read(source, "market_type") != CAPACITY_BLOCK:
                continue
            first = users.setdefault(block, loc)
            if first != loc:
                other = f"waves[{first[1]}].clusters[{first[3]}]"
                yield At.of((*loc, *path, "reservation_id"), refuse_shared_block(block, other))


RECORDS: Final = (
    RuleRecord(
        "UC2105",
        "The name of a cluster is unique in its Region.",
        remedy="Use a different name for each cluster of a Region, even in different accounts.",
        source="Our decision: the name makes the names of the stacks, and two stacks of one name would replace each other.",
    ),
    RuleRecord(
        "UC2106",
        "The name of a wave is unique.",
        remedy="Rename one of them, or put their clusters into one wave. Moving a cluster to another wave changes nothing in its templates.",
        source="Our decision: `--wave NAME` must mean one wave.",
    ),
    RuleRecord(
        "UC4115",
        "The ID of a resource that exists in one place is not used in two places.",
        remedy="Use a different ID for each cluster: an AMI is in one Region, a reservation in one zone and of one type.",
        source="EC2 user guide, AMIs and Capacity Reservations, 2026-10.",
    ),
)
