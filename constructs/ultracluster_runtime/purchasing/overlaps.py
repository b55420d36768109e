"""Find other orders that may be for the same need, before a second block is bought for it."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from ultracluster_runtime.purchasing.orders import (
    BlockOrder,
    ExtensionOrder,
    OnDemandOrder,
    Order,
    OrderState,
    Record,
)
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.record import RuleRecord

# States of orders that have bought, or may have.
_BEGUN: Final = frozenset({OrderState.SENDING, OrderState.UNKNOWN, OrderState.PURCHASED, OrderState.PAID})


def overlapping(order: Order, records: Iterable[Record], *, now: datetime) -> list[Record]:
    """Return the other orders that overlap in time, and are for the same cluster or of the same size.

    An order counts while it can still buy, or its capacity has not ended.
    """
    return [record for record in records if _is_live(record, now) and _overlaps(order, record, now)]


def _is_live(record: Record, now: datetime) -> bool:
    if record.state is OrderState.APPROVED:
        return now < record.order.expires_at
    return record.state in _BEGUN


def _overlaps(order: Order, record: Record, now: datetime) -> bool:
    if record.order.name == order.name or record.order.account != order.account:
        return False
    start, end = _span(order, now)
    other_start, other_end = _span(record.order, now)
    if record.start and record.end:
        other_start, other_end = record.start, record.end
    meets = start < other_end and other_start < end
    return meets and (order.cluster == record.order.cluster or size(order) == size(record.order))


def _span(order: Order, now: datetime) -> tuple[datetime, datetime]:
    """Return the first and the last time at which the capacity of an order may be there."""
    if isinstance(order, BlockOrder):
        return order.start_after, order.end_by or order.start_before + timedelta(hours=order.max_hours)
    if isinstance(order, ExtensionOrder):
        return order.expected_end, order.expected_end + timedelta(hours=order.extension_hours)
    if isinstance(order, OnDemandOrder):
        return min(now, order.end), order.end
    raise TypeError(f"unknown kind of order: {type(order).__name__}")


def size(order: Order) -> str:
    """Describe what an order buys, such as ``16 x trn2.48xlarge``."""
    if isinstance(order, ExtensionOrder):
        return f"an extension of {order.reservation_id}"
    if isinstance(order, BlockOrder):
        least = "" if order.min_count is None else f"{order.min_count} to "
        return f"{least}{order.count} x {order.instance_type or order.ultraserver_type}"
    return f"{order.count} x {order.instance_type}" if isinstance(order, OnDemandOrder) else order.kind


def describe_overlap(record: Record) -> str:
    """Describe an order that overlaps, in one line."""
    start, end = record.start, record.end
    if start is None or end is None:
        start, end = _span(record.order, record.changed_at)
    return (
        f"order {record.order.name} ({record.state}) for cluster {record.order.cluster}: {size(record.order)}, "
        f"{start:%Y-%m-%d} to {end:%Y-%m-%d}"
    )


def refuse_overlaps(order: Order, others: Iterable[Record]) -> FindingsError:
    """Return a refusal (UC7053) because other orders overlap and were not confirmed."""
    listed = list(others)
    flags = " ".join(f"--besides {record.order.name}" for record in listed)
    return FindingsError.of(
        "UC7053",
        f"{order.name} overlaps {'; '.join(map(describe_overlap, listed))}",
        remedy=f"Nothing was sent. If both are wanted: {flags}; else cancel the one that is not",
    )


RECORDS: Final = (
    RuleRecord(
        "UC7053",
        "Capacity is not bought twice for one need without a word.",
        remedy="Cancel the order that is not wanted, or name it with --besides.",
        source="Our decision: AWS sells two blocks as readily as one, and takes none back (EC2 user guide, Capacity Blocks: cannot be cancelled).",
    ),
)
