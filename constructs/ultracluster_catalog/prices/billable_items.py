"""What can be paid for around a cluster, as one kind of key, and its price in the catalogue."""

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

__all__ = ["PricedThing", "price_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PricedThing:
    """Something with a price.

    Attributes:
        kind: A node by how it is bought, storage of FSx for Lustre, or a service around them.
        name: Instance type, deployment type of the file system, or a `PaidService`.
        tier: MB/s for each TiB of a file system. None for all else, and for scratch types.
    """

    kind: Literal["capacity-block", "on-demand", "spot", "lustre", "service"]
    name: str
    tier: int | None = None


def price_of(thing: PricedThing, region: str) -> Price:
    """Give the price that the catalogue knows.

    Args:
        thing: What is paid for.
        region: Where it is.
    """
    match thing.kind:
        case "capacity-block":
            return capacity_block_price(thing.name, region)
        case "on-demand":
            return on_demand_price(thing.name, region)
        case "spot":
            return spot_price(thing.name, region)
        case "lustre":
            return lustre_storage_price(thing.name, thing.tier, region)
        case "service":
            return service_price(cast("PaidService", thing.name), region)
