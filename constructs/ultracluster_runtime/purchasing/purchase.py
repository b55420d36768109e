"""Buy at most once, although PurchaseCapacityBlock has no client token.

The request is sent only by the process that won the conditional write from APPROVED to SENDING, right after that
write was confirmed, and only once. No state leads from SENDING back to sending. An unknown outcome is resolved by
reading.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from ultracluster_runtime.purchasing import effects
from ultracluster_runtime.purchasing.clock import refuse_skew
from ultracluster_runtime.purchasing.ec2_objects import Quote
from ultracluster_runtime.purchasing.evidence import Evidence, find_evidence
from ultracluster_runtime.purchasing.fold import (
    read_orders,
    read_record,
    refused_by_aws,
    unanswered,
    wrong_state,
)
from ultracluster_runtime.purchasing.orders import ExtensionOrder, OrderState, Record
from ultracluster_runtime.purchasing.overlaps import overlapping, refuse_overlaps
from ultracluster_runtime.purchasing.quotes import choose_quote, read_quote_again
from ultracluster_runtime.purchasing.reconcile import (
    Outcome,
    findings_for,
    other_fees,
    reconcile,
    settle,
    unconfirmed_purchase,
)
from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_spec.findings import quote as quoted
from ultracluster_spec.record import RuleRecord

CONFIRM_WITHIN: Final = timedelta(minutes=10)
"""Time in which a person confirms a quote. Offerings are not held; older evidence does not count."""
LOOK_AFTER: Final = timedelta(seconds=5)
"""Time after a refusal before EC2, which is eventually consistent, is searched for what it may have executed."""
SEND_WITHIN: Final = timedelta(seconds=60)
"""Time after writing SENDING in which the request may be sent. A process that was suspended longer gives up."""

_OVER: Final = frozenset({OrderState.REVOKED, OrderState.CLOSED, OrderState.CANCELLED})


def buy(name: str, *, nonce: str) -> effects.Steps[Outcome]:
    """Buy the capacity of an approved order at most once, even if several processes run this repeatedly.

    An order past APPROVED is reconciled instead. A `FindingsError` means that the purchase is refused and nothing was sent.
    """
    record: Record = yield from read_record(name)
    if record.state is not OrderState.APPROVED:
        return (yield from _reconcile_instead(name))
    yield from _check_account(record)
    now: datetime = yield effects.Now()
    _check_expiry(record, now)
    # A lost and recreated ledger does not know an earlier purchase; the tag in EC2 does.
    earlier: Evidence = yield from find_evidence(record)
    if earlier.verdict is not None:
        record = yield from settle(
            record, earlier.verdict, reason="found in EC2 before buying", evidence=earlier
        )
        return Outcome(record=record)
    yield from _accept_overlaps(record, now)
    quote: Quote = yield from choose_quote(record.order, now=now)
    quote = yield from _confirm(record, quote)
    server_time = yield from _dry_run(record, quote)
    return (yield from _send_request(record, quote, nonce, server_time))


def _accept_overlaps(record: Record, now: datetime) -> effects.Steps[None]:
    """Ask about other orders that overlap. Of two, the buyer who looks last sees the other's approval."""
    others = overlapping(record.order, (yield from read_orders()), now=now)
    if others:
        accepted: bool = yield effects.Accept(order=record.order, others=tuple(others))
        if not accepted:
            raise refuse_overlaps(record.order, others)


def _confirm(record: Record, quote: Quote) -> effects.Steps[Quote]:
    """Return the quote that a person confirmed, as AWS offers it after that."""
    shown_at: datetime = yield effects.Now()
    confirmed: bool = yield effects.Confirm(order=record.order, quote=quote)
    now: datetime = yield effects.Now()
    if not confirmed or now - shown_at > CONFIRM_WITHIN:
        minutes = CONFIRM_WITHIN // timedelta(minutes=1)
        raise FindingsError.of(
            "UC7034",
            f"order {record.order.name} was not confirmed"
            + (f" within {minutes} minutes" if confirmed else ""),
            remedy="Nothing was sent",
        )
    _check_expiry(record, now)
    return (yield from read_quote_again(record.order, quote, now=now))


def _reconcile_instead(name: str) -> effects.Steps[Outcome]:
    outcome: Outcome = yield from reconcile(name)
    state = outcome.record.state
    if state in _OVER:
        raise wrong_state(
            f"order {name} is {state}: {outcome.record.reason}",
            allowed="APPROVED",
            remedy="Nothing was sent; create a new order for a new purchase",
        )
    return outcome


def _check_account(record: Record) -> effects.Steps[None]:
    account = yield effects.GetCallerAccount()
    if isinstance(account, effects.ReadFailed):
        raise unanswered(f"the credentials could not be identified: {account.code}: {account.message}")
    if account != record.order.account:
        raise FindingsError.of(
            "UC7026",
            f"the credentials belong to account {quoted(account)}, the order to {record.order.account}",
            remedy="Use credentials of the order's account",
        )


