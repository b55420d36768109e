"""How the instances of a cluster are bought: one type for each way, made of the flat record of the rollout file."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal

from ultracluster_rules.capacity import ALLOCATION_STRATEGIES, AllocationStrategy
from ultracluster_spec.values import Value

Market = Literal["capacity-block", "on-demand", "spot"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Source(Value):
    """What all capacity has in common."""

    market_type: ClassVar[Market]

    name: str | None = None
    """Name among the capacity of a cluster. Default: none, for the first."""

    nodes: int
    """Maximum number of nodes in it."""

    max_nodes: int | None = None
    """The same as written for this capacity. Default: that of the cluster."""

    allocation_strategy: AllocationStrategy
    """Allocation strategy of AWS Batch."""

    launched_by: Literal["batch", "auto-scaling"] = "batch"
    """What starts the nodes. Default: batch."""

    order: str | None = None
    """Name of the order that buys it. Default: none."""

    start: datetime | None = None
    """Start of the capacity. Default: unknown."""

    end: datetime | None = None
    """End of the capacity. Default: unknown."""

    @property
    def is_reserved(self) -> bool:
        """Whether it is billed for the whole reservation, used or not."""
        return isinstance(self, (CapacityBlock, CapacityReservation, ReservationGroup))


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityBlock(Source):
    """A Capacity Block, bought beforehand."""

    market_type: ClassVar[Market] = "capacity-block"

    reservation_id: str
    """ID of its reservation."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityReservation(Source):
    """An On-Demand Capacity Reservation."""

    market_type: ClassVar[Market] = "on-demand"

    reservation_id: str
    """ID of the reservation."""

    placement_group: str | None = None
    """Cluster placement group that it was created in. Default: none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReservationGroup(Source):
    """On-Demand Capacity Reservations in a resource group."""

    market_type: ClassVar[Market] = "on-demand"

    resource_group_arn: str
    """ARN of the resource group."""

    placement_group: str | None = None
    """Cluster placement group that they were created in. Default: none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OnDemand(Source):
    """On-Demand Instances without a reservation."""

    market_type: ClassVar[Market] = "on-demand"


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot(Source):
    """Spot Instances."""

    market_type: ClassVar[Market] = "spot"

    max_price_percent: int | None = None
    """Maximum price, in percent of the On-Demand price. Default: 100."""


AnySource = CapacityBlock | CapacityReservation | ReservationGroup | OnDemand | Spot
"""Capacity of any kind."""


def source_of(
    market_type: Market,
    *,
    nodes: int,
    name: str | None = None,
    reservation_id: str | None = None,
    resource_group_arn: str | None = None,
    placement_group: str | None = None,
    max_price_percent: int | None = None,
    max_nodes: int | None = None,
    allocation_strategy: AllocationStrategy | None = None,
    launched_by: Literal["batch", "auto-scaling"] = "batch",
    order: str | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
) -> AnySource:
    """Return the capacity that a flat record describes, after the rules about it have held."""
    common: dict[str, Any] = {
        "nodes": nodes,
        "name": name,
        "max_nodes": max_nodes,
        "allocation_strategy": allocation_strategy or ALLOCATION_STRATEGIES[market_type][0],
        "launched_by": launched_by,
        "order": order,
        "start": start,
        "end": end,
    }
    match market_type, resource_group_arn, reservation_id:
        case "spot", _, _:
            return Spot(max_price_percent=max_price_percent, **common)
        case _, str(group), _:
            return ReservationGroup(resource_group_arn=group, placement_group=placement_group, **common)
        case "on-demand", None, str(reservation):
            return CapacityReservation(reservation_id=reservation, placement_group=placement_group, **common)
        case "capacity-block", None, str(reservation):
            return CapacityBlock(reservation_id=reservation, **common)
    return OnDemand(**common)
