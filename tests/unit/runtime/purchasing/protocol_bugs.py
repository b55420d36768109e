"""Plausible bugs in the purchase protocol, each as a change of its source. Fault exploration must detect every one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

__all__ = ["BUGS", "Bug", "with_bug"]


@dataclass(frozen=True)
class Bug:
    """One mistake: in `module`, `old` (which occurs once) becomes `new`.

    `also` holds further changes, where one guard alone would be made up for by another.
    """

    name: str
    module: str
    old: str
    new: str
    also: tuple[tuple[str, str, str], ...] = ()

    @property
    def changes(self) -> tuple[tuple[str, str, str], ...]:
        """All changes: module, old and new."""
        return ((self.module, self.old, self.new), *self.also)


BUGS = (
    Bug(
        "sends-before-it-writes",
        "purchase",
        "    reply = yield effects.Advance(before=record, after=sending)\n",
        "    sent = yield effects.Send(request=quote.request, not_after=record.order.expires_at)\n    reply = yield effects.Advance(before=record, after=sending)\n",
    ),
    Bug(
        "sends-again-when-unclear",
        "purchase",
        "    sent = yield effects.Send(request=quote.request, not_after=not_after)\n",
        "    sent = yield effects.Send(request=quote.request, not_after=not_after)\n"
        "    if not isinstance(sent, effects.Bought | effects.Refused):\n"
        "        sent = yield effects.Send(request=quote.request, not_after=not_after)\n",
    ),
    Bug(
        "takes-an-unclear-write-for-a-written-one",
        "purchase",
        "        if not isinstance(reply, effects.Committed):\n",
        "        if False:\n",
        also=(("purchase", "        yield from _prove(sending)\n", "        pass\n"),),
    ),
    Bug(
        "takes-a-confirmed-write-for-a-written-one",
        "purchase",
        "        yield from _prove(sending)\n",
        "        pass\n",
    ),
    Bug("takes-a-refusal-for-a-no-without-a-look", "purchase", "    if sent.sent:\n", "    if False:\n"),
    Bug(
        "takes-a-look-for-proof-that-there-is-no-extension",
        "purchase",
        "        if evidence.verdict is None and isinstance(sending.order, ExtensionOrder):\n",
        "        if False:\n",
    ),
    Bug(
        "buys-at-another-price-than-confirmed",
        "quotes",
        "    if quote.fee > confirmed.fee:\n",
        "    if False:\n",
    ),
    Bug(
        "buys-what-was-confirmed-long-after",
        "purchase",
        "or now - shown_at > CONFIRM_WITHIN:",
        "or False:",
    ),
    Bug(
        "ignores-that-another-was-first",
        "purchase",
        "    if isinstance(reply, effects.ConditionFailed):\n        if",
        "    reply = effects.Committed() if isinstance(reply, effects.ConditionFailed) else reply\n    if False:\n        if",
        also=(("purchase", "        yield from _prove(sending)\n", "        pass\n"),),
    ),
    Bug(
        "sends-however-long-it-slept",
        "purchase",
        "min(now + SEND_WITHIN, record.order.expires_at)",
        "record.order.expires_at",
    ),
    Bug(
        "buys-on-an-expired-approval",
        "purchase",
        "    if now >= record.order.expires_at:\n",
        "    if False:\n",
        also=(("purchase", "min(now + SEND_WITHIN, record.order.expires_at)", "now + SEND_WITHIN"),),
    ),
    Bug("trusts-any-clock", "purchase", "> MOST_CLOCK_SKEW:", "> MOST_CLOCK_SKEW * 999:"),
    Bug(
        "takes-a-normal-answer-for-a-dry-run",
        "purchase",
        "    if isinstance(reply, effects.DryRunExecuted):\n",
        "    if isinstance(reply, effects.DryRunExecuted):\n        return\n    if isinstance(reply, effects.DryRunExecuted):\n",
    ),
    Bug(
        "takes-a-refused-dry-run-for-permission",
        "purchase",
        "    if not isinstance(reply, effects.DryRunPassed):\n",
        "    if not isinstance(reply, effects.DryRunPassed):\n        return\n    if not isinstance(reply, effects.DryRunPassed):\n",
    ),
    Bug("forgets-to-look-before-buying", "purchase", "if earlier.verdict is not None:", "if False:"),
    Bug("buys-in-any-account", "purchase", "if account != record.order.account:", "if False:"),
    Bug(
        "buys-without-confirmation",
        "purchase",
        "    if not confirmed or now - shown_at",
        "    if now - shown_at",
    ),
    Bug(
        "keeps-the-first-reservation-only",
        "purchase",
        "ids = tuple(sorted({*sent.reservation_ids}))",
        "ids = tuple(sorted({*sent.reservation_ids}))[:1]",
    ),
    Bug(
        "takes-any-error-answer-for-a-no",
        "aws_errors",
        "        and _status(error) in _CLIENT_ERRORS\n        and _code(error) in REFUSED_BEFORE_EXECUTION\n",
        "",
        also=(("purchase", "    if sent.sent:\n", "    if False:\n"),),
    ),
    Bug(
        "takes-a-time-out-for-a-no",
        "aws_errors",
        "    return effects.OutcomeUnknown(_message(error))\n\n\ndef classify_dry_run_error",
        '    return effects.Refused("Timeout", _message(error))\n\n\ndef classify_dry_run_error',
    ),
    Bug(
        "takes-an-empty-page-for-the-end",
        "reads_and_refusals",
        "        if not token:",
        "        if not token or not page.items:",
    ),
    Bug(
        "takes-a-failed-read-for-nothing",
        "reads_and_refusals",
        "    if isinstance(reply, ReadFailed):\n",
        "    if isinstance(reply, ReadFailed) and not isinstance(effect, ReadRecord):\n        return Page(items=())\n"
        "    if isinstance(reply, ReadFailed):\n",
    ),
    Bug(
        "accepts-edited-terms",
        "reads_and_refusals",
        "if record.order.token != record.token:",
        "if False:",
    ),
    Bug(
        "overlooks-a-pending-payment",
        "evidence",
        "if item.order_name == order.name}",
        'if item.order_name == order.name and item.state in {"active", "scheduled"}}',
    ),
    Bug("overlooks-the-tag", "evidence", "if item.order_name == order.name}", "if item.order_name is None}"),
    Bug(
        "overlooks-who-bought-an-extension",
        "evidence",
        "or record.state in _GAVE_UP:",
        "or False:",
    ),
    Bug(
        "gives-up-to-approved",
        "reconcile",
        "            record = yield from settle(record, OrderState.UNKNOWN, reason=reason)\n",
        "            again = replace(record, state=OrderState.APPROVED, holds_lock=False, version=record.version + 1)\n"
        "            yield Advance(before=record, after=again)\n",
    ),
    Bug(
        "settles-the-attempt-of-another",
        "reconcile",
        "            if record.nonce != nonce:\n",
        "            if False:\n",
    ),
    Bug(
        "keeps-the-lock-of-a-failed-order",
        "reconcile",
        "holds_lock=record.holds_lock and target in HOLDS_LOCK",
        "holds_lock=record.holds_lock",
    ),
    Bug("buys-above-the-cap", "quotes", "elif fee > order.max_fee:", "elif False:"),
    Bug("buys-in-another-currency", "quotes", "if currency != order.currency:", "if False:"),
    Bug("buys-in-another-zone", "quotes", "    if order.zone_ids and not (", "    if False and not ("),
    Bug("buys-another-size", "quotes", "or offering.instance_count != order.count:", "or False:"),
    Bug(
        "extends-whatever-the-end",
        "quotes",
        "    if reservation.end != order.expected_end or",
        "    if",
        also=(("quotes", "        if offer.start != order.expected_end:\n", "        if False:\n"),),
    ),
    Bug("extends-while-one-is-pending", "quotes", "    if any(item.status == _PENDING", "    if any(False"),
)


@contextmanager
def with_bug(bug: Bug) -> Iterator[None]:
    """The protocol with a bug in it: the functions that everybody has imported run the code of the changed source."""
    kept = []
    try:
        for name in dict.fromkeys(module for module, _, _ in bug.changes):
            module = import_module(f"ultracluster_runtime.purchasing.{name}")
            for function, changed in _changed(module, bug):
                kept.append((function, function.__code__))
                function.__code__ = changed.__code__
        yield
    finally:
        for function, code in kept:
            function.__code__ = code


def _changed(module: ModuleType, bug: Bug) -> Iterator[tuple[FunctionType, FunctionType]]:
    """Each function of a module, as it is and as the bug makes it."""
    assert module.__file__ is not None
    source = Path(module.__file__).read_text()
    for name, old, new in bug.changes:
        if module.__name__.endswith(f".{name}"):
            assert source.count(old) == 1, f"{bug.name} no longer fits {name}: update the bug"
            source = source.replace(old, new)
    scratch = ModuleType(module.__name__)
    exec(compile(source, module.__file__, "exec"), scratch.__dict__)  # noqa: S102 - our own source
    for name, changed in vars(scratch).items():
        if isinstance(changed, FunctionType) and changed.__module__ == module.__name__:
            yield vars(module)[name], changed
