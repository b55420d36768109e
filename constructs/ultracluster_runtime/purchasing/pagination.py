"""Reading whole listings and records through effects: every page, in spite of faults, or not at all."""

from collections.abc import Callable
from typing import Any, Final

from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.purchasing.effects import Effect, Page, ReadRecord, Sleep, Steps, Unanswered
from ultracluster_runtime.purchasing.orders import order_token
from ultracluster_runtime.purchasing.records import Record

__all__ = [
    "edited_ledger",
    "every_page",
    "read_record",
    "refuse",
    "refused_by_aws",
    "unanswered",
    "unknown_order",
    "wrong_state",
]

_PAUSES: Final = (5.0, 15.0)  # seconds before the second and the third attempt of a read
_MOST_PAGES: Final = 1000


def refuse(code: str, problem: str, *, allowed: str = "", remedy: str = "", path: str = "") -> FindingsError:
    """The refusal to go on, as an exception to raise."""
    return FindingsError([Finding(code=code, problem=problem, allowed=allowed, remedy=remedy, path=path)])


def wrong_state(problem: str, *, remedy: str = "", allowed: str = "") -> FindingsError:
    """Return the refusal (UC7023) because of an order whose state does not allow what was asked for."""
    return refuse("UC7023", problem, remedy=remedy, allowed=allowed)


def edited_ledger(problem: str, *, remedy: str = "", path: str = "") -> FindingsError:
    """Return the refusal (UC7025) because of terms in the ledger that are not those that were approved."""
    return refuse("UC7025", problem, remedy=remedy, path=path)


def refused_by_aws(problem: str, *, remedy: str = "") -> FindingsError:
    """Return the refusal (UC7031) because of a request that AWS refused."""
    return refuse("UC7031", problem, remedy=remedy)


def unanswered(problem: str, *, remedy: str = "") -> FindingsError:
    """Return the refusal (UC7035) because of a service that did not answer."""
    return refuse("UC7035", problem, remedy=remedy)


def unknown_order(name: str, *, allowed: str = "", remedy: str = "", path: str = "") -> FindingsError:
    """Return the refusal (UC7020) of an order that is not in the ledger."""
    problem = f"the ledger holds no order {quote(name)}"
    return refuse("UC7020", problem, allowed=allowed, remedy=remedy, path=path)


def _answer(effect: Effect, what: str) -> Steps[Any]:
    reply = yield effect
    for pause in _PAUSES:
        if not (isinstance(reply, Unanswered) and reply.transient):
            break
        yield Sleep(pause)
        reply = yield effect
    if isinstance(reply, Unanswered):
        raise unanswered(
            f"{what} could not be read: {reply.code}: {reply.message}",
            remedy="Nothing was sent by this command; run it again when AWS answers",
        )
    return reply


def every_page(describe: Callable[[str | None], Effect], what: str) -> Steps[list[Any]]:
    """Read a listing to its last page.

    Args:
        describe: Makes the effect that reads the page after a token; None for the first page.
        what: Name of the listing for messages.

    Raises:
        FindingsError: UC7035 if one page cannot be read: half a listing is no evidence.
    """
    items: list[Any] = []
    token: str | None = None
    for _ in range(_MOST_PAGES):
        page: Page[Any] = yield from _answer(describe(token), what)
        items.extend(page.items)
        token = page.next_token
        if not token:  # an empty page with a token is not the end
            return items
    raise unanswered(
        f"{what} did not end after {_MOST_PAGES} pages", remedy="Nothing was sent by this command"
    )


def read_record(name: str) -> Steps[Record]:
    """Read an order from the ledger.

    Raises:
        FindingsError: If the ledger does not answer (UC7035), does not hold the order (UC7020), or holds terms other
            than those that were approved (UC7025).
    """
    record: Record | None = yield from _answer(ReadRecord(name), "the ledger")
    if record is None:
        raise unknown_order(
            name,
            remedy="Approve it first. If it was approved, the ledger was lost or this is another one: do not approve it "
            "again before you have looked for the tag uc:po on the account's Capacity Reservations",
        )
    if order_token(record.order) != record.token:
        raise edited_ledger(
            f"the terms of order {quote(name)} are not those that were approved as {record.token}",
            remedy="Somebody edited the ledger; approve a new order",
        )
    return record
