"""Invariants I1 to I8 of the purchase protocol."""

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from ultracluster_runtime.purchasing.ec2_objects import (
    CreateReservation,
    PurchaseBlock,
    PurchaseExtension,
    Request,
)
from ultracluster_runtime.purchasing.orders import (
    HOLDS_LOCK,
    BlockOrder,
    ExtensionOrder,
    OnDemandOrder,
    OrderState,
    Record,
)

if TYPE_CHECKING:
    from tests.unit.runtime.purchasing.simulation import Process, Simulation


class Violation(AssertionError):  # noqa: N818 - it is the name of the thing in the protocol's specification
    """An invariant does not hold."""


def check_send(simulation: "Simulation", request: Request, process: "Process") -> None:
    """I6 and I7, at the moment at which the request leaves."""
    record = simulation.records.get(process.name)
    if record is None or record.state is not OrderState.SENDING or record.sent_at is None:
        raise Violation(f"I6: sent while the ledger does not say SENDING: {record}")
    if simulation.now - record.sent_at > timedelta(minutes=2):
        raise Violation("I6: sent long after SENDING was written, when others may have given it up")
    if simulation.now >= record.order.expires_at + timedelta(seconds=2):
        raise Violation("I6: sent after the approval expired")
    if process.unread:
        raise Violation(f"I7: sent although {process.unread} was not answered")
    if not process.dry_run_passed:
        raise Violation("I6: sent without a dry run that passed")
    _check_terms(simulation, record, request)
    if isinstance(request, CreateReservation):
        return
    fee = process.last_read[request.offering_id]  # AWS may have raised it since; it sells at the new one
    if fee != record.fee or fee > record.order.max_fee:
        raise Violation(f"I3: the fee was {fee} when it was last read; the ledger says {record.fee}")


def _check_terms(simulation: "Simulation", record: Record, request: Request) -> None:
    order = record.order
    if isinstance(order, BlockOrder):
        _check_block(simulation, order, request)
    elif isinstance(order, ExtensionOrder):
        if not isinstance(request, PurchaseExtension) or request.offering_id != "cbe-9000":
            raise Violation("I6: an extension that breaks the terms")
    elif isinstance(order, OnDemandOrder) and not isinstance(request, CreateReservation):
        raise Violation("I6: not a reservation")


def _check_block(simulation: "Simulation", order: BlockOrder, request: Request) -> None:
    if not isinstance(request, PurchaseBlock) or request.order_name != order.name:
        raise Violation("I6: a purchase without the order's tag")
    offer = next(item for item in simulation.offerings if item.offering_id == request.offering_id)
    size = offer.ultraserver_count if order.ultraserver_type else offer.instance_count
    kept = (
        offer.currency == order.currency,
        size in order.counts,
        offer.ultraserver_type == order.ultraserver_type,
        order.instance_type in {None, offer.instance_type},
        not order.zone_ids or set(offer.zone_ids) <= set(order.zone_ids),
        order.start_after <= offer.start <= order.start_before,
    )
    if not all(kept):
        raise Violation(f"I6: {offer.offering_id} breaks the terms: {kept}")


def check(simulation: "Simulation") -> None:
    """What must hold at any time."""
    _check_purchases(simulation)
    _check_money(simulation)
    _check_locks(simulation)


def check_overlaps(simulation: "Simulation") -> int:
    """I10: two purchases for one cluster, or of one size, at one time were wanted by a person who saw the other.

    Returns:
        The number of pairs that were wanted.
    """
    wanted = 0
    for index, one in enumerate(simulation.bought):
        for other in simulation.bought[:index]:
            first, second = (simulation.records[item.order_name].order for item in (one, other))
            alike = first.cluster == second.cluster or getattr(first, "count", 0) == getattr(
                second, "count", 0
            )
            if first is second or not alike or one.end <= other.start or other.end <= one.start:
                continue
            names = (first.name, second.name)
            if not {names, names[::-1]} & simulation.accepted:
                raise Violation(f"I10: {names} were both bought, and nobody wanted that")
            wanted += 1
    return wanted


def _check_purchases(simulation: "Simulation") -> None:
    for name, sends in simulation.sends.items():
        if sends > 1:
            raise Violation(f"I1: {sends} purchase requests for order {name}")
    for name in simulation.records:
        if len(simulation.bought_for(name)) > 1:
            raise Violation(f"I2: {len(simulation.bought_for(name))} purchases for order {name}")
    if len([item for item in simulation.bought if isinstance(item.request, PurchaseExtension)]) > 1:
        raise Violation("I2: several extensions of one block")


def _check_money(simulation: "Simulation") -> None:
    for name, record in simulation.records.items():
        if sum(item.quoted for item in simulation.bought_for(name)) > record.order.max_fee:
            raise Violation("I3: above the cap of the order")
    held = sum((record.held_fee for record in simulation.records.values()), Decimal(0))
    if sum(simulation.months.values(), Decimal(0)) != held:
        raise Violation(f"I3: the months hold {simulation.months}, the orders {held}")
    caps = [record.order.month_cap for record in simulation.records.values()]
    if caps and sum((item.quoted for item in simulation.bought if item.pays), Decimal(0)) > max(caps):
        raise Violation("I3: above the cap of the month")


def _check_locks(simulation: "Simulation") -> None:
    owners = {record.order.lock: name for name, record in simulation.records.items() if record.holds_lock}
    if owners != simulation.locks:
        raise Violation(f"locks {simulation.locks} are not those of the orders {owners}")
    for record in simulation.records.values():
        if record.holds_lock and record.state not in HOLDS_LOCK:
            raise Violation(f"{record.state} holds a lock")


def check_settled(simulation: "Simulation") -> None:
    """I4: after one reconciliation past all lag and payment, the ledger lists exactly what was bought."""
    check(simulation)
    for name, record in simulation.records.items():
        ids = {reservation_id for item in simulation.bought_for(name) for reservation_id in item.ids}
        blocks = {block_id for item in simulation.bought_for(name) for block_id in item.block_ids}
        if (set(record.reservation_ids), set(record.block_ids)) != (ids, blocks):
            raise Violation(f"I4: {name} lists {record.reservation_ids}, bought is {sorted(ids)}")
        fails = simulation.payment_fails and not isinstance(record.order, OnDemandOrder)
        expected = OrderState.FAILED if fails else OrderState.PAID
        if ids and record.state is not expected:
            raise Violation(f"I4: {name} is {record.state} and should be {expected}")
        if not ids and record.state in {
            OrderState.PURCHASED,
            OrderState.PAID,
            OrderState.FAILED,
            OrderState.SENDING,
        }:
            raise Violation(f"I4: {name} is {record.state} although nothing was bought")
