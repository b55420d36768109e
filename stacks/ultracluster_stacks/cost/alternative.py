"""The same run on another instance type, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES, get_instance_type
from ultracluster_catalog.prices.billable_items import PricedThing
from ultracluster_catalog.prices.prices import Price
from ultracluster_stacks.cost.bill import Prices
from ultracluster_stacks.cost.estimate import Estimate, estimate_cost

__all__ = ["Alternative", "compare_with"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Alternative:
    """Another instance type beside that of a cluster.

    Attributes:
        instance_type: Its name.
        chips_per_node: Its chips.
        own_chips_per_node: Chips of the cluster's own type.
        price: Price of a node-hour, bought in the same way.
        estimate: The same run on as many nodes of it. None where nobody said how fast they are.
    """

    instance_type: str
    chips_per_node: int
    own_chips_per_node: int
    price: Price
    estimate: Estimate | None


def compare_with(
    instance_type: str,
    own: Estimate,
    *,
    prices: Prices,
    throughput_ratio: Decimal | None,
    given: Mapping[str, Price] | None = None,
) -> Alternative:
    """Estimate the same run on another instance type.

    The run ends earlier by the ratio. Nothing is compiled ahead for a GPU.

    Args:
        instance_type: The other type.
        own: The estimate for the cluster.
        prices: Where prices come from.
        throughput_ratio: Tokens per second of one node of the other type over those of one node of the cluster, as you
            measured them. None: only prices are compared, since there is no such figure that holds for all models.
        given: Prices by the name of their line, of which those of nodes are not those of the other type. Default: none.

    Raises:
        FindingsError: If the catalogue does not know the type (UC4001).
    """
    machine = get_instance_type(instance_type)
    footprint = own.footprint
    first = footprint.supplies[0]
    known = INSTANCE_TYPES.get(first.instance_type)
    estimate = None
    if throughput_ratio is not None:
        supplies = tuple(replace(each, instance_type=instance_type) for each in footprint.paid_supplies())
        speed = own.usage.tokens_per_second
        usage = replace(
            own.usage,
            hours=own.usage.hours / throughput_ratio,
            tokens_per_second=None if speed is None else speed * throughput_ratio,
            compile_hours=own.usage.compile_hours if machine.is_neuron else Decimal(0),
            savings_plan_rate=None,
        )
        estimate = estimate_cost(
            replace(footprint, supplies=supplies),
            usage=usage,
            prices=prices,
            given={name: price for name, price in (given or {}).items() if not name.startswith("nodes")},
        )
    return Alternative(
        instance_type=instance_type,
        chips_per_node=machine.chips,
        own_chips_per_node=known.chips if known else 0,
        price=prices(PricedThing(kind=first.market, name=instance_type), footprint.region),
        estimate=estimate,
    )
