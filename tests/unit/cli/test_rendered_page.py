"""A terminal shows every word of a page."""

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from ultracluster_cli.rendered_page import RenderedPage

PAGES = [
    page
    for page in sorted((Path(__file__).parents[3] / "docs").glob("*/*.md"))
    if re.search(r"^\|.*https://", page.read_text("utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_word_of_a_table_is_cut_at_80_columns(page: Path) -> None:
    text, screen = page.read_text("utf-8"), StringIO()
    Console(width=80, file=screen, highlight=False).print(RenderedPage(text, hyperlinks=False))

    shown = screen.getvalue()
    assert shown.count("\N{HORIZONTAL ELLIPSIS}") == text.count("\N{HORIZONTAL ELLIPSIS}")
    assert max(map(len, shown.splitlines())) <= 80
