"""Rules about the queues of a cluster: their names, the capacity that they use, and whose jobs they would cancel."""

from collections.abc import Iterator
from typing import Final

from ultracluster_spec.capacity import check_source_names
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.credentials import shown
from ultracluster_spec.names import ROLE
from ultracluster_spec.queue import (
    OWN_CAPACITY,
    Queue,
    check_blocks_used,
    check_environment_count,
    check_source_exists,
    check_wait_limits,
)
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At, Place, duplicates


def names_are_unique(cluster: Cluster) -> Iterator[At]:
    """Refuse duplicate names of queues and of capacity."""
    names = [getattr(capacity, "name", None) for capacity in cluster.additional_capacity]
    for index, finding in check_source_names([OWN_CAPACITY, *names]):
        yield At.of(("additional_capacity", index - 1, "name"), finding)
    for index, name in duplicates(getattr(queue, "name", None) for queue in cluster.additional_queues):
        problem = f"{shown(name)} is a duplicate name"
        remedy = "Use a different name for each"
        yield At(("additional_queues", index, "name"), problem, remedy=remedy, code="UC6310")


def used_capacity_exists(cluster: Cluster) -> Iterator[At]:
    """Refuse a queue with unknown capacity, or with more than three sources."""
    known = cluster.named_capacity
    for loc, queue in _queues(cluster):
        for index, name in enumerate(queue.capacity):
            yield from At.of_all((*loc, "capacity", index), check_source_exists(name, known))
        count = len(set(queue.capacity)) or len(known)
        yield from At.of_all((*loc, "capacity"), check_environment_count(count))


def own_queue_uses_blocks(cluster: Cluster) -> Iterator[At]:
    """Refuse a main queue without the Capacity Blocks, which open and close it."""
    sources = cluster.named_capacity.items()
    blocks = [name for name, source in sources if source.market_type == "capacity-block"]
    yield from At.of_all(("queue", "capacity"), check_blocks_used(blocks, cluster.capacity_of(cluster.queue)))


def limits_cancel_nothing_reserved(cluster: Cluster) -> Iterator[At]:
    """Refuse time limits that would cancel jobs waiting for their capacity to start."""
    for loc, queue in _queues(cluster):
        behind = cluster.capacity_of(queue).values()
        limits = queue.wait_limits.known() if queue.wait_limits else {}
        for finding in check_wait_limits(
            [name for name, value in limits.items() if value is not None],
            block=any(source.market_type == "capacity-block" for source in behind),
            reserved=any(source.reservation_id or source.resource_group_arn for source in behind),
            path="",
        ):
            yield At.of((*loc, "wait_limits", finding.path), finding)


def submitters_are_of_the_account(cluster: Cluster) -> Iterator[At]:
    """Refuse roles of another account, to which this one cannot attach a policy, and the same role twice."""
    for index, arn in enumerate(cluster.submitters):
        account = arn.split(":")[4]
        if cluster.account not in {None, account}:
            problem = f"the role is in {account}, the cluster in {cluster.account}"
            remedy = "Let it assume a role of the account of the cluster, and name that one"
            yield At(("submitters", index), problem, remedy=remedy, code=ROLE.code)
    for index, arn in duplicates(cluster.submitters):
        yield At(
            ("submitters", index), f"got {shown(arn)} twice", remedy="Remove one of them", code=ROLE.code
        )


def _queues(cluster: Cluster) -> list[tuple[Place, Queue]]:
    additional = enumerate(cluster.additional_queues)
    return [
        (("queue",), cluster.queue),
        *((("additional_queues", index), queue) for index, queue in additional),
    ]


RULES: Final = (
    names_are_unique,
    used_capacity_exists,
    own_queue_uses_blocks,
    limits_cancel_nothing_reserved,
    submitters_are_of_the_account,
)


RECORDS: Final = (
    RuleRecord(
        "UC6310",
        "The name of a queue is unique in its cluster.",
        remedy="Use a different name for each queue.",
        source="Our decision: the name is part of ids of constructs, and jobs name their queue.",
        example="additional_queues: [{name: urgent, priority: 2}, {name: relaxed, priority: 3}]",
    ),
)
