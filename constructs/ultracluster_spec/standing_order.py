"""What a person waits for: a Capacity Block that is not on offer yet, with a cap and an end."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_UP, Decimal
from typing import Annotated, Final

from ultracluster_catalog.capacity.capacity_blocks import MAX_INSTANCES_PER_BLOCK, block_counts
from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK, InstanceType
from ultracluster_catalog.prices.prices import capacity_block_price
from ultracluster_spec.bounds import Between
from ultracluster_spec.capacity import check_block_duration
from ultracluster_spec.findings import Finding, require
from ultracluster_spec.names import REGION
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.times import UtcTime
from ultracluster_spec.values import Value

_CODE: Final = "UC7151"
_NODES: Final = Between(_CODE, 1, MAX_INSTANCES_PER_BLOCK)


@dataclass(frozen=True, kw_only=True, slots=True)
class StandingOrder(Value):
    """A Capacity Block to wait for."""

    nodes: Annotated[int, _NODES]
    """Number of nodes, 1 to 64; with `at_least`, the largest number."""

    at_least: Annotated[int, _NODES] | None = None
    """Smallest number of nodes to accept. Default: exactly `nodes`."""

    days: Annotated[int, Between(_CODE, 1, 182)]
    """Duration in days: 1 to 14, or whole weeks up to 182."""

    start_after: Annotated[datetime, UtcTime()]
    """Earliest start: ISO 8601 in UTC, in quotes."""

    start_before: Annotated[datetime, UtcTime()]
    """Latest start: ISO 8601 in UTC, in quotes. Nothing is searched after it."""

    regions: tuple[Annotated[str, REGION], ...] = ()
    """Regions to search. Default: that of the stack."""

    max_usd: Annotated[int, Between(_CODE, 1, 1_000_000_000)]
    """Highest fee of the block in dollars."""

    until: Annotated[datetime, UtcTime()]
    """End of the search: ISO 8601 in UTC, in quotes."""

    @property
    def counts(self) -> tuple[int, ...]:
        """Numbers of nodes to search for, largest first."""
        return block_counts(self.nodes, self.at_least)

    def list_price(self, instance_type: InstanceType) -> Decimal | None:
        """Return the lowest list price of a node-hour in its Regions; None without one in each."""
        prices = [capacity_block_price(instance_type.name, region).amount for region in self.regions]
        known = [price for price in prices if price is not None]
        return min(known) if known and len(known) == len(prices) else None


def check_standing_order(order: StandingOrder, instance_type: InstanceType) -> list[Finding]:
    """Return what makes a standing order one that can never match (UC7151, UC7101)."""
    return [
        *(finding.at("days") for finding in check_block_duration(order.days * 24)),
        *_check_match(order, instance_type),
    ]


def _check_match(order: StandingOrder, instance_type: InstanceType) -> Iterator[Finding]:
    yield from require(
        CAPACITY_BLOCK in instance_type.purchase_options and not instance_type.in_ultraserver,
        _CODE,
        f"{instance_type.name} is not sold as a Capacity Block of instances",
        remedy="Search for UltraServers with `ultracluster capacity find --ultraservers`"
        if instance_type.in_ultraserver
        else "Choose a type with Capacity Blocks",
        path="nodes",
    )
    yield from require(
        order.at_least is None or order.at_least <= order.nodes,
        _CODE,
        f"got at_least {order.at_least} of {order.nodes} nodes",
        allowed=f"1 to {order.nodes}",
        path="at_least",
    )
    yield from require(
        order.start_after <= order.start_before,
        _CODE,
        f"no start lies between {order.start_after.isoformat()} and {order.start_before.isoformat()}",
        allowed="a time after start_after",
        path="start_before",
    )
    price = order.list_price(instance_type)
    if price is not None:
        least = (price * order.counts[-1] * order.days * 24).quantize(Decimal(1), ROUND_UP)
        yield from require(
            order.max_usd >= least,
            _CODE,
            f"{order.max_usd} is below the list price of {order.counts[-1]} x {instance_type.name} for {order.days} days",
            allowed=f"{least} or more",
            path="max_usd",
        )


RECORDS: Final = (
    RuleRecord(
        "UC7151",
        "A standing order is one that an offering can meet.",
        remedy="Specify nodes, days, a window of starts and a cap that a Capacity Block can have; the cap is at least the list price.",
        source="EC2 user guide, Capacity Blocks for ML, 2026-10: sizes and durations; AWS's price page as the catalogue has it with its date.",
    ),
)
