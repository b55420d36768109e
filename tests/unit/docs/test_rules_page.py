"""The page of all rules has an entry for each, and links that lead to them."""

import re

from rules_page import rules_page

from ultracluster_cli.records import ALL_RECORDS


def test_every_rule_has_an_entry() -> None:
    assert set(re.findall(r"^### (UC\d{4})$", rules_page(), re.MULTILINE)) == set(ALL_RECORDS)


def test_every_link_of_the_contents_leads_to_an_entry() -> None:
    page = rules_page()

    assert re.findall(r"\]\(#(uc\d{4})\)", page) == [
        code.lower() for code in re.findall(r"^### (UC\d{4})$", page, re.MULTILINE)
    ]
