"""Rules about the queues of a cluster: their names, the capacity that they use, and whose jobs they would cancel."""

from collections.abc import Callable, Iterator
from typing import Final

from ultracluster_rules.capacity import check_source_names
from ultracluster_rules.queues import (
    check_blocks_used,
    check_environment_count,
    check_source_exists,
    check_wait_limits,
)
from ultracluster_stacks.config.models.capacity import CapacityConfig
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.models.queue import OWN_CAPACITY, QueueConfig
from ultracluster_stacks.config.reading.problem import Loc, Problem, shown


def names_are_unique(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse duplicate names of queues and of capacity."""
    names = [getattr(each, "name", None) for each in cluster.additional_capacity]
    for index, finding in check_source_names([OWN_CAPACITY, *names]):
        yield Problem(("additional_capacity", index - 1, "name"), finding)
    seen: set[str] = set()
    for index, queue in enumerate(cluster.additional_queues):
        name = getattr(queue, "name", None)
        if name in seen:
            yield Problem.of(
                ("additional_queues", index, "name"),
                "UC6310",
                f"{shown(name)} is a duplicate name",
                remedy="Use a different name for each",
            )
        if name is not None:
            seen.add(name)


def used_capacity_exists(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse a queue with unknown capacity, or with more than three sources."""
    known = _by_name(cluster)
    for loc, queue in _queues(cluster):
        for index, name in enumerate(queue.capacity):
            for finding in check_source_exists(name, known):
                yield Problem((*loc, "capacity", index), finding)
        for finding in check_environment_count(len(dict.fromkeys(queue.capacity)) or len(known)):
            yield Problem((*loc, "capacity"), finding)


def own_queue_uses_blocks(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse a main queue without the Capacity Blocks, which open and close it."""
    sources = _by_name(cluster).items()
    blocks = [name for name, source in sources if source.market_type == "capacity-block"]
    for finding in check_blocks_used(blocks, used(cluster, cluster.queue)):
        yield Problem(("queue", "capacity"), finding)


def limits_cancel_nothing_reserved(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse time limits that would cancel jobs waiting for their capacity to start."""
    for loc, queue in _queues(cluster):
        behind = used(cluster, queue).values()
        limits = queue.wait_limits
        for finding in check_wait_limits(
            [name for name, value in limits or () if value is not None],
            block=any(each.market_type == "capacity-block" for each in behind),
            reserved=any(each.reservation_id or each.resource_group_arn for each in behind),
            path="",
        ):
            yield Problem((*loc, "wait_limits", finding.path), finding)


def used(cluster: ClusterConfig, queue: QueueConfig) -> dict[str, CapacityConfig]:
    """Return the capacity that a queue uses, by name, in order of preference."""
    known = _by_name(cluster)
    return {name: known[name] for name in queue.capacity or known if name in known}


def _by_name(cluster: ClusterConfig) -> dict[str, CapacityConfig]:
    return {getattr(each, "name", OWN_CAPACITY): each for _, each in cluster.sources()}


def _queues(cluster: ClusterConfig) -> list[tuple[Loc, QueueConfig]]:
    return [
        (("queue",), cluster.queue),
        *((("additional_queues", index), each) for index, each in enumerate(cluster.additional_queues)),
    ]


RULES: Final[tuple[Callable[[ClusterConfig], Iterator[Problem]], ...]] = (
    names_are_unique,
    used_capacity_exists,
    own_queue_uses_blocks,
    limits_cancel_nothing_reserved,
)
"""The rules in the order in which their problems are found."""
