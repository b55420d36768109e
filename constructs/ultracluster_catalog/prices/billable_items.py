"""Billable items of a cluster, and their prices in the catalogue."""

from dataclasses import dataclass
from typing import Literal, cast

from ultracluster_catalog.prices.prices import (
    Price,
    capacity_block_price,
    lustre_storage_price,
    on_demand_price,
    spot_price,
)
from ultracluster_catalog.prices.service_prices import PaidService, service_price

__all__ = ["BillableItem", "price_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class BillableItem:
    """An item of the bill.

    Attributes:
        kind: Purchase option of a node, FSx for Lustre storage, or another service.
        name: Instance type, deployment type of the file system, or a `PaidService`.
        tier: Throughput of a file system in MB/s per TiB. None for scratch types and all other items.
    """

    kind: Literal["capacity-block", "on-demand", "spot", "lustre", "service"]
    name: str
    tier: int | None = None


def price_of(item: BillableItem, region: str) -> Price:
    """Return the price of an item.

    Args:
        item: Billable item.
        region: Region of the item.
    """
    match item.kind:
        case "capacity-block":
            return capacity_block_price(item.name, region)
        case "on-demand":
            return on_demand_price(item.name, region)
        case "spot":
            return spot_price(item.name, region)
        case "lustre":
            return lustre_storage_price(item.name, item.tier, region)
        case "service":
            return service_price(cast("PaidService", item.name), region)
