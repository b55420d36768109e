"""The registry of checks."""

from ultracluster_rules.registry import RULES
from ultracluster_runtime.preflight.registry import CHECKS


def test_codes_are_unique_registered_in_order_and_wait_for_checks_before_them() -> None:
    codes = [check.code for check in CHECKS]
    assert len(set(codes)) == len(codes)
    for index, check in enumerate(CHECKS):
        assert check.title == RULES[check.code].summary
        assert set(check.after) <= set(codes[:index]), check.code
