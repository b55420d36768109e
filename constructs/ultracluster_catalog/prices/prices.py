"""Prices with their dates, for estimates and comparisons only.

Nothing is bought on the strength of these figures: a Capacity Block costs the `UpfrontFee` of its offering. What no
dated source says is unknown (`amount` is None, with the reason), never guessed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Final, Literal

__all__ = [
    "CAPACITY_BLOCK_PRICES",
    "LUSTRE_STORAGE_PRICES",
    "ON_DEMAND_PRICES",
    "SPOT_PRICES",
    "Price",
    "capacity_block_price",
    "lustre_storage_price",
    "on_demand_price",
    "spot_price",
    "unknown_price",
]

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
"""What a price buys one of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """One list price.

    Attributes:
        amount: The price. None when no dated source says it, or when it moves.
        unit: What it buys one of.
        source: Where it comes from; where it was looked for, when unknown.
        dated: The day of the evidence; the day of the search, when unknown.
        reason: Why the amount is not known; empty when it is.
        currency: Of the amount. Default: USD.
        seen: The lowest and the highest amount that a source saw of a price that moves. Default: none.
    """

    amount: Decimal | None
    unit: PriceUnit
    source: str
    dated: date
    reason: str = ""
    currency: str = "USD"
    seen: tuple[Decimal, Decimal] | None = None

    @property
    def bounds(self) -> tuple[Decimal, Decimal] | None:
        """The lowest and the highest amount: twice the same where the price is known, None where nothing is."""
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
_SEARCHED: Final = date(2026, 11, 20)

_P5_ELSEWHERE: Final = (
    "ap-northeast-1 ap-south-1 ap-southeast-2 ap-southeast-3 eu-north-1 eu-west-2 sa-east-1"
)

_BLOCK_ROWS: Final = (
    (
        "trn1.32xlarge",
        "9.532",
        "us-east-1 us-east-2 us-west-2 eu-north-1 ap-south-1 ap-southeast-2 ap-southeast-4",
    ),
    ("trn2.3xlarge", "2.235", "ap-southeast-4 sa-east-1"),
    ("trn2.48xlarge", "35.7608", "us-east-2"),
    ("p4d.24xlarge", "11.8", "us-east-1 us-east-2 us-west-2"),
    ("p4de.24xlarge", "17.712", "us-east-1 us-west-2"),
    ("p5.4xlarge", "5.191", "us-east-1 us-east-2 us-west-2"),
    ("p5.4xlarge", "4.72", "ap-northeast-1 ap-south-1 ap-southeast-2 eu-west-2 sa-east-1"),
    ("p5.48xlarge", "41.528", "us-east-1 us-east-2 us-west-1 us-west-2"),
    ("p5.48xlarge", "37.76", _P5_ELSEWHERE),
    ("p5e.48xlarge", "47.76", f"us-east-2 us-west-1 us-west-2 {_P5_ELSEWHERE}"),
    ("p5en.48xlarge", "54.92", "us-east-1 us-east-2 us-west-1 us-west-2"),
    (
        "p5en.48xlarge",
        "49.928",
        "ap-northeast-1 ap-northeast-2 ap-south-1 ap-southeast-3 eu-north-1 eu-south-2 eu-west-2",
    ),
    ("p6-b200.48xlarge", "98.84", "us-east-1 us-east-2 us-west-2 ap-south-1"),
    ("p6-b200.48xlarge", "102.96", "us-gov-east-1 us-gov-west-1"),
    ("p6-b300.48xlarge", "112.32", "us-east-1 us-west-2"),
    ("p6-b300.48xlarge", "117.0", "us-gov-east-1"),
)


def _per_hour(amount: str, *, source: str, dated: date) -> Price:
    return Price(amount=Decimal(amount), unit="instance-hour", source=source, dated=dated)


CAPACITY_BLOCK_PRICES: Final[Mapping[tuple[str, str], Price]] = MappingProxyType(
    {
        (name, region): _per_hour(amount, source=_BLOCK_PAGE, dated=_BLOCK_PAGE_DATED)
        for name, amount, regions in _BLOCK_ROWS
        for region in regions.split()
    }
    | {("trn2.48xlarge", "ap-south-2"): _per_hour("35.7608", source=_BLOCK_FIELD, dated=_BLOCK_FIELD_DATED)}
)
"""List price of a Capacity Block for one instance and hour, by instance type and Region."""

