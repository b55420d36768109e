"""What AWS accounts have answered to the live tests: shown in preflight and `status` with the date."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

LIVE_FACTS_FILE: Final = Path(__file__).with_name("live_facts.json")
"""The table that `make live DO=publish` writes from the records of live runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveFact:
    """The newest answer of AWS to a question of the live checks."""

    id: str  # ID of the question, such as L110
    title: str
    shown: bool  # whether AWS did what the question expects
    date: str
    version: str
    checks: tuple[str, ...] = ()  # codes of preflight and rehearsal checks that rely on the answer

    def __str__(self) -> str:
        """Return the ID with the date on which the test passed or failed."""
        return f"{self.id} {'passed' if self.shown else 'failed'} on {self.date}"


@cache
def live_facts() -> tuple[LiveFact, ...]:
    """Return the newest answer to each question that a live run has asked."""
    rows: list[dict[str, Any]] = json.loads(LIVE_FACTS_FILE.read_text("utf-8"))
    return tuple(LiveFact(**{**row, "checks": tuple(row["checks"])}) for row in rows)


def facts_on(code: str) -> list[LiveFact]:
    """Return the answers that the check with a code relies on."""
    return [fact for fact in live_facts() if code in fact.checks]


def summarize(facts: Sequence[LiveFact]) -> str:
    """Return the answers in one line; empty if there are none."""
    if not facts:
        return ""
    refuted = [str(fact) for fact in facts if not fact.shown]
    last = max(fact.date for fact in facts)
    shown = f"live tests passed: {len(facts) - len(refuted)}, last run on {last}"
    return "; ".join([shown, *refuted])
