"""The registry of checks."""

from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.records import RECORDS


def test_codes_are_unique_registered_in_order_and_wait_for_checks_before_them() -> None:
    codes = [check.code for check in CHECKS]
    assert len(set(codes)) == len(codes)
    for index, check in enumerate(CHECKS):
        assert check.code in RECORDS
        assert set(check.after) <= set(codes[:index]), check.code
