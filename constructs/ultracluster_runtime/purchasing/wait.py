"""Buy an approved order when AWS offers what it is for, by the protocol of `purchase`.

Nothing here sends or writes: each attempt is a whole purchase, and an order that may have been sent is never tried again.
"""

from datetime import datetime, timedelta
from typing import Final

from ultracluster_runtime.purchasing import effects
from ultracluster_runtime.purchasing.fold import UNANSWERED, read_record
from ultracluster_runtime.purchasing.orders import OrderState, Record
from ultracluster_runtime.purchasing.purchase import buy
from ultracluster_runtime.purchasing.quotes import CHANGED_OFFER, NO_OFFER
from ultracluster_runtime.purchasing.reconcile import Outcome
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.record import RuleRecord

# Nothing on offer, an offer that has changed, and a question that AWS did not answer.
_LATER: Final = frozenset({NO_OFFER, CHANGED_OFFER, UNANSWERED})
_SHORTEST_PAUSE: Final = timedelta(seconds=1)


def buy_when_offered(name: str, *, nonce: str, every: timedelta) -> effects.Steps[Outcome]:
    """Try to buy an order at most once, again and again until it is bought, refused or expired.

    Raises:
        FindingsError: If the purchase is refused for another reason than that nothing fits, such as UC7024 at the end.
    """
    while True:
        try:
            return (yield from buy(name, nonce=nonce))
        except FindingsError as refusal:
            if any(finding.code not in _LATER for finding in refusal.findings):
                raise
        # A purchase that failed between the ledger and AWS has the same codes: only an order that was never sent waits.
        pause = every
        try:
            record: Record = yield from read_record(name)
        except FindingsError as unread:
            if any(finding.code not in _LATER for finding in unread.findings):
                raise
        else:
            now: datetime = yield effects.Now()
            if record.state is OrderState.APPROVED:
                pause = max(_SHORTEST_PAUSE, min(every, record.order.expires_at - now))
        yield effects.Sleep(pause.total_seconds())


def refuse_to_wait(problem: str, *, remedy: str) -> FindingsError:
    """Return a refusal (UC7056) to buy later without a person."""
    return FindingsError.of("UC7056", problem, remedy=remedy)


RECORDS: Final = (
    RuleRecord(
        "UC7056",
        "A purchase that waits for an offering has the token of its order.",
        remedy="Specify --token with the token that `ultracluster capacity approve` printed; `ultracluster capacity status --json` has it too.",
        source="Our decision: no one can be asked when the offering appears, so the approval is the only consent.",
    ),
)
