import pytest

from ultracluster_rules.values import Between, Form, Known

FORM = Form(code="UC4110", pattern="ami-[0-9]+", allowed="ami-1", explain=lambda got: f"not {got}")
BOUNDS = Between(code="UC4101", least=1, most=1000)
NAMES = Known(code="UC4002", names=("batch", "all-efa"), explain=lambda _: "Take one")


@pytest.mark.parametrize(("rule", "value"), [(FORM, "ami-1"), (BOUNDS, 1), (BOUNDS, 1000), (NAMES, "batch")])
def test_a_value_that_keeps_its_rule_has_no_finding(rule: Form | Between | Known, value: str) -> None:
    assert rule.check(value) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "value", "shown"),
    [
        (FORM, "ami-1 ", "UC4110: p: got 'ami-1 '. Allowed: ami-1. not ami-1 ."),
        (BOUNDS, 0, "UC4101: p: got 0. Allowed: 1 to 1,000."),
        (BOUNDS, 1001, "UC4101: p: got 1001. Allowed: 1 to 1,000."),
        (NAMES, "Batch", "UC4002: p: got 'Batch'. Allowed: batch, all-efa. Take one."),
    ],
)
def test_a_value_that_breaks_its_rule_is_shown_with_what_is_allowed(
    rule: Form | Between | Known, value: str, shown: str
) -> None:
    assert [str(finding) for finding in rule.check(value, path="p")] == [shown]  # type: ignore[arg-type]


def test_a_credential_is_not_shown() -> None:
    (finding,) = FORM.check("AKIAIOSFODNN7EXAMPLE")
    assert "AKIAIOSFODNN7EXAMPLE" not in finding.problem
