"""Billable items of a cluster, and their prices in the catalogue."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal, cast

from ultracluster_catalog.prices.prices import (
    CAPACITY_BLOCK_PRICES,
    LUSTRE_STORAGE_PRICES,
    ON_DEMAND_PRICES,
    SPOT_PRICES,
    Price,
    capacity_block_price,
    lustre_storage_price,
    on_demand_price,
    spot_price,
)
from ultracluster_catalog.prices.service_prices import SERVICE_PRICES, PaidService, service_price


@dataclass(frozen=True, kw_only=True, slots=True)
class BillableItem:
    """An item of the bill; `tier` is the throughput of a file system in MB/s per TiB, if it has one."""

    kind: Literal["capacity-block", "on-demand", "spot", "lustre", "service"]
    name: str
    tier: int | None = None


def price_of(item: BillableItem, region: str) -> Price:
    """Return the price of an item in a Region."""
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


def nearest_price(
    item: BillableItem, region: str, *, prices: Callable[[BillableItem, str], Price] = price_of
) -> Price:
    """Return the price of an item in a Region, or else that of the nearest Region with one.

    `Price.borrowed_from` names the other Region. Without a price in any Region the price stays unknown.
    """
    own = prices(item, region)
    if own.bounds is not None:
        return own
    for other in nearest_regions(region, _priced_regions(item)):
        return replace(prices(item, other), borrowed_from=other)
    return own


def nearest_regions(region: str, others: Collection[str]) -> list[str]:
    """Return Regions from the nearest to the farthest.

    Regions are near by their names: the same part of a continent, such as ``us-east``, then the same continent, then
    us-east-1, whose prices are the best known, then all others.
    """
    part, continent = region.rpartition("-")[0], region.partition("-")[0]

    def distance(other: str) -> tuple[bool, bool, bool, str]:
        same_part, same_continent = other.rpartition("-")[0] == part, other.partition("-")[0] == continent
        return (not same_part, not same_continent, other != "us-east-1", other)

    return sorted(others, key=distance)


def _priced_regions(item: BillableItem) -> set[str]:
    if item.kind == "lustre":
        return {
            region for name, tier, region in LUSTRE_STORAGE_PRICES if (name, tier) == (item.name, item.tier)
        }
    tables: dict[str, Iterable[tuple[str, str]]] = {
        "capacity-block": CAPACITY_BLOCK_PRICES,
        "on-demand": ON_DEMAND_PRICES,
        "spot": SPOT_PRICES,
        "service": SERVICE_PRICES,
    }
    return {region for name, region in tables[item.kind] if name == item.name}
