"""Update the ledger to what happened. Read-only in EC2; no order becomes sendable again."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from ultracluster_runtime.purchasing.clock import MOST_CLOCK_SKEW
from ultracluster_runtime.purchasing.ec2_objects import Quote
from ultracluster_runtime.purchasing.effects import (
    Advance,
    Committed,
    ConditionFailed,
    Now,
    ReadClock,
    ReadFailed,
    Sleep,
    Steps,
)
from ultracluster_runtime.purchasing.evidence import Evidence, find_evidence
from ultracluster_runtime.purchasing.fold import read_record
from ultracluster_runtime.purchasing.orders import HOLDS_LOCK, TRANSITIONS, OrderState, Record
from ultracluster_spec.findings import Finding, FindingsError, Severity
from ultracluster_spec.record import RuleRecord

UNKNOWN_AFTER: Final = timedelta(minutes=30)
"""Time after sending from which a person decides about an order without a trace in EC2."""
_ATTEMPTS: Final = 3  # safe: these writes only record what has already happened


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """Result of a command on an order."""

    record: Record  # order in the ledger, as far as known
    findings: tuple[Finding, ...] = ()  # what the user should know
    quote: Quote | None = None  # what was requested, if this command sent a request


def settle(
    record: Record, state: OrderState, *, reason: str, evidence: Evidence | None = None
) -> Steps[Record]:
    """Record what is known to have happened, despite lost replies and concurrent writers; return the order in the ledger.

    IDs in the ledger are kept, and those of the evidence are added in any case. A state that the current state does not
    lead to is not written; neither is the state of an attempt of another process (another nonce). If the ledger never
    confirmed, the previous order is returned: reconciling repeats the write.
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
                if evidence is None:
                    return record
                if record.state is OrderState.SENDING:
                    state = record.state
        else:
            yield Sleep(1.0 + attempt)
    return record


