"""The table of rules."""

from ultracluster_checks.table import CHECKS, CODES, NEVER_LEFT_OUT


def test_a_rule_is_in_the_table_once() -> None:
    assert len({check.find for check in CHECKS}) == len(CHECKS)
    assert NEVER_LEFT_OUT <= CODES
