"""What else the money would buy: dated list prices beside an offering, per chip and hour."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.prices.prices import Price, capacity_block_price, on_demand_price

__all__ = ["Comparison", "compare_prices"]

_ALTERNATIVE = "p5.48xlarge"  # what people compare Trainium with
_LIST_REGION = "us-east-1"  # on-demand prices are kept for this Region only


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One list price beside an offering.

    Attributes:
        label: What it is the price of.
        per_node_hour: Price of an instance-hour. None when no dated source says it.
        per_chip_hour: Price of a chip-hour. None likewise.
        currency: Of the prices.
        source: Where the price comes from, or where it was looked for.
        dated: The day of the evidence, or of the search.
        reason: Why it is not known; empty when it is.
    """

    label: str
    per_node_hour: Decimal | None
    per_chip_hour: Decimal | None
    currency: str
    source: str
    dated: date
    reason: str


def _compare(label: str, instance_type: str, price: Price) -> Comparison:
    machine = INSTANCE_TYPES.get(instance_type)
    chip = price.amount / machine.chips if price.amount is not None and machine is not None else None
    return Comparison(
        label=label,
        per_node_hour=price.amount,
        per_chip_hour=chip,
        currency=price.currency,
        source=price.source,
        dated=price.dated,
        reason=price.reason,
    )


def compare_prices(instance_type: str, region: str) -> list[Comparison]:
    """List prices to hold an offering against: the same type as a block and on demand, and a p5 block.

    Args:
        instance_type: The instance type of the offering.
        region: Its Region.
    """
    prices = [
        (
            f"{instance_type} block, list price in {region}",
            instance_type,
            capacity_block_price(instance_type, region),
        ),
        (
            f"{instance_type} on demand in {_LIST_REGION}",
            instance_type,
            on_demand_price(instance_type, _LIST_REGION),
        ),
        (f"{_ALTERNATIVE} block, list price in {_LIST_REGION}", _ALTERNATIVE, capacity_block_price(_ALTERNATIVE, _LIST_REGION)),
    ]
    return [_compare(label, name, price) for label, name, price in prices]
