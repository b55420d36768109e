"""Buying at most once, although PurchaseCapacityBlock takes no client token.

The one request is sent only by the process that won the conditional write from APPROVED to SENDING, right after that
write was confirmed, and only once. No state leads from SENDING back to sending. Whatever is not known afterwards is
found out by reading.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_rules.findings import quote as quoted
from ultracluster_runtime.purchasing.ec2_objects import Quote
from ultracluster_runtime.purchasing.effects import (
    Advance,
    Allowed,
    AnsweredNormally,
    Bought,
    Committed,
    ConditionFailed,
    Confirm,
    DryRun,
    Identify,
    Now,
    Refused,
    Send,
    Steps,
    Unanswered,
)
from ultracluster_runtime.purchasing.evidence import Evidence, find_evidence
from ultracluster_runtime.purchasing.order_states import OrderState
from ultracluster_runtime.purchasing.pagination import (
    read_record,
    refuse,
    refused_by_aws,
    unanswered,
    wrong_state,
)
from ultracluster_runtime.purchasing.quotes import choose_quote
from ultracluster_runtime.purchasing.reconcile import Outcome, findings_of, reconcile, settle
from ultracluster_runtime.purchasing.records import Record

__all__ = ["MOST_CLOCK_SKEW", "SEND_WITHIN", "buy"]

MOST_CLOCK_SKEW: Final = timedelta(minutes=5)
"""How far this machine's clock may be from AWS's. Expiry, the month and the 30 minutes depend on it."""
SEND_WITHIN: Final = timedelta(seconds=60)
"""How long after SENDING is written the request may still leave. A process that slept longer gives up."""

_OVER: Final = frozenset({OrderState.REVOKED, OrderState.CLOSED, OrderState.CANCELLED})


def buy(name: str, *, nonce: str) -> Steps[Outcome]:
    """Buy what an order approves, at most once, whoever runs this and however often.

    An order that is past APPROVED is reconciled instead.

    Args:
        name: The order's name.
        nonce: A fresh random value that names this attempt.

    Raises:
        FindingsError: If the purchase is refused. Nothing was sent then.
    """
    record: Record = yield from read_record(name)
    if record.state is not OrderState.APPROVED:
        return (yield from _reconcile_instead(name))
    yield from _check_account(record)
    now: datetime = yield Now()
    _check_expiry(record, now)
    # A ledger that was lost and made anew knows nothing of an earlier purchase; the tag in EC2 does.
    earlier: Evidence = yield from find_evidence(record)
    if earlier.verdict is not None:
        record = yield from settle(
            record, earlier.verdict, reason="found in EC2 before buying", evidence=earlier
        )
        return Outcome(record=record)
    quote: Quote = yield from choose_quote(record.order, now=now)
    if not (yield Confirm(order=record.order, quote=quote)):
        raise refuse("UC7034", f"order {name} was not confirmed", remedy="Nothing was sent")
    yield from _dry_run(record, quote)
    return (yield from _send(record, quote, nonce))


def _reconcile_instead(name: str) -> Steps[Outcome]:
    outcome: Outcome = yield from reconcile(name)
    state = outcome.record.state
    if state in _OVER:
        raise wrong_state(
            f"order {name} is {state}: {outcome.record.reason}",
            allowed="an order that is APPROVED",
            remedy="Nothing was sent; a new purchase is a new order",
        )
    return outcome


def _check_account(record: Record) -> Steps[None]:
    account = yield Identify()
    if isinstance(account, Unanswered):
        raise unanswered(f"the credentials could not be identified: {account.code}: {account.message}")
    if account != record.order.account:
        raise refuse(
            "UC7026",
            f"the credentials are of account {quoted(account)}, the order of {record.order.account}",
            remedy="Use credentials of the order's account",
        )


def _check_expiry(record: Record, now: datetime) -> None:
    if now >= record.order.expires_at:
        raise refuse(
            "UC7024",
            f"the approval of order {record.order.name} expired at {record.order.expires_at.isoformat()}",
            remedy="Approve a new order",
        )


def _dry_run(record: Record, quote: Quote) -> Steps[None]:
    reply = yield DryRun(quote.request)
    if isinstance(reply, AnsweredNormally):
        # It may have been executed. From here on only evidence counts.
        yield from settle(record, OrderState.UNKNOWN, reason="the dry run was answered like a real request")
        raise refuse(
            "UC7047",
            f"the dry run of order {record.order.name} was answered like a real request, which it may have been",
            remedy="Nothing more was sent; reconcile the order and look in CloudTrail",
        )
    if not isinstance(reply, Allowed):
        raise refused_by_aws(
            f"the dry run was refused: {reply.code}: {reply.message}", remedy="Nothing was bought"
        )
    now: datetime = yield Now()
    if reply.server_time is None or abs(now - reply.server_time) > MOST_CLOCK_SKEW:
        said = reply.server_time.isoformat() if reply.server_time else "nothing"
        raise refuse(
            "UC7030",
            f"this machine's clock says {now.isoformat()} and AWS says {said}",
            allowed=f"{MOST_CLOCK_SKEW.seconds // 60} minutes of difference at most",
            remedy="Set the clock; nothing was bought",
        )
    _check_expiry(record, max(now, reply.server_time))


def _sending(record: Record, quote: Quote, nonce: str, now: datetime) -> Record:
    order = record.order
    return replace(
        record,
        state=OrderState.SENDING,
        version=record.version + 1,
        changed_at=now,
        reason="the request may have left",
        nonce=nonce,
        sent_at=now,
        region=quote.request.region,
        offering_id=quote.offering_id,
        fee=quote.fee,
        month=f"{order.account}#{order.currency}#{now:%Y-%m}",
        start=quote.start,
        end=quote.end,
        zone_ids=quote.zone_ids,
        holds_lock=True,
    )


def _send(record: Record, quote: Quote, nonce: str) -> Steps[Outcome]:
    name = record.order.name
    now: datetime = yield Now()
    _check_expiry(record, now)
    sending = _sending(record, quote, nonce, now)
    reply = yield Advance(before=record, after=sending)
    if isinstance(reply, ConditionFailed):
        if "state" in reply.reasons:  # another process was first, or the order was revoked
            return (yield from _reconcile_instead(name))
        raise _not_free(record, quote, reply)
    if not isinstance(reply, Committed):
        yield from settle(sending, OrderState.REJECTED, reason="the ledger did not confirm; nothing was sent")
        raise unanswered(f"the ledger did not confirm: {reply.message}", remedy="Nothing was sent")
    not_after = min(now + SEND_WITHIN, record.order.expires_at)
    sent = yield Send(request=quote.request, not_after=not_after)
    return (yield from _after_sending(sending, quote, sent))


def _not_free(record: Record, quote: Quote, reply: ConditionFailed) -> Exception:
    order = record.order
    if "lock" in reply.reasons:
        return refuse(
            "UC7032",
            f"another order holds {order.lock}",
            remedy="It is being sent, paid or examined; see `ultracluster capacity status`. Nothing was sent",
        )
    return refuse(
        "UC7033",
        f"{quote.fee} more {order.currency} would pass the month's cap of {order.month_cap}",
        remedy="Nothing was sent; approve a new order with a higher cap",
    )


def _after_sending(sending: Record, quote: Quote, sent: Any) -> Steps[Outcome]:
    if isinstance(sent, Bought):
        ids = tuple(sorted({*sent.reservation_ids}))
        evidence = Evidence(reservation_ids=ids, block_ids=tuple(sorted({*sent.block_ids})))
        record = yield from settle(sending, OrderState.PURCHASED, reason="AWS confirmed", evidence=evidence)
        if record.state is OrderState.SENDING:
            return Outcome(record=record, findings=(_not_written(record, ids),), quote=quote)
        return Outcome(record=record, findings=findings_of(record), quote=quote)
    if isinstance(sent, Refused):
        reason = f"AWS refused: {sent.code}: {sent.message}"
        record = yield from settle(sending, OrderState.REJECTED, reason=reason)
        return Outcome(record=record, findings=findings_of(record), quote=quote)
    # Nobody knows. The order stays SENDING, and reading finds out.
    try:
        outcome: Outcome = yield from reconcile(sending.order.name)
    except FindingsError:
        return Outcome(record=sending, findings=findings_of(sending), quote=quote)
    return replace(outcome, quote=quote)


def _not_written(record: Record, ids: tuple[str, ...]) -> Finding:
    return Finding(
        code="UC7036",
        problem=f"order {record.order.name} bought {', '.join(ids)}, and the ledger did not confirm that",
        remedy=f"Do not buy again; run `ultracluster capacity reconcile {record.order.name}`",
    )
