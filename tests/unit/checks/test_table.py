"""The table of rules."""

import pytest

from ultracluster_checks import Source, check_templates
from ultracluster_checks.table import CHECKS, RECORDS, template_codes


def test_a_rule_is_in_the_table_once() -> None:
    assert len(set(CHECKS)) == len(CHECKS)


def test_only_rules_for_templates_are_marked_as_never_left_out() -> None:
    never = {code for code, rule in RECORDS.items() if rule.never_left_out}

    assert never
    assert never <= template_codes()


@pytest.mark.parametrize("name", ["batch-efa", "block-nodes", "lustre-data"])
def test_a_good_template_of_other_people_breaks_nothing(foreign: dict[str, Source], name: str) -> None:
    assert check_templates([foreign[name]]).findings == ()
