"""Translate capacity and queues of a cluster into arguments of `UltraCluster`."""

from collections.abc import Sequence
from dataclasses import replace

from aws_cdk import Duration

from ultracluster import (
    Capacity,
    CapacityBlock,
    CapacityReservation,
    FairShare,
    OnDemandCapacity,
    ReservationGroup,
    SpotCapacity,
    TrainingQueue,
    UltraCluster,
    WaitLimits,
)
from ultracluster_rules.capacity import ALLOCATION_STRATEGIES
from ultracluster_stacks.config import AdditionalCapacityConfig, CapacityConfig, ClusterConfig, QueueConfig
from ultracluster_stacks.config.models.queue import OWN_CAPACITY, AdditionalQueueConfig


def capacity_sources(config: ClusterConfig) -> list[Capacity]:
    """Return the sources of capacity in order of preference."""
    return [
        replace(_source(capacity, zone_id=config.zone_id), launched_by=capacity.launched_by)
        for _, capacity in config.sources()
    ]


def _source(capacity: CapacityConfig, *, zone_id: str) -> Capacity:
    name = capacity.name if isinstance(capacity, AdditionalCapacityConfig) else None
    max_nodes = capacity.max_nodes
    strategy = capacity.allocation_strategy or ALLOCATION_STRATEGIES[capacity.market_type][0]
    if capacity.market_type == "spot":
        return SpotCapacity(
            zone_id=zone_id,
            max_price_percent=capacity.max_price_percent,
            name=name,
            max_nodes=max_nodes,
            allocation_strategy=strategy,
        )
    if capacity.resource_group_arn is not None:
        return ReservationGroup.from_resource_group_arn(
            capacity.resource_group_arn,
            zone_id=zone_id,
            placement_group_name=capacity.placement_group,
            name=name,
            max_nodes=max_nodes,
            allocation_strategy=strategy,
        )
    if capacity.reservation_id is None:
        return OnDemandCapacity(zone_id=zone_id, name=name, max_nodes=max_nodes, allocation_strategy=strategy)
    if capacity.market_type == "on-demand":
        return CapacityReservation.from_reservation_id(
            capacity.reservation_id,
            zone_id=zone_id,
            placement_group_name=capacity.placement_group,
            name=name,
            max_nodes=max_nodes,
            allocation_strategy=strategy,
        )
    return CapacityBlock.from_reservation_id(
        capacity.reservation_id,
        zone_id=zone_id,
        start=capacity.start,
        end=capacity.end,
        name=name,
        max_nodes=max_nodes,
        allocation_strategy=strategy,
    )


def source_names(queue: QueueConfig) -> Sequence[str | None] | None:
    """Return the names of the sources that a queue uses, or None for all."""
    return [None if name == OWN_CAPACITY else name for name in queue.capacity] or None


def fair_share(queue: QueueConfig) -> FairShare | None:
    """Return the fair-share settings of a queue, or None if the rollout file sets no shares."""
    if not queue.shares and not queue.compute_reservation_percent and queue.share_decay_hours is None:
        return None
    settings = FairShare(parts=queue.shares, compute_reservation_percent=queue.compute_reservation_percent)
    if queue.share_decay_hours is None:
        return settings
    return replace(settings, decay=Duration.hours(queue.share_decay_hours))


def wait_limits(queue: QueueConfig) -> WaitLimits | None:
    """Return when a queue cancels waiting jobs, or None for the defaults of its capacity."""
    if queue.wait_limits is None:
        return None
    return WaitLimits(
        **{name: Duration.hours(hours) for name, hours in queue.wait_limits if hours is not None}
    )


def define_queues(cluster: UltraCluster, queues: Sequence[AdditionalQueueConfig]) -> dict[str, TrainingQueue]:
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
