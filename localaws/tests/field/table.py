"""Table of the cases by kind."""

from collections import Counter
from collections.abc import Iterable

from tests.field.case import Case
from tests.field.run import AGREED, DISAGREED, MARKED, Outcome

__all__ = ["table"]


def table(results: Iterable[tuple[Case, Outcome]]) -> str:
    """Format a Markdown table: cases, agreed, marked and disagreed by kind, with totals."""
    counts: dict[str, Counter[str]] = {}
    total: Counter[str] = Counter()
    for case, outcome in results:
        counts.setdefault("published" if case.service == "published" else case.kind, Counter())[
            outcome.verdict
        ] += 1
        total[outcome.verdict] += 1
    rows = [("Kind", "Cases", "Agreed", "Marked", "Disagreed")]
    rows += [_row(kind, counts[kind]) for kind in sorted(counts)]
    rows.append(_row("all", total))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def _row(kind: str, counts: Counter[str]) -> tuple[str, ...]:
    shown = (counts.total(), counts[AGREED], counts[MARKED], counts[DISAGREED])
    return (kind, *map(str, shown))
