"""Nodes that nobody reserved: on demand, and Spot."""

from dataclasses import dataclass
from typing import Literal

from aws_cdk import Token

from ultracluster.capacity.capacity_source import CapacitySource
from ultracluster_rules.capacity import MAX_PRICE_PERCENT
from ultracluster_rules.findings import Finding

__all__ = ["OnDemandCapacity", "SpotCapacity"]


@dataclass(frozen=True, kw_only=True, slots=True)
class OnDemandCapacity(CapacitySource):
    """On-demand nodes, paid by the second while they run.

    Attributes:
        zone_id: Zone id of the nodes. Default: the zone of the network.
        name: Name among the sources of a cluster. Default: none.
        max_nodes: Most nodes from it at one time. Default: the most nodes of the queue.
    """

    zone_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SpotCapacity(CapacitySource):
    """Spot nodes, which EC2 takes back with two minutes' notice. For jobs of one node: AWS Batch has no multi-node Spot.

    Attributes:
        zone_id: Zone id of the nodes. Default: the zone of the network.
        allocation_strategy: ``price-capacity-optimized`` weighs price and the risk of interruption;
            ``capacity-optimized`` looks at the risk only. Default: the former.
        max_price_percent: Most that a node may cost, in percent of the on-demand price, 1 to 100. Default: 100.
        name: Name among the sources of a cluster. Default: none.
        max_nodes: Most nodes from it at one time. Default: the most nodes of the queue.
    """

    zone_id: str | None = None
    allocation_strategy: Literal["price-capacity-optimized", "capacity-optimized"] = (
        "price-capacity-optimized"
    )
    max_price_percent: int | None = None

    def _problems(self) -> list[Finding]:
        percent = self.max_price_percent
        if percent is None or Token.is_unresolved(percent):
            return []
        return MAX_PRICE_PERCENT.check(percent, path="max_price_percent")
