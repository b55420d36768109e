"""List prices with sources and dates, for estimates and comparisons only.

Purchases never rely on these figures: a Capacity Block costs the `UpfrontFee` of its offering. A price without a dated
source is unknown (`amount` is None, with the reason) and never guessed.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, get_args

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES

PriceUnit = Literal[
    "instance-hour",
    "hour",
    "GB-month",
    "GB",
    "MB/s-month",
    "IOPS-month",
    "metric-month",
    "alarm-month",
    "dashboard-month",
]
"""Unit that a price is for."""

PaidService = Literal[
    "alarm",
    "composite alarm",
    "custom metric",
    "dashboard",
    "data transfer out",
    "data transfer to another Region",
    "interface endpoint",
    "interface endpoint data",
    "logs ingested",
    "logs stored",
    "NAT gateway",
    "NAT gateway data",
    "public IPv4 address",
    "S3 Standard storage",
    "volume gp3",
    "volume gp3 throughput",
    "FSx metadata IOPS",
    "FSx Intelligent-Tiering throughput",
    "FSx read cache",
    "FSx Intelligent-Tiering data",
    "FSx backups",
]
"""Billed service, named as in AWS's bill where possible."""

PAID_SERVICES: Final[tuple[PaidService, ...]] = get_args(PaidService)
"""Every `PaidService`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """One list price.

    Attributes:
        amount: Price of one unit. None if it varies or no dated source states it.
        unit: Unit that the price is for.
        source: Source of the price, or the sources that were searched.
        dated: Day of the evidence, or of the search.
        reason: Reason why the amount is not known; empty if it is known.
        currency: Currency of the amount. Default: USD.
        seen: Lowest and highest amount that a source saw of a varying price. Default: none.
        borrowed_from: Region whose price it is, in place of a Region without one, after the instance type if that is
            another one too. Default: the Region's own price.
    """

    amount: Decimal | None
    unit: PriceUnit
    source: str
    dated: date
    reason: str = ""
    currency: str = "USD"
    seen: tuple[Decimal, Decimal] | None = None
    borrowed_from: str = ""

    @property
    def bounds(self) -> tuple[Decimal, Decimal] | None:
        """Lowest and highest amount, which are equal for a known price. None if nothing is known."""
        return self.seen if self.amount is None else (self.amount, self.amount)


@dataclass(frozen=True, kw_only=True, slots=True)
class BillableItem:
    """An item of the bill; `tier` is the throughput of a file system in MB/s per TiB, if it has one."""

    kind: Literal["capacity-block", "on-demand", "spot", "lustre", "service"]
    name: str
    tier: int | None = None


def _read_table() -> Iterator[tuple[tuple[BillableItem, str], Price]]:
    for row in json.loads(Path(__file__).with_name("price_table.json").read_text("utf-8")):
        item = BillableItem(kind=row["kind"], name=row["name"], tier=row.get("tier"))
        for amounts, regions in row["usd"].items():
            bounds = [Decimal(amount) for amount in amounts.split()]
            varies = "reason" in row
            price = Price(
                amount=None if varies else bounds[0],
                seen=(bounds[0], bounds[-1]) if varies else None,
                unit=row["unit"],
                source=row["source"],
                dated=date.fromisoformat(row["dated"]),
                reason=row.get("reason", ""),
            )
            for region in regions.split():
                yield (item, region), price


PRICE_TABLE: Final[Mapping[tuple[BillableItem, str], Price]] = MappingProxyType(dict(_read_table()))
"""Prices by item and Region, which `make tables ONLY=prices` updates. Spot prices are ranges and never an amount to rely on."""

ON_DEMAND_PRICES: Final[Mapping[tuple[str, str], Price]] = MappingProxyType(
    {(item.name, region): price for (item, region), price in PRICE_TABLE.items() if item.kind == "on-demand"}
)
"""On-demand price of one instance hour with Linux, by instance type and Region."""

_SERVICE_UNITS: Final[Mapping[str, PriceUnit]] = MappingProxyType(
    dict[str, PriceUnit]({"FSx read cache": "GB-month", "FSx Intelligent-Tiering data": "GB-month"})
    | {item.name: price.unit for (item, _), price in PRICE_TABLE.items() if item.kind == "service"}
)
"""Units of services, also of those without a known price."""

_SEARCHED: Final = date(2026, 11, 22)

# By kind: sources that were searched, and why a price is not known.
_UNKNOWN: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "capacity-block": (
            "aws.amazon.com/ec2/capacityblocks/pricing, as kept by koyakimu/ec2-capacity-blocks-for-ml-pricing-json",
            "no dated list price for blocks of {} in {}; ask for offerings",
        ),
        "on-demand": (
            "AWS Price List, as kept by Karpenter's generated price table",
            "no dated on-demand price for {} in {}",
        ),
        "spot": (
            "Spot price history of one zone in 30 days, field report",
            "no Spot price of {} was seen in {}",
        ),
        "lustre": ("AWS Price List, AWS's pricing pages and field reports", "no dated price for {} in {}"),
        "service": (
            "AWS Price List, as AWS's pricing pages, Infracost and field reports keep it",
            "no dated price of {} in {}",
        ),
    }
)


# Regions in which PERSISTENT_2 is sold on SSD since the sources of the prices were written (FSx for Lustre User Guide,
# document history, read October 2026), and the day: those with Capacity Blocks of Trainium2.
_PERSISTENT_2_SINCE: Final[Mapping[str, date]] = MappingProxyType(
    {
        "ap-south-2": date(2026, 4, 15),
        "ap-southeast-4": date(2026, 6, 15),
        "sa-east-1": date(2026, 4, 15),
    }
)


def price_of(item: BillableItem, region: str) -> Price:
    """Return the price of one unit of an item in a Region; where it has tiers, that of the first."""
    price = PRICE_TABLE.get((item, region))
    if price is not None:
        return price
    source, reason = _UNKNOWN[item.kind]
    name = item.name if item.tier is None else f"{item.name}-{item.tier}"
    reason = reason.format(name, region)
    if item.name == "PERSISTENT_2" and region in _PERSISTENT_2_SINCE:
        reason += f", where FSx offers it since {_PERSISTENT_2_SINCE[region]}"
    return Price(amount=None, unit=_unit(item), source=source, dated=_SEARCHED, reason=reason)


def _unit(item: BillableItem) -> PriceUnit:
    match item.kind:
        case "service":
            return _SERVICE_UNITS[item.name]
        case "lustre":
            return "GB-month"
        case _:
            return "instance-hour"


def capacity_block_price(instance_type: str, region: str) -> Price:
    """Return the list price of one instance hour in a Capacity Block."""
    return price_of(BillableItem(kind="capacity-block", name=instance_type), region)


def on_demand_price(instance_type: str, region: str) -> Price:
    """Return the on-demand price of one instance hour with Linux."""
    return price_of(BillableItem(kind="on-demand", name=instance_type), region)


def spot_price(instance_type: str, region: str) -> Price:
    """Return the range of Spot prices of one instance hour that were seen."""
    return price_of(BillableItem(kind="spot", name=instance_type), region)


def lustre_storage_price(deployment_type: str, per_unit_storage_throughput: int | None, region: str) -> Price:
    """Return the price of one GB of FSx for Lustre storage with SSDs per month."""
    return price_of(
        BillableItem(kind="lustre", name=deployment_type, tier=per_unit_storage_throughput), region
    )


def service_price(service: PaidService, region: str) -> Price:
    """Return the price of one unit of a service; where it has tiers, that of the first."""
    return price_of(BillableItem(kind="service", name=service), region)


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
