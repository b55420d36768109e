"""Bringing the ledger up to what happened. Read-only towards EC2, and never a way back to sending."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_runtime.purchasing.ec2_objects import Quote
from ultracluster_runtime.purchasing.effects import Advance, Committed, ConditionFailed, Now, Sleep, Steps
from ultracluster_runtime.purchasing.evidence import Evidence, find_evidence
from ultracluster_runtime.purchasing.order_states import HOLDS_LOCK, TRANSITIONS, OrderState
from ultracluster_runtime.purchasing.pagination import read_record
from ultracluster_runtime.purchasing.records import Record

__all__ = ["UNKNOWN_AFTER", "Outcome", "apply_change", "findings_for", "reconcile", "settle"]

UNKNOWN_AFTER: Final = timedelta(minutes=30)
"""How long after sending an order without a trace in EC2 is given to a person to decide."""
_ATTEMPTS: Final = 3  # of a write that says what happened already; it is safe to repeat


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How a command on an order ended.

    Attributes:
        record: The order as the ledger holds it now, as far as is known.
        findings: What a person should know.
        quote: What was sent for, if this command sent something.
    """

    record: Record
    findings: tuple[Finding, ...] = ()
    quote: Quote | None = None


def settle(
    record: Record, state: OrderState, *, reason: str, evidence: Evidence | None = None
) -> Steps[Record]:
    """Write what is known to have happened, in spite of lost replies and of others who write the same.

    Ids that the ledger holds are kept; a state that the ledger's own state does not lead to is not written; an
    attempt of another process (another nonce) is left alone.

    Returns:
        The order as the ledger holds it. If the ledger never confirmed, as it was before: reconciling repeats this.
    """
    nonce = record.nonce
    for attempt in range(_ATTEMPTS):
        now: datetime = yield Now()
        after = apply_change(record, state, reason=reason, evidence=evidence or Evidence(), now=now)
        if after is None:
            return record
        reply = yield Advance(before=record, after=after)
        if isinstance(reply, Committed):
            return after
        if isinstance(reply, ConditionFailed):
            try:
                record = yield from read_record(record.order.name)
            except FindingsError:
                return record
            if record.nonce != nonce:
                return record
        else:
            yield Sleep(1.0 + attempt)
    return record


def apply_change(
    record: Record, state: OrderState, *, reason: str, evidence: Evidence, now: datetime
) -> Record | None:
    """The record in a new state with new evidence; in its old state where no edge leads to the new one.

    Returns:
        The changed record. None when there is nothing to write.
    """
    target = state if state in TRANSITIONS[record.state] else record.state
    after = replace(
        record,
        state=target,
        holds_lock=record.holds_lock and target in HOLDS_LOCK,
        reservation_ids=tuple(sorted({*record.reservation_ids, *evidence.reservation_ids})),
        block_ids=tuple(sorted({*record.block_ids, *evidence.block_ids})),
        ec2_states=evidence.states or record.ec2_states,
        zone_ids=evidence.zone_ids or record.zone_ids,
    )
    return (
        None if after == record else replace(after, version=record.version + 1, changed_at=now, reason=reason)
    )


def reconcile(name: str) -> Steps[Outcome]:
    """Bring the ledger up to what EC2 shows. Sends nothing that changes EC2; may be run at any time, by anybody.

    Raises:
        FindingsError: If the ledger or EC2 cannot be read (UC7035), or the order is not there or not intact.
    """
    record: Record = yield from read_record(name)
    if record.state in {OrderState.APPROVED, OrderState.REVOKED, OrderState.CANCELLED}:
        return Outcome(record=record)
    evidence: Evidence = yield from find_evidence(record)
    if evidence.verdict is not None:
        record = yield from settle(record, evidence.verdict, reason="found in EC2", evidence=evidence)
    elif record.state is OrderState.SENDING and record.sent_at is not None:
        now: datetime = yield Now()
        if now - record.sent_at >= UNKNOWN_AFTER:
            reason = "nothing found in EC2 30 minutes after sending"
            record = yield from settle(record, OrderState.UNKNOWN, reason=reason)
    return Outcome(record=record, findings=findings_for(record, lookalikes=evidence.lookalikes))


def findings_for(record: Record, *, lookalikes: tuple[str, ...] = ()) -> tuple[Finding, ...]:
    """What a person should know about an order in its state; `lookalikes` are untagged reservations like it."""
    name = record.order.name
    if record.state is OrderState.SENDING:
        return (
            Finding(
                code="UC7036",
                problem=f"order {name} was sent and its outcome is not known yet: {record.reason}",
                remedy=f"Do not buy again; run `ultracluster capacity reconcile {name}` in a few minutes",
            ),
        )
    if record.state is OrderState.UNKNOWN:
        seen = f"; these reservations carry no tag but resemble it: {', '.join(lookalikes)}"
        return (
            Finding(
                code="UC7037",
                problem=f"nobody knows whether order {name} was bought{seen if lookalikes else ''}",
                remedy="Look in CloudTrail for the purchase call. If there is none, close the order with "
                "--nothing-bought and the evidence; a new purchase is a new order",
            ),
        )
    if record.state is OrderState.FAILED:
        states = ", ".join(record.ec2_states)
        return (
            Finding(
                code="UC7038",
                problem=f"AWS released what order {name} bought: {states}",
                remedy="Nothing is owed for it (EC2 User Guide). A new purchase is a new order",
            ),
        )
    if record.state is OrderState.REJECTED:
        return (Finding(code="UC7039", problem=f"order {name} bought nothing: {record.reason}"),)
    return ()
