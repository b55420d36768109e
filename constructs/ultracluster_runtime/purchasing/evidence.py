"""Find the purchase of an order in EC2: by tag, or for extensions in their history."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Final

from ultracluster_runtime.purchasing.ec2_objects import Block, Extension, Reservation
from ultracluster_runtime.purchasing.effects import (
    DescribeBlocks,
    DescribeExtensionHistory,
    DescribeReservations,
    Steps,
)
from ultracluster_runtime.purchasing.fold import iterate_pages
from ultracluster_runtime.purchasing.orders import (
    BlockOrder,
    ExtensionOrder,
    OnDemandOrder,
    OrderState,
    Record,
)

# Purchases are sent only if the clocks of AWS and this machine differ by less.
_CLOCK_SKEW: Final = timedelta(minutes=5)
# States of reservations, blocks (botocore 1.44.5) and extensions. Unknown states count as pending.
_GAVE_UP: Final = frozenset({OrderState.REJECTED, OrderState.CLOSED})
_BAD: Final = frozenset({"payment-failed", "failed", "unsupported"})
_GOOD: Final = frozenset(
    {"scheduled", "active", "expired", "cancelled", "cancelling", "unavailable", "payment-succeeded"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Purchase of an order as EC2 shows it."""

    reservation_ids: tuple[str, ...] = ()  # reservations of the order; empty if none were found
    block_ids: tuple[str, ...] = ()
    states: tuple[str, ...] = ()  # id=state of each reservation
    verdict: OrderState | None = None  # PURCHASED, PAID or FAILED; None if nothing was found
    end: datetime | None = None
    zone_ids: tuple[str, ...] = ()
    fee: Decimal | None = None  # as EC2 shows it, which it does for extensions only
    # Untagged reservations that resemble the order and were created after sending, for a person to judge
    lookalikes: tuple[str, ...] = ()


def _verdict(states: set[str]) -> OrderState:
    if states <= _BAD:
        return OrderState.FAILED
    return OrderState.PAID if states <= _GOOD else OrderState.PURCHASED


def find_evidence(record: Record) -> Steps[Evidence]:
    """Find the purchase of an order: all pages, all states, or UC7035."""
    order = record.order
    if isinstance(order, ExtensionOrder):
        return (yield from _extension_evidence(record, order))
    if isinstance(order, BlockOrder):
        regions = (record.region,) if record.region else order.regions
    elif isinstance(order, OnDemandOrder):
        regions = (order.region,)
    else:
        raise TypeError(f"unknown kind of order: {type(order).__name__}")
    reservations: dict[str, Reservation] = {}
    blocks: dict[str, Block] = {}
    lookalikes: list[str] = []
    for region in regions:
        listed: list[Reservation] = yield from iterate_pages(
            partial(DescribeReservations, region=region), f"the Capacity Reservations in {region}"
        )
        tagged = {item.reservation_id: item for item in listed if item.order_name == order.name}
        if isinstance(order, BlockOrder):
            listed_blocks: list[Block] = yield from iterate_pages(
                partial(DescribeBlocks, region=region), f"the Capacity Blocks in {region}"
            )
            for block in listed_blocks:
                if block.order_name == order.name or tagged.keys() & set(block.reservation_ids):
                    blocks[block.block_id] = block
        of_blocks = {reservation_id for block in blocks.values() for reservation_id in block.reservation_ids}
        tagged |= {item.reservation_id: item for item in listed if item.reservation_id in of_blocks}
        reservations |= tagged
        lookalikes += [item.reservation_id for item in listed if _resembles(item, record)]
    states = {item.reservation_id: item.state for item in reservations.values()}
    for block in blocks.values():  # a block may be visible before its reservations
        states |= {item: block.state for item in block.reservation_ids if item not in states}
    if not states:
        return Evidence(lookalikes=tuple(sorted(lookalikes)))
    return Evidence(
        reservation_ids=tuple(sorted(states)),
        block_ids=tuple(sorted(blocks)),
        states=tuple(f"{item}={state}" for item, state in sorted(states.items())),
        verdict=_verdict(set(states.values())),
        end=max((item.end for item in reservations.values() if item.end), default=None),
        zone_ids=tuple(sorted({item.zone_id for item in reservations.values() if item.zone_id})),
    )


def _resembles(item: Reservation, record: Record) -> bool:
    if item.order_name is not None or record.sent_at is None or item.created is None:
        return False
    return item.created >= record.sent_at - _CLOCK_SKEW and (item.start, item.end) == (
        record.start,
        record.end,
    )


def _extension_evidence(record: Record, order: ExtensionOrder) -> Steps[Evidence]:
    if record.offering_id is None or record.sent_at is None or record.state in _GAVE_UP:
        # Extensions carry no tag. This order sent none, so any extension belongs to another order.
        return Evidence()
    extensions: list[Extension] = yield from iterate_pages(
        partial(DescribeExtensionHistory, region=order.region, reservation_id=order.reservation_id),
        "the history of extensions",
    )
    # A change after a later sending: the order was sent by a clock that was ahead (see reconcile).
    since = (
        record.sent_at - _CLOCK_SKEW
        if record.sent_at <= record.changed_at
        else datetime.min.replace(tzinfo=UTC)
    )
    own = [
        item
        for item in extensions
        if item.offering_id == record.offering_id
        and item.reservation_id == order.reservation_id
        and item.start == order.expected_end
        and item.purchased_at >= since
    ]
    states = {item.status for item in own}
    if not states:
        return Evidence()
    return Evidence(
        reservation_ids=(order.reservation_id,),
        states=tuple(f"{order.reservation_id}={state}" for state in sorted(states)),
        verdict=_verdict(states),
        fee=own[0].fee if len(own) == 1 else None,
    )
