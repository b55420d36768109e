"""Decisions of a person on an order after its approval: revoke or cancel it, or close it."""

from datetime import datetime
from typing import Final

from ultracluster_runtime.purchasing import effects
from ultracluster_runtime.purchasing.evidence import Evidence, find_evidence
from ultracluster_runtime.purchasing.fold import (
    read_record,
    refused_by_aws,
    unanswered,
    wrong_state,
)
from ultracluster_runtime.purchasing.orders import OnDemandOrder, OrderState, Record
from ultracluster_runtime.purchasing.reconcile import Outcome, apply_change, findings_for, settle
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.record import RuleRecord

_BOUGHT: Final = frozenset({OrderState.PURCHASED, OrderState.PAID})


def cancel(name: str) -> effects.Steps[Outcome]:
    """Revoke an approval, or cancel an On-Demand Capacity Reservation; AWS refunds nothing else (UC7040)."""
    record: Record = yield from read_record(name)
    if record.state is OrderState.APPROVED:
        return (yield from _record_decision(record, OrderState.REVOKED, "the approval was revoked"))
    if record.state not in _BOUGHT:
        raise wrong_state(f"order {name} is {record.state}", allowed="APPROVED, PURCHASED or PAID")
    if not isinstance(record.order, OnDemandOrder) or record.region is None:
        raise FindingsError.of(
            "UC7040",
            f"order {name} is a {record.order.kind}",
            allowed="On-Demand Capacity Reservations can be cancelled; Capacity Blocks and extensions cannot",
        )
    for reservation_id in record.reservation_ids:
        reply = yield effects.CancelReservation(region=record.region, reservation_id=reservation_id)
        if isinstance(reply, effects.Refused):
            raise refused_by_aws(f"AWS refused to cancel {reservation_id}: {reply.code}: {reply.message}")
        if not isinstance(reply, effects.Committed):
            raise unanswered(
                f"whether {reservation_id} was cancelled is unknown: {reply.message}", remedy="Cancel again"
            )
    return (yield from _record_decision(record, OrderState.CANCELLED, "cancelled"))


def close(name: str, *, evidence: str) -> effects.Steps[Outcome]:
    """Decide that an UNKNOWN order bought nothing, after another lookup in EC2.

    `evidence` is the reason (UC7044), such as the CloudTrail query and its result.
    """
    if not evidence.strip():
        raise FindingsError.of(
            "UC7044", "evidence is missing", allowed="what you checked, such as the CloudTrail query"
        )
    record: Record = yield from read_record(name)
    if record.state is not OrderState.UNKNOWN:
        raise wrong_state(f"order {name} is {record.state}", allowed="UNKNOWN")
    found_evidence: Evidence = yield from find_evidence(record)
    if found_evidence.verdict is not None:
        record = yield from settle(
            record, found_evidence.verdict, reason="found in EC2", evidence=found_evidence
        )
        return Outcome(record=record, findings=findings_for(record))
    return (yield from _record_decision(record, OrderState.CLOSED, f"nothing was bought: {evidence.strip()}"))


def _record_decision(record: Record, state: OrderState, reason: str) -> effects.Steps[Outcome]:
    now: datetime = yield effects.Now()
    after = apply_change(record, state, reason=reason, evidence=Evidence(), now=now)
    if after is None:
        return Outcome(record=record)
    reply = yield effects.Advance(before=record, after=after)
    if isinstance(reply, effects.Committed):
        return Outcome(record=after)
    if isinstance(reply, effects.ConditionFailed):
        raise wrong_state(f"order {record.order.name} changed concurrently", remedy="Check its status")
    raise unanswered(f"the ledger did not confirm: {reply.message}", remedy="Check the status of the order")


RECORDS: Final = (
    RuleRecord(
        "UC7040",
        "Only cancellable purchases are cancelled.",
        remedy="Use the block, share it with AWS RAM, or let it end: Capacity Blocks cannot be cancelled.",
        source="EC2 user guide, Capacity Blocks for ML, 2026-10: no cancellation.",
    ),
    RuleRecord(
        "UC7044",
        "An order is closed on evidence.",
        remedy="Describe what you checked, such as the CloudTrail query and its time; it is stored in the ledger.",
        source="Our decision: a closed order frees its money for another one.",
    ),
)