def _check_expiry(record: Record, now: datetime) -> None:
    if now >= record.order.expires_at:
        raise FindingsError.of(
            "UC7024",
            f"the approval of order {record.order.name} expired at {record.order.expires_at.isoformat()}",
            remedy="Approve a new order",
        )


def _dry_run(record: Record, quote: Quote) -> effects.Steps[datetime]:
    """Check the permission to buy and the clock; return AWS's time."""
    reply = yield effects.DryRun(quote.request)
    if isinstance(reply, effects.DryRunExecuted):
        # The request may have been executed. From here on, only evidence in EC2 counts.
        yield from settle(record, OrderState.UNKNOWN, reason="the dry run succeeded like a real request")
        raise FindingsError.of(
            "UC7047",
            f"the dry run of order {record.order.name} succeeded like a real request, and may have bought",
            remedy="Nothing else was sent; reconcile the order and check CloudTrail",
        )
    if not isinstance(reply, effects.DryRunPassed):
        raise refused_by_aws(
            f"the dry run was refused: {reply.code}: {reply.message}", remedy="Nothing was bought"
        )
    now: datetime = yield effects.Now()
    refuse_skew(now, reply.server_time)
    server_time = reply.server_time or now  # refused without one
    _check_expiry(record, max(now, server_time))
    return server_time


def _as_sending(record: Record, quote: Quote, nonce: str, now: datetime) -> Record:
    order = record.order
    return replace(
        record,
        state=OrderState.SENDING,
        version=record.version + 1,
        changed_at=now,
        reason="the request may have been sent",
        nonce=nonce,
        sent_at=now,
        region=quote.request.region,
        offering_id=quote.offering_id,
        fee=quote.fee,
        month=f"{order.account}#{order.currency}#{now:%Y-%m}",
        start=quote.start,
        end=quote.end,
        zone_ids=quote.zone_ids,
        count=quote.offering.instance_count if quote.offering else None,
        holds_lock=True,
    )


def _send_request(
    record: Record,
    quote: Quote,
    nonce: str,
    server_time: datetime,
) -> effects.Steps[Outcome]:
    name = record.order.name
    now: datetime = yield effects.Now()
    refuse_skew(now, server_time)  # a clock that is set, or a process that is suspended, after the dry run
    _check_expiry(record, now)
    sending = _as_sending(record, quote, nonce, now)
    reply = yield effects.Advance(before=record, after=sending)
    if isinstance(reply, effects.ConditionFailed):
        if "state" in reply.reasons:  # another process was faster, or the order was revoked
            return (yield from _reconcile_instead(name))
        raise _not_free(record, quote, reply)
    try:
        if not isinstance(reply, effects.Committed):
            raise unanswered(f"the ledger did not confirm: {reply.message}", remedy="Nothing was sent")
        yield from _prove(sending)
    except FindingsError as refusal:
        yield from settle(
            sending, OrderState.REJECTED, reason=f"{refusal.findings[0].problem}; nothing was sent"
        )
        raise
    not_after = min(now + SEND_WITHIN, record.order.expires_at)
    sent = yield effects.Send(request=quote.request, not_before=now, not_after=not_after)
    return (yield from _after_sending(sending, quote, sent))


def _prove(sending: Record) -> effects.Steps[None]:
    """Read the order back from the ledger, since a proxy may have answered in its place."""
    held: Record = yield from read_record(sending.order.name)
    if held != sending:
        raise FindingsError.of(
            "UC7049",
            f"the ledger confirmed order {sending.order.name} as {sending.state}, and holds it as {held.state}",
            remedy="Nothing was sent. A proxy may have answered for DynamoDB: buy without it",
        )


def _not_free(record: Record, quote: Quote, reply: effects.ConditionFailed) -> Exception:
    order = record.order
    if "lock" in reply.reasons:
        return FindingsError.of(
            "UC7032",
            f"another order holds {order.lock}",
            remedy="It is being sent, paid or examined; see `ultracluster capacity status`. Nothing was sent",
        )
    return FindingsError.of(
        "UC7033",
        f"{quote.fee} {order.currency} more would exceed the monthly cap of {order.month_cap}",
        remedy="Nothing was sent; approve a new order with a higher cap",
    )


def _after_sending(sending: Record, quote: Quote, sent: Any) -> effects.Steps[Outcome]:
    if isinstance(sent, effects.Bought):
        return (yield from _after_purchase(sending, quote, sent))
    if isinstance(sent, effects.Refused):
        return (yield from _after_refusal(sending, quote, sent))
    # The outcome is unknown. The order stays SENDING until it is reconciled.
    try:
        outcome: Outcome = yield from reconcile(sending.order.name)
    except FindingsError:
        return Outcome(record=sending, findings=findings_for(sending), quote=quote)
    return replace(outcome, quote=quote)


