"""A layout of very many chips: blocks, clusters, Regions, accounts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from scale.assumptions import Assumptions
from ultracluster_catalog.capacity.capacity_blocks import MAX_INSTANCES_PER_BLOCK, block_regions
from ultracluster_catalog.limits.service_limits import SERVICE_LIMITS
from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK, InstanceType
from ultracluster_catalog.places.zones import REGIONS, offered_zones
from ultracluster_spec.instance_type import get_instance_type

__all__ = ["MOST_CHIPS", "Layout", "RegionLayout", "in_one_account", "propose_layout"]

MOST_CHIPS: Final = 1_000_000
"""The most chips that a layout is proposed for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RegionLayout:
    """What stands in one Region.

    Attributes:
        region: The Region.
        clusters: Clusters there, each in one block.
        zones: Zones that they are spread over; 1 where the catalogue lists none.
        accounts: Accounts that share them out.
    """

    region: str
    clusters: int
    zones: int
    accounts: int

    @property
    def clusters_of_account(self) -> int:
        """Clusters of the account that has most."""
        return ceil(self.clusters / self.accounts)

    @property
    def clusters_of_account_and_zone(self) -> int:
        """Clusters of one account in the zone that has most."""
        return ceil(self.clusters_of_account / self.zones)


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """A layout. Each cluster is one block: one zone, one file system, one compute environment, one end.

    Attributes:
        chips: Chips that were asked for.
        instance_type: Type of the nodes.
        nodes_per_block: Nodes of each block and cluster.
        regions: The Regions in the order that they were given in.
        assumptions: What it was computed from.
    """

    chips: int
    instance_type: InstanceType
    nodes_per_block: int
    regions: tuple[RegionLayout, ...]
    assumptions: Assumptions

    @property
    def clusters(self) -> int:
        """Clusters, which are as many as blocks."""
        return sum(each.clusters for each in self.regions)

    @property
    def nodes(self) -> int:
        """Nodes of all clusters."""
        return self.clusters * self.nodes_per_block

    @property
    def chips_per_block(self) -> int:
        """Chips of one block: the largest job, and what the end of one block takes."""
        return self.nodes_per_block * self.instance_type.chips

    @property
    def accounts(self) -> int:
        """Accounts that are needed, since what AWS Batch allows in one cannot be raised."""
        return max(each.accounts for each in self.regions)


def propose_layout(
    chips: int,
    *,
    instance_type: str | InstanceType = "trn2.48xlarge",
    regions: Sequence[str] | None = None,
    assumptions: Assumptions | None = None,
) -> Layout:
    """Lay out chips in blocks of equal size, one cluster each, spread evenly over Regions.

    One cluster is one block, because a block is in one zone, a multi-node job runs in one compute environment, and the
    end of a block then ends one cluster and no other. A block has the fewest nodes of a power of two that hold the
    chips, at most as many as are sold at once.

    Args:
        chips: Chips that are wanted, 1 to 1,000,000. What is laid out is rounded up to whole blocks.
        instance_type: Type of the nodes, by name or as an entry of one's own.
        regions: Regions to use. Default: those where Capacity Blocks of the type are known to be sold.
        assumptions: What is not known. Default: those of `Assumptions`.

    Raises:
        ValueError: If the number of chips, the type or the Regions allow no layout.
        FindingsError: If the type is unknown (UC4001 or UC4025).
    """
    node_type = get_instance_type(instance_type)
    chosen = tuple(dict.fromkeys(block_regions(node_type.name) if regions is None else regions))
    _check(chips, node_type, chosen)
    assumptions = assumptions or Assumptions()
    wanted = ceil(chips / node_type.chips)
    largest = (
        MAX_INSTANCES_PER_BLOCK if node_type.ultraserver_type is None else node_type.instances_per_ultraserver
    )
    per_block = min(largest, 1 << (wanted - 1).bit_length())
    return Layout(
        chips=chips,
        instance_type=node_type,
        nodes_per_block=per_block,
        regions=tuple(
            _region(region, clusters, node_type, assumptions)
            for region, clusters in _spread(ceil(wanted / per_block), chosen)
        ),
        assumptions=assumptions,
    )


def in_one_account(layout: Layout, clusters: int, regions: Sequence[str]) -> Layout:
    """Give the same blocks in another number, all of one account.

    Args:
        layout: The layout.
        clusters: How many clusters, one or more.
        regions: Regions to spread them over.
    """
    spread = _spread(clusters, regions)
    found = (_region(region, each, layout.instance_type, layout.assumptions) for region, each in spread)
    return replace(
        layout,
        chips=clusters * layout.chips_per_block,
        regions=tuple(replace(each, accounts=1) for each in found),
    )


def _spread(clusters: int, regions: Sequence[str]) -> list[tuple[str, int]]:
    share, more = divmod(clusters, len(regions))
    shares = ((region, share + (index < more)) for index, region in enumerate(regions))
    return [(region, each) for region, each in shares if each]


def _region(region: str, clusters: int, node_type: InstanceType, assumptions: Assumptions) -> RegionLayout:
    # An account holds as many clusters as AWS Batch, which raises nothing, has queues and environments for.
    queues = min(SERVICE_LIMITS[name].value for name in ("job-queues", "compute-environments"))
    return RegionLayout(
        region=region,
        clusters=clusters,
        zones=max(1, len(offered_zones(node_type.name, region))),
        accounts=ceil(clusters / (queues // assumptions.queues_per_cluster)),
    )


def _check(chips: int, node_type: InstanceType, regions: tuple[str, ...]) -> None:
    if not 1 <= chips <= MOST_CHIPS:
        raise ValueError(f"got {chips} chips, and a layout has 1 to {MOST_CHIPS:,}")
    if CAPACITY_BLOCK not in node_type.purchase_options:
        raise ValueError(f"{node_type.name} is not sold in Capacity Blocks")
    if not regions:
        raise ValueError(f"no Region is named, and none is known to sell blocks of {node_type.name}")
    # Some Regions that sell blocks are of other partitions.
    if unknown := [
        each for each in regions if each not in REGIONS and each not in block_regions(node_type.name)
    ]:
        raise ValueError(f"unknown Regions: {', '.join(unknown)}")
