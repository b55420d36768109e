"""Metric math."""

import pytest

from ultracluster_local.alarms.metric_math import evaluate


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a - b", 1),
        ("-a + b * 2", 1),
        ("a / zero", None),
        ("a + gone", None),
        ("FILL(gone, 0) + a", 3),
        ("FILL(a, 0)", 3),
        ("IF(a > b, a, zero)", 3),
        ("IF(a <= b, a, zero)", 0),
        ("IF(a > b, gone, zero)", None),
        ("IF(gone > 0, a, b)", None),
    ],
)
def test_metric_math(expression: str, expected: float | None) -> None:
    assert evaluate(expression, {"a": 3, "b": 2, "zero": 0, "gone": None}) == expected


@pytest.mark.parametrize(
    "expression", ["SUM([a, b])", "a ** 2", "unknown + 1", "FILL(a, REPEAT)", "a +", "'a'", "a < b < 3"]
)
def test_refuses_metric_math_that_it_does_not_know(expression: str) -> None:
    with pytest.raises(ValueError, match="does not support the metric math"):
        evaluate(expression, {"a": 3, "b": 2})
