"""Dated list prices to compare an offering with, per chip-hour."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.prices.prices import Price, capacity_block_price, on_demand_price

_ALTERNATIVE = "p5.48xlarge"  # the usual alternative to Trainium
_LIST_REGION = "us-east-1"  # the catalog has On-Demand prices for this Region only


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """List price to compare an offering with."""

    label: str  # name of what the price buys
    per_node_hour: Decimal | None  # price per instance-hour; None if no dated source has it
    per_chip_hour: Decimal | None  # price per chip-hour; None if no dated source has it
    currency: str
    source: str  # source of the price, or where it was searched for
    dated: date  # date of the source, or of the search
    reason: str  # why the price is unknown; empty if it is known


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
    """Return list prices to compare an offering with: the same type as a block and On-Demand, and a p5 block."""
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
        (
            f"{_ALTERNATIVE} block, list price in {_LIST_REGION}",
            _ALTERNATIVE,
            capacity_block_price(_ALTERNATIVE, _LIST_REGION),
        ),
    ]
    return [_compare(label, name, price) for label, name, price in prices]
