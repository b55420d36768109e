"""Reading whole listings and records through effects: every page, in spite of faults, or not at all."""

from collections.abc import Callable
from typing import Any, Final

from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.purchasing.effects import Effect, Page, ReadFailed, ReadRecord, Sleep, Steps
from ultracluster_runtime.purchasing.orders import order_token
from ultracluster_runtime.purchasing.records import Record

__all__ = ["iterate_pages", "read_record", "refuse"]

_PAUSES: Final = (5.0, 15.0)  # seconds before the second and the third attempt of a read
_MOST_PAGES: Final = 1000


def refuse(code: str, problem: str, *, allowed: str = "", remedy: str = "", path: str = "") -> FindingsError:
    """The refusal to go on, as an exception to raise."""
    return FindingsError([Finding(code=code, problem=problem, allowed=allowed, remedy=remedy, path=path)])


def _answer(effect: Effect, what: str) -> Steps[Any]:
    reply = yield effect
    for pause in _PAUSES:
        if not (isinstance(reply, ReadFailed) and reply.transient):
            break
        yield Sleep(pause)
        reply = yield effect
    if isinstance(reply, ReadFailed):
        raise refuse(
            "UC7035",
            f"{what} could not be read: {reply.code}: {reply.message}",
            remedy="Nothing was sent by this command; run it again when AWS answers",
        )
    return reply


def iterate_pages(describe: Callable[[str | None], Effect], what: str) -> Steps[list[Any]]:
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
    raise refuse(
        "UC7035", f"{what} did not end after {_MOST_PAGES} pages", remedy="Nothing was sent by this command"
    )


def read_record(name: str) -> Steps[Record]:
    """Read an order from the ledger.

    Raises:
        FindingsError: If the ledger does not answer (UC7035), does not hold the order (UC7020), or holds terms other
            than those that were approved (UC7025).
    """
    record: Record | None = yield from _answer(ReadRecord(name), "the ledger")
    if record is None:
        raise refuse(
            "UC7020",
            f"the ledger holds no order {quote(name)}",
            remedy="Approve it first. If it was approved, the ledger was lost or this is another one: do not approve it "
            "again before you have looked for the tag uc:po on the account's Capacity Reservations",
        )
    if order_token(record.order) != record.token:
        raise refuse(
            "UC7025",
            f"the terms of order {quote(name)} are not those that were approved as {record.token}",
            remedy="Somebody edited the ledger; approve a new order",
        )
    return record
