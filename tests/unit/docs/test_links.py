"""Each link of the pages leads to a file, and to a heading of it."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

# `make docs` writes these and checks their links.
GENERATED = {ROOT / "docs/reference/generated", ROOT / "docs/gallery/generated"}


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
        if not GENERATED.intersection(page.parents)
    ],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, _, heading in (one.partition("#") for one in re.findall(r"\]\(([^)]+)\)", page.read_text())):
        if target.startswith("https://"):
            continue
        there = page.parent / target if target else page
        if there.resolve().parent in GENERATED:
            continue
        assert there.exists(), target
        assert not heading or heading in _anchors(there), f"{target}#{heading}"


@cache
def _anchors(page: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return anchors | set(re.findall(r'<a (?:id|name)="([^"]+)"', page.read_text()))
