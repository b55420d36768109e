"""docs/rules.md is what `make rules` writes."""

import re
from pathlib import Path

from ultracluster_rules.rule_notes.page import PAGE_FILE, rules_page

ROOT = Path(__file__).parents[3]


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / PAGE_FILE).read_text(encoding="utf-8") == rules_page(), "run `make rules`"


def test_every_link_of_the_contents_leads_to_an_entry() -> None:
    page = rules_page()

    assert re.findall(r"\]\(#(uc\d{4})\)", page) == [
        code.lower() for code in re.findall(r"^### (UC\d{4})$", page, re.MULTILINE)
    ]