ON_DEMAND_PRICES: Final[Mapping[tuple[str, str], Price]] = MappingProxyType(
    {
        (name, "us-east-1"): _per_hour(amount, source=_ON_DEMAND, dated=_ON_DEMAND_DATED)
        for name, amount in {
            "trn1.2xlarge": "1.34375",
            "trn1.32xlarge": "21.50",
            "trn1n.32xlarge": "24.78",
            "inf2.xlarge": "0.7582",
            "inf2.8xlarge": "1.96786",
            "inf2.24xlarge": "6.49063",
            "inf2.48xlarge": "12.98127",
            "p4d.24xlarge": "21.957642",
            "p4de.24xlarge": "27.44705",
            "p5.4xlarge": "6.88",
            "p5.48xlarge": "55.04",
            "p5en.48xlarge": "63.296",
            "p6-b200.48xlarge": "113.9328",
            "p6-b300.48xlarge": "142.416",
        }.items()
    }
)
"""On-demand price of one instance and hour with Linux, by instance type and Region."""

SPOT_PRICES: Final[Mapping[tuple[str, str], Price]] = MappingProxyType(
    {
        (name, region): Price(
            amount=None,
            unit="instance-hour",
            source=_SPOT,
            dated=_SPOT_DATED,
            reason=reason,
            seen=(Decimal(low), Decimal(high)),
        )
        for name, region, low, high, reason in (
            ("trn2.48xlarge", "us-east-2", "8.99", "15.37", "moves at any time; seen in 30 days"),
            ("trn1.32xlarge", "us-east-2", "2.15", "2.15", "moves at any time; seen once"),
            ("trn2.3xlarge", "ap-southeast-4", "2.27", "2.27", "moves at any time; seen once"),
            ("trn2.3xlarge", "sa-east-1", "2.57", "2.57", "moves at any time; seen once"),
        )
    }
)
"""What was seen of the Spot price of one instance and hour, by instance type and Region. Never an amount to rely on."""

LUSTRE_STORAGE_PRICES: Final[Mapping[tuple[str, int | None, str], Price]] = MappingProxyType(
    {
        (deployment_type, throughput, "us-east-1"): Price(
            amount=Decimal(amount), unit="GB-month", source=_LUSTRE, dated=_LUSTRE_DATED
        )
        for deployment_type, throughput, amount in (
            ("PERSISTENT_2", 125, "0.145"),
            ("SCRATCH_2", None, "0.140"),
        )
    }
)
"""Price of FSx for Lustre with SSD storage, by deployment type, MB/s per TiB and Region."""


def capacity_block_price(instance_type: str, region: str) -> Price:
    """Give the list price of a Capacity Block for one instance and hour.

    Args:
        instance_type: The API name.
        region: The Region of the block.
    """
    return CAPACITY_BLOCK_PRICES.get((instance_type, region)) or unknown_price(
        "instance-hour",
        source=_BLOCK_PAGE,
        reason=f"no dated list price for blocks of {instance_type} in {region}; ask for offerings",
    )


def on_demand_price(instance_type: str, region: str) -> Price:
    """Give the on-demand price of one instance and hour with Linux.

    Args:
        instance_type: The API name.
        region: The Region of the instance; prices are kept for us-east-1 only.
    """
    return ON_DEMAND_PRICES.get((instance_type, region)) or unknown_price(
        "instance-hour",
        source=_ON_DEMAND,
        reason=f"no dated on-demand price for {instance_type} in {region}",
    )


def spot_price(instance_type: str, region: str) -> Price:
    """Give what was seen of the Spot price of one instance and hour: a range, never an amount.

    Args:
        instance_type: The API name.
        region: The Region of the instance.
    """
    return SPOT_PRICES.get((instance_type, region)) or unknown_price(
        "instance-hour", source=_SPOT, reason=f"no Spot price of {instance_type} was seen in {region}"
    )


def lustre_storage_price(deployment_type: str, per_unit_storage_throughput: int | None, region: str) -> Price:
    """Give the price of one GB of FSx for Lustre storage for a month.

    Args:
        deployment_type: Such as ``PERSISTENT_2``.
        per_unit_storage_throughput: In MB/s per TiB. None for scratch types.
        region: The Region of the file system; prices are kept for us-east-1 only.
    """
    tier = (
        deployment_type
        if per_unit_storage_throughput is None
        else f"{deployment_type}-{per_unit_storage_throughput}"
    )
    return LUSTRE_STORAGE_PRICES.get((deployment_type, per_unit_storage_throughput, region)) or unknown_price(
        "GB-month", source=_LUSTRE, reason=f"no dated price for {tier} in {region}"
    )


def unknown_price(unit: PriceUnit, *, source: str, reason: str) -> Price:
    """Give a price that no dated source says.

    Args:
        unit: What it would buy one of.
        source: Where it was looked for.
        reason: Why it is not known.
    """
    return Price(amount=None, unit=unit, source=source, dated=_SEARCHED, reason=reason)
