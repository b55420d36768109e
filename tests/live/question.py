"""Questions that only a real AWS account can answer: what each decides, takes and costs, and the function that asks it."""

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import Any, Final

__all__ = ["DECISIONS", "FREE", "TIERS", "Cost", "Question", "asks", "plan_text", "planned", "questions"]

TIERS: Final[Mapping[int, str]] = {
    0: "no resources, no cost",
    1: "small instances for minutes, up to 18 USD in all",
    2: "two trn2.3xlarge for a day",
    3: "two trn2.48xlarge for a day",
}
DECISIONS: Final[Mapping[str, str]] = {
    "batch": "Batch into a block: which of the two roads to the block is the default",
    "group": "The Auto Scaling road of [decision 0024](../decisions/0024-auto-scaling-road.md): whether it can be built",
    "facts": "Facts of the catalogue, which can be read for nothing: what must be corrected before anything is deployed",
    "buying": "Purchases: which refusals are safe to repeat, and who can be kept from buying",
    "small": "Clusters on small nodes: whether templates, updates and queues need another design",
    "large": "Whole nodes of 16 chips: whether the paid work can begin",
}
"""What the answers decide, most important first."""

_MODULES: Final = ("free", "small", "block")
_MARGIN_MINUTES: Final = 30
"""Added to the limit of a question: the schedule in the account fires 15 minutes after it, and needs time to remove."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a question costs at most: USD for each hour in which its resources exist, and USD that are due at once."""

    hourly: Decimal = Decimal(0)
    once: Decimal = Decimal(0)
    what: str = "nothing"


FREE: Final = Cost()


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question.

    Attributes:
        id: ID on the page, such as ``L8``.
        title: The question, the first line of the docstring of `ask`, whose other lines say how it is answered.
        ask: Asks it; an AssertionError says that AWS does not do what is expected.
        decides: What the answer decides, a key of `DECISIONS`.
        tier: What it takes; see `TIERS`.
        cost: What it costs at most, beyond the questions that it needs.
        minutes: Limit of its time.
        needs: Questions of the same tier that must be shown before, and whose resources stand until the tier ends.
        stands: Whether what it makes stands until the tier ends.
        opens: When it can be asked, if not at once: from an hour before the ``start`` or the ``end`` of the block.
        buys: Purchases that it sends.
        nodes: Instances that it launches.
        checks: Codes of preflight and rehearsal checks that rely on the answer.
    """

    id: str
    title: str
    ask: Callable[[Any], None]
    decides: str
    tier: int
    cost: Cost = FREE
    minutes: int = 5
    needs: tuple[str, ...] = ()
    stands: bool = False
    opens: str = ""
    buys: int = 0
    nodes: int = 0
    checks: tuple[str, ...] = ()

    @property
    def usd(self) -> Decimal:
        """Worst case of the question itself, in whole cents."""
        lasting = self.cost.hourly * (self.minutes + _MARGIN_MINUTES) / 60
        return (self.cost.once + lasting).quantize(Decimal("0.01"), ROUND_UP)


_QUESTIONS: Final[dict[str, Question]] = {}


def asks(number: str, **more: Any) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Register the function that asks a question, after those that it needs.

    Args:
        number: ID of the question.
        more: Other attributes of the question.
    """

    def register(function: Callable[[Any], None]) -> Callable[[Any], None]:
        title = (inspect.getdoc(function) or "").partition("\n")[0]
        question = Question(id=number, title=title, ask=function, **more)
        assert number not in _QUESTIONS, f"two questions are {number}"
        assert question.decides in DECISIONS, f"{number} decides {question.decides!r}"
        for need in (_QUESTIONS[name] for name in question.needs):
            assert need.stands, f"{number} needs {need.id}, which does not stand"
            assert need.tier == question.tier, f"{number} needs {need.id} of another tier"
        _QUESTIONS[number] = question
        return function

    return register


def questions() -> Mapping[str, Question]:
    """Return all questions by ID, in the order in which they are asked."""
    for name in _MODULES:
        importlib.import_module(f"tests.live.{name}")
    return _QUESTIONS


def planned(until: int, only: Iterable[str] = ()) -> list[Question]:
    """Return the questions of a run, in order.

    Args:
        until: Highest tier.
        only: IDs of questions to ask, besides those that they need. Default: all.
    """
    able = [question for question in questions().values() if question.tier <= until]
    wanted = set(only) or {question.id for question in able}
    for question in reversed(able):  # what a question needs stands before it
        if question.id in wanted:
            wanted |= set(question.needs)
    return [question for question in able if question.id in wanted]


def plan_text(plan: Iterable[Question]) -> str:
    """Return a plan as a table: order, ID, tier, minutes, worst case, sum, question."""
    lines = [f"{'':>3}  {'':<5} {'':<6}  {'limit':>9}  {'worst':>13}  {'sum':>13}"]
    minutes, total = 0, Decimal(0)
    for position, each in enumerate(plan, start=1):
        minutes, total = minutes + each.minutes, total + each.usd
        lines.append(
            f"{position:>3}  {each.id:<5} tier {each.tier}  {each.minutes:>5} min  {each.usd:>9} USD  {total:>9} USD  {each.title}"
        )
    lines.append(
        f"{len(lines) - 1} questions, at most {minutes // 60} h {minutes % 60} min of work and {total} USD"
    )
    return "\n".join(lines)
