"""List prices with sources and dates, for estimates and comparisons only.

Purchases never rely on these figures: a Capacity Block costs the `UpfrontFee` of its offering. A price without a dated
source is unknown (`amount` is None, with the reason) and never guessed.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from ultracluster_catalog.machines.instance_types import MACHINES

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
            price = Price(
                amount=bounds[0] if len(bounds) == 1 else None,
                seen=None if len(bounds) == 1 else (bounds[0], bounds[1]),
                unit=row["unit"],
                source=row["source"],
                dated=date.fromisoformat(row["dated"]),
                reason=row.get("reason", ""),
            )
            for region in regions.split():
                yield (item, region), price


PRICE_TABLE: Final[Mapping[tuple[BillableItem, str], Price]] = MappingProxyType(dict(_read_table()))
"""Prices of services, file systems and On-Demand Instances by Region, which `make prices` writes."""

_BLOCK_PAGE: Final = (
    "aws.amazon.com/ec2/capacityblocks/pricing, as kept by koyakimu/ec2-capacity-blocks-for-ml-pricing-json"
)
_BLOCK_PAGE_DATED: Final = date(2026, 7, 22)
_BLOCK_FIELD: Final = "UpfrontFee of an offering for 24 hours ($858.26), field report"
_BLOCK_FIELD_DATED: Final = date(2026, 10, 3)
_ON_DEMAND: Final = "AWS Price List, as kept by Karpenter's generated price table"
_ON_DEMAND_DATED: Final = date(2026, 7, 20)
_SPOT: Final = "Spot price history of one zone in 30 days, field report"
_SPOT_DATED: Final = date(2026, 10, 3)
_PRICE_LIST: Final = "AWS Price List, AWS's pricing pages and field reports"
_SEARCHED: Final = date(2026, 11, 22)


def _per_hour(amount: Decimal, *, source: str, dated: date) -> Price:
    return Price(amount=amount, unit="instance-hour", source=source, dated=dated)


_SALES: Final = {name: machine.blocks for name, machine in MACHINES.items() if machine.blocks}

CAPACITY_BLOCK_PRICES: Final[Mapping[tuple[str, str], Price]] = MappingProxyType(
    {
        (name, region): _per_hour(usd, source=_BLOCK_PAGE, dated=_BLOCK_PAGE_DATED)
        for name, blocks in _SALES.items()
        for region, usd in blocks.usd_per_hour.items()
    }
    | {
        (name, region): _per_hour(usd, source=_BLOCK_FIELD, dated=_BLOCK_FIELD_DATED)
        for name, blocks in _SALES.items()
        for region, usd in blocks.usd_per_hour_seen.items()
    }
)
"""List price of one instance hour in a Capacity Block, by instance type and Region."""

ON_DEMAND_PRICES: Final[Mapping[tuple[str, str], Price]] = MappingProxyType(
    {
        (name, region): _per_hour(usd, source=_ON_DEMAND, dated=_ON_DEMAND_DATED)
        for name, machine in MACHINES.items()
        for region, usd in machine.on_demand_usd.items()
    }
    | {
        (item.name, region): price
        for (item, region), price in PRICE_TABLE.items()
        if item.kind == "on-demand"
    }
)
"""On-demand price of one instance hour with Linux, by instance type and Region."""

SPOT_PRICES: Final[Mapping[tuple[str, str], Price]] = MappingProxyType(
    {
        (name, region): Price(
            amount=None,
            unit="instance-hour",
            source=_SPOT,
            dated=_SPOT_DATED,
            reason=f"moves at any time; {spot.seen}",
            seen=(spot.lowest_usd, spot.highest_usd),
        )
        for name, machine in MACHINES.items()
        for region, spot in machine.spot.items()
    }
)
"""Spot prices of one instance hour that were seen, by instance type and Region. Never an amount to rely on."""


def capacity_block_price(instance_type: str, region: str) -> Price:
    """Return the list price of one instance hour in a Capacity Block."""
    return CAPACITY_BLOCK_PRICES.get((instance_type, region)) or unknown_price(
        "instance-hour",
        source=_BLOCK_PAGE,
        reason=f"no dated list price for blocks of {instance_type} in {region}; ask for offerings",
    )


def on_demand_price(instance_type: str, region: str) -> Price:
    """Return the on-demand price of one instance hour with Linux."""
    return ON_DEMAND_PRICES.get((instance_type, region)) or unknown_price(
        "instance-hour", source=_ON_DEMAND, reason=f"no dated on-demand price for {instance_type} in {region}"
    )


def spot_price(instance_type: str, region: str) -> Price:
    """Return the range of Spot prices of one instance hour that were seen."""
    return SPOT_PRICES.get((instance_type, region)) or unknown_price(
        "instance-hour", source=_SPOT, reason=f"no Spot price of {instance_type} was seen in {region}"
    )


def lustre_storage_price(deployment_type: str, per_unit_storage_throughput: int | None, region: str) -> Price:
    """Return the price of one GB of FSx for Lustre storage with SSDs per month."""
    item = BillableItem(kind="lustre", name=deployment_type, tier=per_unit_storage_throughput)
    tier = (
        deployment_type
        if per_unit_storage_throughput is None
        else f"{deployment_type}-{per_unit_storage_throughput}"
    )
    return PRICE_TABLE.get((item, region)) or unknown_price(
        "GB-month", source=_PRICE_LIST, reason=f"no dated price for {tier} in {region}"
    )


def unknown_price(unit: PriceUnit, *, source: str, reason: str) -> Price:
    """Return a price without an amount, with the sources that were searched and the reason."""
    return Price(amount=None, unit=unit, source=source, dated=_SEARCHED, reason=reason)
