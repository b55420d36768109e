"""Capacity sources without a reservation: On-Demand and Spot."""

from dataclasses import dataclass
from typing import ClassVar

from ultracluster.capacity.capacity_source import CapacitySource
from ultracluster_rules.capacity import MAX_PRICE_PERCENT, AllocationStrategy
from ultracluster_rules.findings import Finding


@dataclass(frozen=True, kw_only=True, slots=True)
class OnDemandCapacity(CapacitySource):
    """On-Demand nodes, billed per second while they run.

    Attributes:
        zone_id: Availability Zone ID of the nodes. Default: the zone of the network.
        max_nodes: Maximum number of nodes from it at one time, which ``best-fit-progressive`` can exceed by one instance
            (AWS Batch User Guide, allocation strategies, read 2026-11). Default: that of the queue.
        name, allocation_strategy, launched_by: See `CapacitySource`.
    """

    zone_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SpotCapacity(CapacitySource):
    """Spot nodes, which EC2 reclaims with two minutes' notice, for single-node jobs: AWS Batch runs no multi-node jobs on Spot.

    Attributes:
        zone_id: Availability Zone ID of the nodes. Default: the zone of the network.
        allocation_strategy: ``price-capacity-optimized`` considers price and the risk of interruption;
            ``capacity-optimized`` considers the risk only. Default: ``price-capacity-optimized``.
        max_price_percent: Maximum price of a node in percent of the On-Demand price, 1 to 100. Default: 100.
        name, max_nodes, launched_by: See `CapacitySource`.
    """

    market_type: ClassVar[str] = "spot"
    zone_id: str | None = None
    allocation_strategy: AllocationStrategy = "price-capacity-optimized"
    max_price_percent: int | None = None

    def _problems(self) -> list[Finding]:
        percent = self.max_price_percent
        if percent is None:
            return []
        return MAX_PRICE_PERCENT.check(percent, path="max_price_percent")
