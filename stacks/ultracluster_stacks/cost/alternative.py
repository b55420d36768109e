"""Compare the cost of a run with another instance type."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.prices.prices import BillableItem, Price
from ultracluster_rules.machines import get_instance_type
from ultracluster_stacks.cost.bill import Prices
from ultracluster_stacks.cost.estimate import Estimate, estimate_cost


@dataclass(frozen=True, kw_only=True, slots=True)
class Alternative:
    """Another instance type for a cluster, with its price by the same purchase option.

    An estimate of the same run on as many nodes needs a throughput ratio.
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
    """Estimate the same run on another instance type, which must be in the catalogue (UC4001).

    The throughput ratio, measured tokens per second of one node of the other type by those of one node of the cluster,
    shortens the run. Without one, which depends on the model, only prices are compared. GPUs need no compilation.
    Given prices of nodes are ignored.
    """
    machine = get_instance_type(instance_type)
    footprint = own.footprint
    first = footprint.supplies[0]
    known = INSTANCE_TYPES.get(first.instance_type)
    estimate = None
    if throughput_ratio is not None:
        supplies = tuple(replace(supply, instance_type=instance_type) for supply in footprint.paid_supplies())
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
        price=prices(BillableItem(kind=first.market, name=instance_type), footprint.region),
        estimate=estimate,
    )
