"""docs/evidence/mutation.md: a row for each part, written when the part was run."""

import re
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Final

__all__ = ["PAGE", "Row", "read_rows", "write_row"]

PAGE: Final = Path(__file__).parents[2] / "docs" / "evidence" / "mutation.md"
_ROW: Final = re.compile(r"^\| (\w+) \| (\d{4}-\d\d-\d\d) \|(.*)\| [\d.]+ % \|$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """How the tests of one part did.

    Attributes:
        part: Name of the part.
        date: The day of the run, UTC.
        made: Number of changes that mutmut made.
        tried: How many of them were tried.
        killed: Those that made a test fail.
        timed_out: Those that made the tests run for ever.
        survived: Those that no test noticed, without the equal ones.
        equal: Those that change nothing that can be seen, each with its reason in equal.toml.
    """

    part: str
    date: str
    made: int
    tried: int
    killed: int
    timed_out: int
    survived: int
    equal: int

    @property
    def score(self) -> float:
        """How many per cent of the changes that can be seen the tests noticed; rounded down to a tenth."""
        return (self.killed + self.timed_out) * 1000 // (self.tried - self.equal) / 10

    def __str__(self) -> str:
        return f"| {' | '.join(map(str, astuple(self)))} | {self.score:.1f} % |"


def read_rows(text: str) -> list[Row]:
    """Read the table of the page."""
    return [Row(part, date, *map(int, counts.split("|"))) for part, date, counts in _ROW.findall(text)]


def write_row(row: Row) -> None:
    """Put a row in the place of the former one of its part, or at the end of the table."""
    text = PAGE.read_text(encoding="utf-8")
    former = [one for one in read_rows(text) if one.part == row.part]
    if former:
        text = text.replace(str(former[0]), str(row))
    else:
        rule = re.search(r"^\|---.*\n(\|.*\n)*", text, re.MULTILINE)
        if rule is None:
            raise ValueError(f"{PAGE} has no table")
        text = f"{text[: rule.end()]}{row}\n{text[rule.end() :]}"
    PAGE.write_text(text, encoding="utf-8")
