"""The plan of a run: its questions in order, their limits and their worst cases. It needs no account and no pytest."""

import functools
import importlib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path

from tests.live.question import QUESTIONS, Question, cost_in_order, ordered

__all__ = ["plan_text", "planned", "questions"]


@functools.cache
def questions() -> Mapping[str, Question]:
    """Return all questions by ID."""
    for path in sorted(Path(__file__).parent.glob("test_[0-9]_*.py")):
        importlib.import_module(f"tests.live.{path.stem}")
    importlib.import_module("tests.live.by_hand")
    return QUESTIONS


def planned(until: int, chosen: Iterable[str] = ()) -> list[tuple[Question, Decimal]]:
    """Return the questions of a run that have a test, in order, with the worst case of each.

    Args:
        until: Highest tier.
        chosen: IDs of questions to ask, besides those that they need. Default: all.
    """
    able = [question for question in questions().values() if question.test and question.tier <= until]
    if wanted := set(chosen):
        by_id = {question.id: question for question in able}
        for name in list(wanted):
            ahead = [name]
            while ahead:
                each = ahead.pop()
                wanted.add(each)
                ahead += by_id[each].needs if each in by_id else ()
        able = [question for question in able if question.id in wanted]
    return cost_in_order(ordered(able))


def plan_text(until: int, chosen: Iterable[str] = ()) -> str:
    """Return the plan as a table: order, ID, tier, minutes, worst case, sum, question."""
    lines, total, minutes, buys, nodes = [], Decimal(0), 0, 0, 0
    for position, (question, usd) in enumerate(planned(until, chosen), start=1):
        total += usd
        minutes += question.minutes
        buys += question.buys
        nodes += question.nodes
        lines.append(
            f"{position:>3}  {question.id:<5} tier {question.tier}  {question.minutes:>5} min  {usd:>9} USD  {total:>9} USD  {question.title}"
        )
    head = f"{'':>3}  {'':<5} {'':<6}  {'limit':>9}  {'worst':>13}  {'sum':>13}"
    end = (
        f"{len(lines)} tests, at most {minutes // 60} h {minutes % 60} min of work and {total} USD; "
        f"{buys} purchases, {nodes} instances"
    )
    return "\n".join([head, *lines, end])
