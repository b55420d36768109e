"""How a question is asked: reserved, tested, undone and noted; or passed over, and why."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tests.live.journal import INTERRUPTED, SHOWN
from tests.live.question import Question
from tests.live.session import Live, NotYetError, Run

__all__ = ["LATER", "NOT_SHOWN", "PASSED_OVER", "ask", "obstacle", "remove_what_no_test_needs"]

NOT_SHOWN: Final = "not shown"
LATER: Final = "later"
PASSED_OVER: Final = "passed over"


def ask(run: Run, question: Question, test: Callable[[Live], None]) -> None:
    """Ask a question, and note the verdict and the calls in the journal.

    Args:
        run: The run.
        question: The question.
        test: Its test.
    """
    run.begin(question)
    live = Live(run, question)
    verdict, why = INTERRUPTED, ""
    try:
        test(live)
        verdict = SHOWN
    except NotYetError as error:
        verdict, why = LATER, str(error)
        raise
    except Exception as error:
        verdict, why = NOT_SHOWN, str(error) or repr(error)
        raise
    finally:
        calls = list(run.wire.calls)
        left = live.finish()
        run.wire.calls = calls  # those that undo are no part of the answer
        if left:
            live.note(left=left)
        run.end(question, verdict, why=why, values=live.values, facts=live.facts, gone=not left)


def obstacle(run: Run, question: Question) -> str:
    """Return why a question is not asked in this run, or not again; empty if it is."""
    verdict = run.journal.verdict(question.id)
    if verdict in {SHOWN, NOT_SHOWN, PASSED_OVER}:
        return f"{question.id} was answered in this run before: {verdict}"
    if verdict == INTERRUPTED and question.usd and not (question.stands or question.buys):
        return f"{question.id} was interrupted, and is not paid a second time; ask it in a new run"
    if question.cost.hourly and run.stands_until > run.where.now():
        return f"{question.id} is paid by the hour, but the net of this run waits for the end of the block; ask it in another run"
    for need in question.needs:
        if run.journal.verdict(need) != SHOWN:
            return f"{question.id} needs {need}, which this run has not shown"
        if _is_gone(run, need):
            return f"{question.id} needs what {need} made, which is removed; ask it in a new run"
    return ""


def _is_gone(run: Run, question: str) -> bool:
    events = run.journal.events
    ended = max(
        number
        for number, event in enumerate(events)
        if event["event"] == "end" and event["question"] == question
    )
    return any(
        event["event"] == "clean" or (event["event"] == "removed" and event["question"] == question)
        for event in events[ended:]
    )


def remove_what_no_test_needs(
    run: Run, order: Sequence[Question], by_id: Mapping[str, Question]
) -> list[str]:
    """Remove what questions made and left standing, when no question that is still to be asked needs it.

    Args:
        run: The run.
        order: Questions of the run that are still to be asked.
        by_id: All questions.
    """

    def needs(question: Question) -> set[str]:
        return {need for direct in question.needs for need in (direct, *needs(by_id[direct]))}

    needed = {need for question in order for need in needs(question)}
    left = []
    for question in by_id.values():
        begun = run.journal.verdict(question.id) not in {"", PASSED_OVER}
        if (
            question.stands
            and question.id not in needed
            and begun
            and not run.journal.of("removed", question.id)
        ):
            found = run.remove(question.id, minutes=20)
            if not found:
                run.journal.append("removed", question=question.id)
            left += found
    return left