def _after_purchase(sending: Record, quote: Quote, sent: effects.Bought) -> effects.Steps[Outcome]:
    ids = tuple(sorted({*sent.reservation_ids}))
    evidence = Evidence(reservation_ids=ids, block_ids=tuple(sorted({*sent.block_ids})))
    record: Record = yield from settle(
        sending, OrderState.PURCHASED, reason="AWS confirmed", evidence=evidence
    )
    try:
        held: Record = yield from read_record(sending.order.name)
    except FindingsError:
        held = sending
    dearer = other_fees(sending, EC2=sent.fee, the_ledger=held.fee)
    if {*held.reservation_ids} >= {*ids} and {*held.block_ids} >= {*evidence.block_ids}:
        return Outcome(record=held, findings=(*dearer, *findings_for(held)), quote=quote)
    # AWS sold this, whatever the ledger contains.
    shown = replace(
        record,
        reservation_ids=tuple(sorted({*record.reservation_ids, *ids})),
        block_ids=tuple(sorted({*record.block_ids, *evidence.block_ids})),
    )
    return Outcome(
        record=shown, findings=(*dearer, _not_written(record, ids or evidence.block_ids)), quote=quote
    )


def _after_refusal(sending: Record, quote: Quote, sent: effects.Refused) -> effects.Steps[Outcome]:
    reason = f"AWS refused: {sent.code}: {sent.message}"
    evidence = Evidence()
    if sent.sent:
        # A proxy may have refused after AWS executed the request.
        yield effects.Sleep(LOOK_AFTER.total_seconds())
        try:
            evidence = yield from find_evidence(sending)
        except FindingsError as error:
            return _unresolved(sending, quote, f"{reason}; {error.findings[0].problem}")
        if evidence.verdict is None and isinstance(sending.order, ExtensionOrder):
            # Without a tag, an extension that appears later could not be distinguished from that of another order.
            return _unresolved(sending, quote, f"{reason}; EC2 shows no extension yet")
    if evidence.verdict is None:
        record: Record = yield from settle(sending, OrderState.REJECTED, reason=reason)
    else:
        reason = f"found in EC2, although {reason}"
        record = yield from settle(sending, evidence.verdict, reason=reason, evidence=evidence)
    return Outcome(record=record, findings=findings_for(record), quote=quote)


def _unresolved(sending: Record, quote: Quote, reason: str) -> Outcome:
    return Outcome(record=sending, findings=findings_for(replace(sending, reason=reason)), quote=quote)


def _not_written(record: Record, ids: tuple[str, ...]) -> Finding:
    return unconfirmed_purchase(
        f"order {record.order.name} bought {', '.join(ids)}, and the ledger did not confirm it",
        remedy=f"Do not buy again; run `ultracluster capacity reconcile {record.order.name}`",
    )


RECORDS: Final = (
    RuleRecord(
        "UC7024",
        "Nothing is bought after an approval has expired.",
        remedy="Approve a new order; the old one bought nothing.",
        source="Our decision: an old approval must not buy at a new price.",
    ),
    RuleRecord(
        "UC7026",
        "The credentials belong to the account of the order.",
        remedy="Use credentials of the account that the order names.",
        source="Our decision: the wrong account would pay, and the block could not be moved.",
    ),
    RuleRecord(
        "UC7032",
        "A cluster, or a block to extend, has at most one order in progress.",
        remedy="See `ultracluster capacity status`: the other order is being sent, paid or examined. Nothing was sent.",
        source="Our decision: two blocks for one need are a mistake of thousands of dollars.",
    ),
    RuleRecord(
        "UC7033",
        "The fees of a month stay within its cap.",
        remedy="Nothing was sent. Approve a new order with a higher month cap, or wait for the next month.",
        source="Our decision: caps of single orders add up; that of the month does not move.",
    ),
    RuleRecord(
        "UC7034",
        "A person confirms the order and its total, or specifies the order's token.",
        remedy="Type the text that the prompt asks for at a terminal, or use --token.",
        source="Our decision: a purchase needs a person, now or at the approval.",
    ),
    RuleRecord(
        "UC7047",
        "A dry run is answered as a dry run.",
        remedy="Nothing else was sent. Reconcile the order, check CloudTrail, and do not buy through the component that changed the request.",
        source="botocore 1.44.5, EC2 DryRun, 2026.",
    ),
    RuleRecord(
        "UC7049",
        "The ledger holds what it confirms.",
        remedy="Nothing was sent. Buy from a network without the proxy, and check the order with `ultracluster capacity status`.",
        source="Our decision: without the record in the ledger, a second process could buy again.",
    ),
)
