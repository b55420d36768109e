"""What AWS accounts have answered to the live tests: questions that preflight and `status` can call shown, with the date."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

LIVE_FACTS_FILE: Final = Path(__file__).with_name("live_facts.json")
"""The table that `make live-publish` writes from the records of live runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveFact:
    """The newest answer of AWS to a question of docs/evidence/live-checks.md.

    Attributes:
        id: ID of the question, such as ``L110``.
        title: The question.
        shown: Whether AWS did what the question expects.
        date: Date of the record.
        version: Version of ultracluster that asked.
        checks: Codes of preflight and rehearsal checks that rely on the answer.
    """

    id: str
    title: str
    shown: bool
    date: str
    version: str
    checks: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the ID with the date on which it was shown, or not."""
        return f"{self.id} {'shown' if self.shown else 'not shown'} on {self.date}"


@cache
def live_facts() -> tuple[LiveFact, ...]:
    """Return the newest answer to each question that a live run has asked."""
    rows: list[dict[str, Any]] = json.loads(LIVE_FACTS_FILE.read_text("utf-8"))
    return tuple(LiveFact(**{**row, "checks": tuple(row["checks"])}) for row in rows)


def facts_on(code: str) -> list[LiveFact]:
    """Return the answers that a check relies on.

    Args:
        code: Code of the check.
    """
    return [fact for fact in live_facts() if code in fact.checks]


def summarize(facts: Sequence[LiveFact]) -> str:
    """Return the answers in one line; empty if there are none.

    Args:
        facts: The answers.
    """
    if not facts:
        return ""
    refuted = [str(fact) for fact in facts if not fact.shown]
    last = max(fact.date for fact in facts)
    shown = f"shown by live tests: {len(facts) - len(refuted)}, last asked on {last}"
    return "; ".join([shown, *refuted])
