"""Rules of composite alarms."""

import pytest

from ultracluster_local.alarms.alarm_rules import is_in_alarm

STATES = {"a": "ALARM", "b": "OK", "c": "INSUFFICIENT_DATA", "d e": "ALARM"}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("ALARM(a)", True),
        ('ALARM("d e")', True),
        ('ALARM("arn:aws:cloudwatch:us-east-2:123456789012:alarm:d e")', True),
        ("ALARM(b) OR ALARM(c)", False),
        ("ALARM(b) OR INSUFFICIENT_DATA(c)", True),
        ("ALARM(a) AND NOT OK(b)", False),
        ("NOT ALARM(b) AND ALARM(a)", True),
        ("ALARM(a) OR ALARM(b) AND ALARM(b)", True),
        ("(ALARM(a) OR ALARM(b)) AND ALARM(b)", False),
        ("TRUE AND NOT FALSE", True),
    ],
)
def test_rules_of_composite_alarms(rule: str, expected: bool) -> None:
    assert is_in_alarm(rule, STATES) is expected


@pytest.mark.parametrize(
    "rule", ["", "ALARM(a) ALARM(b)", "(ALARM(a)", "ALARM(a) XOR ALARM(b)", "NOT", "ALARM(no)"]
)
def test_refuses_a_rule_that_cannot_be_read(rule: str) -> None:
    with pytest.raises(ValueError, match="composite alarm"):
        is_in_alarm(rule, STATES)