def apply_change(
    record: Record, state: OrderState, *, reason: str, evidence: Evidence, now: datetime
) -> Record | None:
    """Return the record in a new state with new evidence; in its old state without a transition to the new one.

    Return None if nothing changed.
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
    """Update the ledger from the state of EC2. Changes nothing in EC2; can be run at any time, by anyone."""
    record: Record = yield from read_record(name)
    if record.state in {OrderState.APPROVED, OrderState.REVOKED, OrderState.CANCELLED}:
        return Outcome(record=record)
    evidence: Evidence = yield from find_evidence(record)
    if evidence.verdict is not None:
        record = yield from settle(record, evidence.verdict, reason="found in EC2", evidence=evidence)
    elif record.state is OrderState.SENDING and record.sent_at is not None:
        record = yield from _give_up(record, record.sent_at)
    return Outcome(
        record=record,
        findings=(
            *other_fees(record, EC2=evidence.fee),
            *findings_for(record, lookalikes=evidence.lookalikes),
        ),
    )


def _give_up(record: Record, sent_at: datetime) -> Steps[Record]:
    """Leave an order without a trace to a person 30 minutes after sending, by AWS's time.

    A time of sending that is still to come was written by a clock that was ahead; then the minutes count from the first look.
    """
    now = yield ReadClock()
    if isinstance(now, ReadFailed):  # the order keeps its lock; the next look asks again
        return record
    if sent_at > now + MOST_CLOCK_SKEW:
        if record.changed_at > now + MOST_CLOCK_SKEW:
            reason = f"sent by a clock that was ahead; looked for since {now:%Y-%m-%d %H:%M} UTC"
            seen = replace(record, changed_at=now, version=record.version + 1, reason=reason)
            reply = yield Advance(before=record, after=seen)
            return seen if isinstance(reply, Committed) else record
        sent_at = record.changed_at
    if now - sent_at < UNKNOWN_AFTER:
        return record
    reason = "not found in EC2 30 minutes after sending"
    return (yield from settle(record, OrderState.UNKNOWN, reason=reason))


def other_fees(record: Record, **shown: Decimal | None) -> tuple[Finding, ...]:
    """Return UC7054 for each place that shows another fee than the one that was quoted."""
    return tuple(
        Finding(
            code="UC7054",
            problem=f"order {record.order.name} was quoted {record.fee} {record.order.currency}, and "
            f"{place.replace('_', ' ')} shows {fee} {record.order.currency}",
            remedy="It is bought; ask AWS Support with the quote and the bill",
        )
        for place, fee in shown.items()
        if fee is not None and record.fee is not None and fee != record.fee
    )


def unconfirmed_purchase(problem: str, *, remedy: str) -> Finding:
    """Return UC7036 because a request was sent and its outcome is not recorded."""
    return Finding(code="UC7036", problem=problem, remedy=remedy)


def findings_for(record: Record, *, lookalikes: tuple[str, ...] = ()) -> tuple[Finding, ...]:
    """Return warnings about an order; `lookalikes` are untagged reservations that resemble it."""
    name = record.order.name
    if record.state is OrderState.SENDING:
        problem = f"order {name} was sent and its outcome is not known yet: {record.reason}"
        remedy = f"Do not buy again; run `ultracluster capacity reconcile {name}` in a few minutes"
        return (unconfirmed_purchase(problem, remedy=remedy),)
    if record.state is OrderState.UNKNOWN:
        similar = f"; these untagged reservations resemble it: {', '.join(lookalikes)}"
        return (
            Finding(
                code="UC7037",
                problem=f"it is unknown whether order {name} was bought{similar if lookalikes else ''}",
                remedy="Search CloudTrail for the purchase call. If there is none, close the order with "
                "--nothing-bought and the evidence; create a new order for a new purchase",
            ),
        )
    if record.state is OrderState.FAILED:
        states = ", ".join(record.ec2_states)
        return (
            Finding(
                code="UC7038",
                problem=f"AWS released the purchase of order {name}: {states}",
                remedy="It is not billed (EC2 User Guide). Create a new order for a new purchase",
            ),
        )
    if record.state is OrderState.REJECTED:
        return (Finding(code="UC7039", problem=f"order {name} bought nothing: {record.reason}"),)
    return ()


RECORDS: Final = (
    RuleRecord(
        "UC7036",
        "The outcome of a purchase request is known.",
        severity=Severity.WARNING,
        remedy="Do not buy again. Run `ultracluster capacity reconcile NAME` in a few minutes: it finds the reservation by its tag.",
        source="botocore 1.44.5, EC2 PurchaseCapacityBlock, 2026: it has no ClientToken, so a second request may buy twice.",
    ),
    RuleRecord(
        "UC7037",
        "A person decides about an order without a trace in EC2.",
        severity=Severity.WARNING,
        remedy="Search CloudTrail for the purchase call. If there is none, close the order with --nothing-bought and the evidence; approve a new order for a new purchase.",
        source="Our decision: only a person decides that money was not spent.",
    ),
    RuleRecord(
        "UC7038",
        "AWS delivers what it has sold.",
        severity=Severity.WARNING,
        remedy="It is not billed. Fix the payment method, then approve a new order.",
        source="EC2 user guide, Capacity Blocks pricing and billing, 2026-10.",
    ),
    RuleRecord(
        "UC7039",
        "A purchase request leads to a purchase.",
        severity=Severity.WARNING,
        remedy="Search with `ultracluster capacity find` and approve a new order: this one ended without a purchase.",
        source="EC2 user guide, purchase Capacity Blocks, 2026-10: offers are not held.",
    ),
    RuleRecord(
        "UC7054",
        "The fee that EC2 and the ledger show after a purchase is the quoted one.",
        remedy="It is bought. Ask AWS Support, with the quote and the bill.",
        source="botocore 1.44.5: PurchaseCapacityBlockExtension and its history show UpfrontFee; PurchaseCapacityBlock shows none.",
    ),
)
