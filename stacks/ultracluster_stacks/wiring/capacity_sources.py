"""Translate placement and queues of a cluster into arguments of `UltraCluster`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from aws_cdk import Duration
from constructs import Construct

from ultracluster import (
    ClusterPlacement,
    FairShare,
    TrainingQueue,
    UltraCluster,
    WaitLimits,
)
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.queue import OWN_CAPACITY, AdditionalQueue, Queue


def node_placement(scope: Construct, config: Cluster) -> ClusterPlacement | Literal["auto", "none"]:
    """Import the placement group of a cluster, or return ``auto`` or ``none``."""
    match config.network.placement:
        case "auto" | "none" as choice:
            return choice
        case name:
            return ClusterPlacement(scope, "Placement", placement_group_name=name)


def source_names(queue: Queue) -> Sequence[str | None] | None:
    """Return the names of the sources that a queue uses, or None for all."""
    return [None if name == OWN_CAPACITY else name for name in queue.capacity] or None


def fair_share(queue: Queue) -> FairShare | None:
    """Return the fair-share settings of a queue, or None if the rollout file sets no shares."""
    if not queue.shares and not queue.compute_reservation_percent and queue.share_decay_hours is None:
        return None
    settings = FairShare(parts=queue.shares, compute_reservation_percent=queue.compute_reservation_percent)
    if queue.share_decay_hours is None:
        return settings
    return replace(settings, decay=Duration.hours(queue.share_decay_hours))


def wait_limits(queue: Queue) -> WaitLimits | None:
    """Return when a queue cancels waiting jobs, or None for the defaults of its capacity."""
    if queue.wait_limits is None:
        return None
    return WaitLimits(
        **{
            name: Duration.hours(hours)
            for name, hours in queue.wait_limits.known().items()
            if hours is not None
        }
    )


def define_queues(cluster: UltraCluster, queues: Sequence[AdditionalQueue]) -> dict[str, TrainingQueue]:
    """Add the additional queues of a cluster and return them by name."""
    return {
        queue.name: cluster.add_queue(
            queue.name,
            sources=source_names(queue),
            priority=queue.priority,
            fair_share=fair_share(queue),
            wait_limits=wait_limits(queue),
        )
        for queue in queues
    }
