"""Every judge about every seeded defect, for the table of docs/evidence/defects.md; and many odd templates."""

from collections import Counter
from pathlib import Path

import pytest
from tests.deep.conftest import Tried
from tests.unit.checks.defects import DEFECTS
from tests.unit.checks.judges import JUDGES, is_caught

pytestmark = pytest.mark.deep

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "check.md"


def test_the_page_shows_the_findings_of_each_tool(tried: Tried) -> None:
    caught = {judge: {defect.name for defect in DEFECTS if is_caught(defect, judge)} for judge in JUDGES}
    seeded = Counter(defect.subject for defect in DEFECTS)
    rows = []
    for subject in seeded:
        names = {defect.name for defect in DEFECTS if defect.subject == subject}
        counts = [len(names & found) for found in caught.values()]
        rows.append(_row(subject, [len(names), *counts, len(names & set().union(*caught.values()))]))
    everything = [len(DEFECTS), *map(len, caught.values()), len(set().union(*caught.values()))]
    rows.append(_row("**all**", everything))
    tried("template defects", f"{everything[-1]} of {len(DEFECTS)} found, {everything[1]} by our rules")

    assert "\n".join(rows) in PAGE.read_text(encoding="utf-8"), "\n".join(rows)


def _row(name: str, numbers: list[int]) -> str:
    return f"| {name} | {' | '.join(map(str, numbers))} |"
