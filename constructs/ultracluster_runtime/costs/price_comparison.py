"""Dated list prices to compare an offering with, per chip-hour."""

from dataclasses import dataclass
from decimal import Decimal

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.prices.prices import Price, capacity_block_price, on_demand_price

_ALTERNATIVE = "p5.48xlarge"  # the usual alternative to Trainium
_LIST_REGION = "us-east-1"  # the catalog has On-Demand prices for this Region only


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """List price of an instance-hour to compare an offering with."""

    label: str  # name of what the price buys
    price: Price
    per_chip_hour: Decimal | None


def compare_prices(instance_type: str, region: str) -> list[Comparison]:
    """Return list prices to compare an offering with: the same type as a block and On-Demand, and a p5 block."""
    on_demand = on_demand_price(instance_type, _LIST_REGION)
    return [
        _block(instance_type, region),
        _comparison(f"{instance_type} on demand in {_LIST_REGION}", instance_type, on_demand),
        _block(_ALTERNATIVE, _LIST_REGION),
    ]


def _block(instance_type: str, region: str) -> Comparison:
    price = capacity_block_price(instance_type, region)
    return _comparison(f"{instance_type} block, list price in {region}", instance_type, price)


def _comparison(label: str, instance_type: str, price: Price) -> Comparison:
    node_type = INSTANCE_TYPES.get(instance_type)
    chip = None if price.amount is None or node_type is None else price.amount / node_type.chips
    return Comparison(label=label, price=price, per_chip_hour=chip)
