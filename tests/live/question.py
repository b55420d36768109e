"""Questions that only a real AWS account can answer: each has an ID, a tier, a cost and a test, or the reason why it has none."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import Any, Final, Literal, TypeVar

__all__ = [
    "FREE",
    "MARGIN_MINUTES",
    "QUESTIONS",
    "TIERS",
    "Cost",
    "Question",
    "cost_in_order",
    "live",
    "ordered",
    "untested",
]

TIERS: Final[Mapping[int, str]] = {
    0: "No resources, no cost",
    1: "Small instances for minutes, up to 10 USD in all",
    2: "One or two trn2.3xlarge for a day, or two trn1.32xlarge for an hour",
    3: "Two trn2.48xlarge for a day",
}

MARGIN_MINUTES: Final = 30
"""Time that the worst case adds to the limit of a test: the schedule in the account fires 15 minutes after it, and needs time to remove."""

Phase = Literal["before", "start", "during", "end", "after"]
_PHASES: Final = ("before", "start", "during", "end", "after")
F = TypeVar("F", bound=Callable[..., None])


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a question costs at most.

    Attributes:
        hourly: USD for each hour in which its resources exist.
        once: USD that are due at once, such as the fee of a Capacity Block.
        what: What is paid.
    """

    hourly: Decimal = Decimal(0)
    once: Decimal = Decimal(0)
    what: str = "nothing"

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            hourly=self.hourly + other.hourly,
            once=self.once + other.once,
            what=" and ".join(each.what for each in (self, other) if each != FREE) or FREE.what,
        )

    def usd(self, minutes: int) -> Decimal:
        """Return the worst case of a test with a limit of `minutes`, in whole cents."""
        lasting = self.hourly * (minutes + MARGIN_MINUTES) / 60
        return (self.once + lasting).quantize(Decimal("0.01"), ROUND_UP)


FREE: Final = Cost()


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, in the order of the page.

    Attributes:
        id: ID on the page, such as ``L8``.
        title: The question.
        steps: How the test answers it, and when it is shown.
        tier: What it takes; see `TIERS`.
        cost: What it costs at most, beyond the questions that it needs.
        minutes: Limit of the test.
        needs: Questions that must be shown before.
        stands: Whether what the test makes stands until the last question that needs it.
        phase: When it is asked, relative to the Capacity Block that it needs.
        buys: Purchases that the test sends.
        nodes: Instances that start because of the test.
        region: Region; ``block`` for that of the block.
        reason: Why it has no test, if it has none.
        checks: Codes of preflight and rehearsal checks that rely on the answer.
        test: Name of the test.
        module: Module of the test.
    """

    id: str
    title: str
    steps: str
    tier: int
    cost: Cost = FREE
    minutes: int = 5
    needs: tuple[str, ...] = ()
    stands: bool = False
    phase: Phase = "before"
    buys: int = 0
    nodes: int = 0
    reason: str = ""
    checks: tuple[str, ...] = ()
    test: str = ""
    module: str = ""

    @property
    def number(self) -> int:
        """The number in the ID."""
        return int(self.id.removeprefix("L"))

    @property
    def usd(self) -> Decimal:
        """Worst case of the test itself."""
        return self.cost.usd(self.minutes)


QUESTIONS: Final[dict[str, Question]] = {}
"""All questions by ID; importing the test modules fills it."""


def live(
    number: str,
    *,
    tier: int,
    cost: Cost = FREE,
    minutes: int = 5,
    needs: Iterable[str] = (),
    stands: bool = False,
    phase: Phase = "before",
    buys: int = 0,
    nodes: int = 0,
    checks: Iterable[str] = (),
) -> Callable[[F], F]:
    """Register a test as that of a question; the first line of its docstring is the question, the rest the steps."""

    def register(function: F) -> F:
        title, _, steps = inspect.cleandoc(function.__doc__ or "").partition("\n")
        question = Question(
            id=number,
            title=title,
            steps=_paragraphs(steps),
            tier=tier,
            cost=cost,
            minutes=minutes,
            needs=tuple(needs),
            stands=stands,
            phase=phase,
            buys=buys,
            nodes=nodes,
            checks=tuple(checks),
            test=function.__name__,
            module=function.__module__,
        )
        _add(question)
        function.live_question = question  # type: ignore[attr-defined]
        return function

    return register


def untested(number: str, title: str, steps: str, *, tier: int, reason: str, cost: str = "") -> None:
    """Register a question without a test.

    Args:
        number: ID of the question.
        title: The question.
        steps: Steps by hand.
        tier: What it takes.
        reason: Why it cannot have a test.
        cost: What it costs, in words. Default: nothing.
    """
    _add(
        Question(
            id=number,
            title=title,
            steps=_paragraphs(steps),
            tier=tier,
            cost=Cost(what=cost or "nothing"),
            reason=reason,
        )
    )


def _add(question: Question) -> None:
    known = QUESTIONS.get(question.id)
    if known and (known.test, known.title) != (question.test, question.title):
        raise ValueError(f"two questions are {question.id}: {known.title!r} and {question.title!r}")
    QUESTIONS[question.id] = question


def _paragraphs(text: str) -> str:
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(text).strip())
    return "\n\n".join(" ".join(block.split()) if "```" not in block else block for block in blocks)


def _key(question: Question) -> tuple[Any, ...]:
    return (question.tier, not question.test, _PHASES.index(question.phase), question.usd, question.number)


def ordered(questions: Iterable[Question]) -> list[Question]:
    """Return questions by tier, phase and cost, each after those that it needs, cheapest first.

    Raises:
        ValueError: If questions need each other, or one that is not there.
    """
    waiting = sorted(questions, key=_key)
    placed: dict[str, Question] = {}
    while waiting:
        ready = next((each for each in waiting if all(need in placed for need in each.needs)), None)
        if ready is None:
            raise ValueError(f"{', '.join(each.id for each in waiting)} need what is never shown before them")
        waiting.remove(ready)
        placed[ready.id] = ready
    return list(placed.values())


def cost_in_order(order: Iterable[Question]) -> list[tuple[Question, Decimal]]:
    """Return the worst case of each question in a run: its own, and what stands from questions before it.

    What a question makes and leaves standing is paid while later tests run, up to the last one that needs it.
    """
    plan = list(order)
    last = {
        question.id: max(
            (position for position, other in enumerate(plan) if question.id in _all_needs(other, plan)),
            default=-1,
        )
        for question in plan
        if question.stands
    }
    priced = []
    for position, question in enumerate(plan):
        standing = [
            other.cost.hourly for other in plan[:position] if other.stands and position <= last[other.id]
        ]
        shared = Cost(hourly=sum(standing, Decimal(0)))
        minutes = question.minutes
        extra = (shared.hourly * (minutes + (MARGIN_MINUTES if question.cost == FREE else 0)) / 60).quantize(
            Decimal("0.01"), ROUND_UP
        )
        priced.append((question, question.usd + extra))
    return priced


def _all_needs(question: Question, plan: Iterable[Question]) -> set[str]:
    by_id = {each.id: each for each in plan}
    found: set[str] = set()
    ahead = list(question.needs)
    while ahead:
        name = ahead.pop()
        if name not in found and name in by_id:
            found.add(name)
            ahead += by_id[name].needs
    return found
