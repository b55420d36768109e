"""What a person decides about an order after its approval: take it back, give capacity back, or close it."""

from datetime import datetime
from typing import Final

from ultracluster_runtime.purchasing.effects import (
    Advance,
    CancelReservation,
    Committed,
    ConditionFailed,
    Now,
    Refused,
    Steps,
)
from ultracluster_runtime.purchasing.evidence import Evidence, find_evidence
from ultracluster_runtime.purchasing.order_states import OrderState
from ultracluster_runtime.purchasing.orders import OnDemandOrder
from ultracluster_runtime.purchasing.pagination import (
    read_record,
    refuse,
    refused_by_aws,
    unanswered,
    wrong_state,
)
from ultracluster_runtime.purchasing.reconcile import Outcome, findings_of, settle, with_change
from ultracluster_runtime.purchasing.records import Record

__all__ = ["cancel", "close"]

_BOUGHT: Final = frozenset({OrderState.PURCHASED, OrderState.PAID})


def cancel(name: str) -> Steps[Outcome]:
    """Take an approval back, or give an On-Demand Capacity Reservation back.

    Raises:
        FindingsError: If the order is a purchase that AWS does not take back (UC7040), its state does not allow it
            (UC7023), AWS refuses (UC7031), or the outcome is not known (UC7035).
    """
    record: Record = yield from read_record(name)
    if record.state is OrderState.APPROVED:
        return (yield from _decide(record, OrderState.REVOKED, "the approval was taken back"))
    if record.state not in _BOUGHT:
        raise wrong_state(f"order {name} is {record.state}", allowed="APPROVED, PURCHASED or PAID")
    if not isinstance(record.order, OnDemandOrder) or record.region is None:
        raise refuse(
            "UC7040",
            f"order {name} is a {record.order.kind}",
            allowed="On-Demand Capacity Reservations can be cancelled; Capacity Blocks and extensions cannot",
        )
    for reservation_id in record.reservation_ids:
        reply = yield CancelReservation(region=record.region, reservation_id=reservation_id)
        if isinstance(reply, Refused):
            raise refused_by_aws(f"AWS refused to cancel {reservation_id}: {reply.code}: {reply.message}")
        if not isinstance(reply, Committed):
            raise unanswered(
                f"whether {reservation_id} was cancelled is not known: {reply.message}",
                remedy="Cancel again",
            )
    return (yield from _decide(record, OrderState.CANCELLED, "given back"))


def close(name: str, *, evidence: str) -> Steps[Outcome]:
    """Decide that an UNKNOWN order bought nothing, after one more look at EC2.

    Args:
        name: The order's name.
        evidence: Where the decision comes from, such as the CloudTrail query and its result.

    Raises:
        FindingsError: If no evidence is given (UC7044), or the order is not UNKNOWN (UC7023).
    """
    if not evidence.strip():
        raise refuse(
            "UC7044", "no evidence is given", allowed="what you looked at, such as the CloudTrail query"
        )
    record: Record = yield from read_record(name)
    if record.state is not OrderState.UNKNOWN:
        raise wrong_state(f"order {name} is {record.state}", allowed="UNKNOWN")
    found: Evidence = yield from find_evidence(record)
    if found.verdict is not None:
        record = yield from settle(record, found.verdict, reason="found in EC2", evidence=found)
        return Outcome(record=record, findings=findings_of(record))
    return (yield from _decide(record, OrderState.CLOSED, f"nothing was bought: {evidence.strip()}"))


def _decide(record: Record, state: OrderState, reason: str) -> Steps[Outcome]:
    now: datetime = yield Now()
    after = with_change(record, state, reason=reason, evidence=Evidence(), now=now)
    if after is None:
        return Outcome(record=record)
    reply = yield Advance(before=record, after=after)
    if isinstance(reply, Committed):
        return Outcome(record=after)
    if isinstance(reply, ConditionFailed):
        raise wrong_state(f"order {record.order.name} changed in the meantime", remedy="Look at its status")
    raise unanswered(f"the ledger did not confirm: {reply.message}", remedy="Look at the order's status")
