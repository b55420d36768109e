"""Price of a billable item in a Region, or else in the nearest one."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.prices.prices import PRICE_TABLE, BillableItem, Price, price_of


def nearest_price(
    item: BillableItem, region: str, *, prices: Callable[[BillableItem, str], Price] = price_of
) -> Price:
    """Return the price of an item in a Region, or else that of the nearest Region with one.

    An instance type that has no price in any Region takes that of one with the same chips: no price of trn2u.48xlarge is
    published, and AWS prices a chip of trn2.3xlarge and of trn2.48xlarge alike. `Price.borrowed_from` names what is borrowed.
    Without such a type the price stays unknown.
    """
    own = prices(item, region)
    if own.bounds is not None:
        return own
    for other in nearest_regions(region, _priced_regions(item)):
        return replace(prices(item, other), borrowed_from=other)
    for alike in _alike(item):
        for other in nearest_regions(region, _priced_regions(alike)):
            return replace(prices(alike, other), borrowed_from=f"{alike.name} in {other}")
    return own


def _alike(item: BillableItem) -> Iterator[BillableItem]:
    """Yield the other instance types with as many chips of the same kind."""
    own = INSTANCE_TYPES.get(item.name)
    for name, machine in INSTANCE_TYPES.items():
        if own and name != item.name and (machine.accelerator, machine.chips) == (own.accelerator, own.chips):
            yield replace(item, name=name)


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
    return {region for priced, region in PRICE_TABLE if priced == item}
