"""List prices with sources and dates, for estimates and comparisons only.

Purchases never rely on these figures: a Capacity Block costs the `UpfrontFee` of its offering. A price without a dated
source is unknown (`amount` is None, with the reason) and never guessed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
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
        borrowed_from: Region whose price it is, in place of a Region without one. Default: the Region's own price.
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
_LUSTRE: Final = "AWS Price List API, field report"
_LUSTRE_DATED: Final = date(2026, 7, 13)
# Sources without a date are dated by the day on which they were read.
_LUSTRE_OHIO: Final = "undated field report"
_LUSTRE_OHIO_DATED: Final = date(2026, 11, 22)
_LUSTRE_FASTEST: Final = "undated public notes, $0.145 to $0.600"
_LUSTRE_FASTEST_DATED: Final = date(2026, 11, 22)
_LUSTRE_TOKYO: Final = "price of 9.6 TiB an hour ($6.19), classmethod.jp, FSx for Lustre Persistent 2"
_LUSTRE_TOKYO_DATED: Final = date(2022, 9, 3)
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

LUSTRE_STORAGE_PRICES: Final[Mapping[tuple[str, int | None, str], Price]] = MappingProxyType(
    {
        (deployment_type, throughput, region): Price(
            amount=Decimal(amount), unit="GB-month", source=source, dated=dated
        )
        for deployment_type, throughput, region, amount, source, dated in (
            ("PERSISTENT_2", 125, "us-east-1", "0.145", _LUSTRE, _LUSTRE_DATED),
            ("PERSISTENT_2", 250, "us-east-2", "0.21", _LUSTRE_OHIO, _LUSTRE_OHIO_DATED),
            ("PERSISTENT_2", 1000, "us-east-1", "0.600", _LUSTRE_FASTEST, _LUSTRE_FASTEST_DATED),
            ("SCRATCH_2", None, "us-east-1", "0.140", _LUSTRE, _LUSTRE_DATED),
        )
    }
    | {
        ("PERSISTENT_2", 500, "ap-northeast-1"): Price(
            amount=None,
            unit="GB-month",
            source=_LUSTRE_TOKYO,
            dated=_LUSTRE_TOKYO_DATED,
            reason="a price per hour was published, which is that of a month of 720 or 730 hours",
            seen=(Decimal("0.464"), Decimal("0.471")),
        )
    }
)
"""Price of FSx for Lustre with SSD storage, by deployment type, MB/s per TiB and Region."""


def capacity_block_price(instance_type: str, region: str) -> Price:
    """Return the list price of one instance hour in a Capacity Block."""
    return CAPACITY_BLOCK_PRICES.get((instance_type, region)) or unknown_price(
        "instance-hour",
        source=_BLOCK_PAGE,
        reason=f"no dated list price for blocks of {instance_type} in {region}; ask for offerings",
    )


def on_demand_price(instance_type: str, region: str) -> Price:
    """Return the on-demand price of one instance hour with Linux; only us-east-1 has prices."""
    return ON_DEMAND_PRICES.get((instance_type, region)) or unknown_price(
        "instance-hour", source=_ON_DEMAND, reason=f"no dated on-demand price for {instance_type} in {region}"
    )


def spot_price(instance_type: str, region: str) -> Price:
    """Return the range of Spot prices of one instance hour that were seen."""
    return SPOT_PRICES.get((instance_type, region)) or unknown_price(
        "instance-hour", source=_SPOT, reason=f"no Spot price of {instance_type} was seen in {region}"
    )


def lustre_storage_price(deployment_type: str, per_unit_storage_throughput: int | None, region: str) -> Price:
    """Return the price of one GB of FSx for Lustre storage per month; few Regions have prices."""
    tier = (
        deployment_type
        if per_unit_storage_throughput is None
        else f"{deployment_type}-{per_unit_storage_throughput}"
    )
    return LUSTRE_STORAGE_PRICES.get((deployment_type, per_unit_storage_throughput, region)) or unknown_price(
        "GB-month", source=_LUSTRE, reason=f"no dated price for {tier} in {region}"
    )


def unknown_price(unit: PriceUnit, *, source: str, reason: str) -> Price:
    """Return a price without an amount, with the sources that were searched and the reason."""
    return Price(amount=None, unit=unit, source=source, dated=_SEARCHED, reason=reason)
