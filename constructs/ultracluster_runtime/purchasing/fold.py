"""Read complete listings and records through effects, with retries, and refuse what they do not allow."""

from collections.abc import Callable
from typing import Any, Final

from ultracluster_runtime.purchasing.effects import (
    Effect,
    Page,
    ReadFailed,
    ReadOrders,
    ReadRecord,
    Sleep,
    Steps,
)
from ultracluster_runtime.purchasing.orders import Record
from ultracluster_spec.findings import FindingsError, quote
from ultracluster_spec.record import RuleRecord

_PAUSES: Final = (5.0, 15.0)  # seconds before the second and third attempt of a read
_MOST_PAGES: Final = 1000

UNANSWERED: Final = "UC7035"
"""Code of a refusal because a service did not answer."""


def wrong_state(problem: str, *, remedy: str = "", allowed: str = "") -> FindingsError:
    """Return a refusal (UC7023) because the state of an order does not allow the action."""
    return FindingsError.of("UC7023", problem, remedy=remedy, allowed=allowed)


def edited_ledger(problem: str, *, remedy: str = "", path: str = "") -> FindingsError:
    """Return a refusal (UC7025) because terms in the ledger differ from the approved terms."""
    return FindingsError.of("UC7025", problem, remedy=remedy, path=path)


def refused_by_aws(problem: str, *, remedy: str = "") -> FindingsError:
    """Return a refusal (UC7031) because AWS refused a request."""
    return FindingsError.of("UC7031", problem, remedy=remedy)


def unanswered(problem: str, *, remedy: str = "") -> FindingsError:
    """Return a refusal (UC7035) because a service did not answer."""
    return FindingsError.of(UNANSWERED, problem, remedy=remedy)


def unknown_order(name: str, *, allowed: str = "", remedy: str = "", path: str = "") -> FindingsError:
    """Return a refusal (UC7020) because the ledger does not contain an order."""
    problem = f"the ledger has no order {quote(name)}"
    return FindingsError.of("UC7020", problem, allowed=allowed, remedy=remedy, path=path)


def _read_again(effect: Effect, what: str) -> Steps[Any]:
    reply = yield effect
    for pause in _PAUSES:
        if not (isinstance(reply, ReadFailed) and reply.transient):
            break
        yield Sleep(pause)
        reply = yield effect
    if isinstance(reply, ReadFailed):
        raise unanswered(
            f"{what} could not be read: {reply.code}: {reply.message}",
            remedy="This command sent nothing; run it again later",
        )
    return reply


def iterate_pages(describe: Callable[..., Effect], what: str) -> Steps[list[Any]]:
    """Read a listing to its last page; `describe` creates the effect that reads a `page`.

    A page that cannot be read raises UC7035: an incomplete listing is no evidence.
    """
    items: list[Any] = []
    token: str | None = None
    for _ in range(_MOST_PAGES):
        page: Page[Any] = yield from _read_again(describe(page=token), what)
        items.extend(page.items)
        token = page.next_token
        if not token:  # an empty page with a token is not the end
            return items
    raise unanswered(f"{what} did not end after {_MOST_PAGES} pages", remedy="This command sent nothing")


def read_orders() -> Steps[list[Record]]:
    """Read all orders of the ledger."""
    records: list[Record] = yield from _read_again(ReadOrders(), "the orders of the ledger")
    return records


def read_record(name: str) -> Steps[Record]:
    """Read an order from the ledger that has it (UC7020) under the approved terms (UC7025)."""
    record: Record | None = yield from _read_again(ReadRecord(name), "the ledger")
    if record is None:
        raise unknown_order(
            name,
            remedy="Approve it first. If it was approved, the ledger was lost or this is another one: before you approve it "
            "again, search for the tag uc:po on the Capacity Reservations of the account",
        )
    if record.order.token != record.token:
        raise edited_ledger(
            f"the terms of order {quote(name)} differ from those approved as {record.token}",
            remedy="The ledger was edited; approve a new order",
        )
    return record


RECORDS: Final = (
    RuleRecord(
        "UC7020",
        "An order is in the ledger before it is bought.",
        remedy="Approve it first. If it was approved, the ledger was lost or this is another one: search for the tag uc:po on the reservations of the account before you approve again.",
        source="Our decision: the ledger is what makes a purchase happen at most once.",
    ),
    RuleRecord(
        "UC7023",
        "The state of an order allows the requested action.",
        remedy="`ultracluster capacity status` shows the state and the reason. Approve a new order if this one has ended.",
        source="Our decision: the states of an order, in `ultracluster docs capacity`.",
    ),
    RuleRecord(
        "UC7025",
        "Nothing is bought with terms that differ from the approved ones.",
        remedy="Find out who edited the ledger, and approve a new order.",
        source="Our decision: the token is a hash of the terms; an edit is not an approval.",
    ),
    RuleRecord(
        "UC7031",
        "AWS allows the request.",
        remedy="Read the message of AWS in the finding, and allow the call (`ultracluster docs capacity-security`). Nothing was bought.",
        source="botocore 1.44.5, EC2 PurchaseCapacityBlock DryRun, 2026.",
    ),
    RuleRecord(
        "UC7035",
        "AWS and the ledger answer.",
        remedy="Try again; nothing was sent, unless the finding says that the outcome is not known.",
        source="Our decision: without an answer nothing is assumed.",
    ),
)
