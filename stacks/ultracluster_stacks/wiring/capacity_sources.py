"""From the capacity and the queues of a rollout's cluster to what `UltraCluster` takes."""

from collections.abc import Sequence

from aws_cdk import Duration

from ultracluster import (
    Capacity,
    CapacityBlock,
    CapacityReservation,
    FairShare,
    OnDemandCapacity,
    ReservationGroup,
    SpotCapacity,
    WaitLimits,
)
from ultracluster_stacks.config import CapacityConfig, ClusterConfig, FurtherCapacityConfig, QueueConfig
from ultracluster_stacks.config.models.queue import OWN_CAPACITY

__all__ = ["capacity_sources", "fair_share", "source_names", "wait_limits"]


def capacity_sources(config: ClusterConfig) -> list[Capacity]:
    """Give the sources of capacity in order of preference.

    Args:
        config: The cluster.
    """
    return [_source(each, zone_id=config.zone_id) for _, each in config.sources()]


def _source(capacity: CapacityConfig, *, zone_id: str) -> Capacity:
    name = capacity.name if isinstance(capacity, FurtherCapacityConfig) else None
    most = capacity.max_nodes
    if capacity.market_type == "spot":
        return SpotCapacity(
            zone_id=zone_id, max_price_percent=capacity.max_price_percent, name=name, max_nodes=most
        )
    if capacity.resource_group_arn is not None:
        return ReservationGroup.from_resource_group_arn(
            capacity.resource_group_arn,
            zone_id=zone_id,
            placement_group_name=capacity.placement_group,
            name=name,
            max_nodes=most,
        )
    if capacity.reservation_id is None:
        return OnDemandCapacity(zone_id=zone_id, name=name, max_nodes=most)
    if capacity.market_type == "on-demand":
        return CapacityReservation.from_reservation_id(
            capacity.reservation_id,
            zone_id=zone_id,
            placement_group_name=capacity.placement_group,
            name=name,
            max_nodes=most,
        )
    return CapacityBlock.from_reservation_id(
        capacity.reservation_id,
        zone_id=zone_id,
        start=capacity.start,
        end=capacity.end,
        name=name,
        max_nodes=most,
    )


def source_names(queue: QueueConfig) -> Sequence[str | None] | None:
    """Give the names of the sources that a queue uses; None is all of them.

    Args:
        queue: The queue.
    """
    return [None if name == OWN_CAPACITY else name for name in queue.capacity] or None


def fair_share(queue: QueueConfig) -> FairShare | None:
    """Give how a queue divides its nodes; None where the rollout file says nothing of shares.

    Args:
        queue: The queue.
    """
    if not queue.model_fields_set & {"shares", "compute_reservation_percent", "share_decay_hours"}:
        return None
    return FairShare(
        parts=queue.shares,
        compute_reservation_percent=queue.compute_reservation_percent,
        decay=Duration.hours(queue.share_decay_hours),
    )


def wait_limits(queue: QueueConfig) -> WaitLimits:
    """Give when a waiting job of a queue is cancelled.

    Args:
        queue: The queue.
    """
    return WaitLimits(
        **{name: Duration.hours(hours) for name, hours in queue.wait_limits if hours is not None}
    )
