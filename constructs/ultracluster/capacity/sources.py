"""The capacity sources of one cluster, as a list, and construct IDs derived from them."""

from collections.abc import Sequence

from ultracluster._foundation.tokens import check_known, is_known
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_spec.capacity import (
    BLOCK_RULES,
    LAUNCH_RULES,
    SIZE_RULES,
    SOURCE_RULES,
    Capacity,
    CapacityBlock,
    CapacityReservation,
    Purchase,
    ReservationGroup,
    check_source_names,
    check_targets,
)
from ultracluster_spec.findings import Finding, reject
from ultracluster_spec.queue import (
    OWN_CAPACITY,
    Queue,
    check_blocks_used,
    check_environment_count,
    check_source_exists,
)
from ultracluster_spec.rules import findings
from ultracluster_spec.values import under, wrong_types


def sources_of(capacity: Capacity | Sequence[Capacity] | None) -> tuple[Capacity | None, ...]:
    """Return the sources in order of preference; None is On-Demand.

    Raises:
        FindingsError: If there is none (UC4120), two share a name (UC4121), two are the same reservation (UC4127), or an
            attribute is malformed.
    """
    if not isinstance(capacity, Sequence):
        reject(check_source(capacity, path="capacity"))
        return (capacity,)
    found = [] if capacity else check_environment_count(0, path="capacity")
    found += [
        finding
        for index, source in enumerate(capacity)
        for finding in check_source(source, path=f"capacity[{index}]")
    ]
    found += check_names([source.name for source in capacity], path="capacity")
    found += [finding.at("capacity") for _, finding in check_targets(list(map(_reservation, capacity)))]
    reject(found)
    return tuple(capacity)


def check_source(source: Capacity | None, *, path: str) -> list[Finding]:
    """Check the fields of a source and how they fit together."""
    if source is None:
        return []
    if wrong := wrong_types(source):
        return under(path, wrong)
    rules = [*SOURCE_RULES, *(BLOCK_RULES if isinstance(source, CapacityBlock) else ())]
    return under(path, check_known(source, rules, besides={"name"}))  # a construct ID contains the name


def check_sizes(
    sources: Sequence[Capacity | None], *, node_type: InstanceType, node_count: int
) -> list[Finding]:
    """Check whether the instance type is sold as the sources are bought, and each block holds its nodes."""
    found = findings(SIZE_RULES, Purchase(node_type=node_type, nodes=node_count, capacity=sources))
    paths = {each: each.path.removesuffix(".market_type") for each in found}
    return [each.at("node_count" if path == "nodes" else path) for each, path in paths.items()]


def check_launch(capacity: Capacity | None, *, node_type: InstanceType) -> list[Finding]:
    """Warn about a Capacity Block into which AWS Batch was not shown to launch the instance type (UC4152)."""
    found = findings(LAUNCH_RULES, Purchase(node_type=node_type, nodes=1, capacity=(capacity,)))
    return [each.at("capacity.launched_by") for each in found]


def used_by_queue(
    sources: Sequence[Capacity | None], queue: Queue, *, path: str
) -> tuple[Capacity | None, ...]:
    """Return the sources that a queue names, or all of them, in its order of preference.

    Raises:
        FindingsError: If the cluster has no such source (UC6312), or there are not one to three (UC4120).
    """
    named_sources = {(source and source.name) or OWN_CAPACITY: source for source in sources}
    names = list(dict.fromkeys(queue.capacity or named_sources))
    found = [finding for name in names for finding in check_source_exists(name, named_sources, path=path)]
    found += check_environment_count(len(names), path=path)
    reject(found)
    return tuple(named_sources[name] for name in names)


def check_main_queue(sources: Sequence[Capacity | None], used: Sequence[Capacity | None]) -> list[Finding]:
    """Check that the main queue of a cluster uses its Capacity Blocks, whose life cycle opens and closes it (UC6314)."""
    blocks, of_queue = (
        [source.reservation_id for source in among if isinstance(source, CapacityBlock)]
        for among in (sources, used)
    )
    return [finding.at("queue.capacity") for finding in check_blocks_used(blocks, of_queue)]


def has_block(sources: Sequence[Capacity | None]) -> bool:
    """Return whether a Capacity Block is among the sources."""
    return any(isinstance(source, CapacityBlock) for source in sources)


def check_names(names: Sequence[str | None], *, path: str) -> list[Finding]:
    """Check that the names of sources are distinct; None is a source without one."""
    return [finding.at(path) for _, finding in check_source_names(names)]


def named(construct_id: str, source: Capacity | None) -> str:
    """Return a construct ID for a source that does not depend on its position."""
    return f"{construct_id}-{source.name}" if source and source.name else construct_id


def _reservation(source: Capacity) -> str | None:
    match source:
        case CapacityBlock() | CapacityReservation():
            target = source.reservation_id
        case ReservationGroup():
            target = source.resource_group_arn
        case _:
            return None
    return target if is_known(target) else None
