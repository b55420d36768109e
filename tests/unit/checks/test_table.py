"""The table of rules."""

from ultracluster_checks.table import CHECKS, template_codes
from ultracluster_rules.registry import RULES


def test_a_rule_is_in_the_table_once() -> None:
    assert len(set(CHECKS)) == len(CHECKS)


def test_only_rules_for_templates_are_marked_as_never_left_out() -> None:
    never = {code for code, rule in RULES.items() if rule.never_left_out}

    assert never
    assert never <= template_codes()
