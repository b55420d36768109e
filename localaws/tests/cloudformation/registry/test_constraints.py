"""Which values a property may have, by the schema of its type."""

from typing import Any

import pytest

from ultracluster_local.cloudformation.registry.constraints import violations

LIST = {"type": "array", "minItems": 1, "maxItems": 2}
NAME = {"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^[a-z]+$"}
COUNT = {"type": "integer", "minimum": 1, "maximum": 5}


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (["a"], LIST),
        ([{"Fn::If": ["Yes", 1, 2]}] * 3, LIST),
        ("ab", NAME),
        ("{{resolve:ssm:/a/very/long/name}}", NAME),
        (5, COUNT),
        ("5", COUNT),
        (True, {"enum": ["true", "false"]}),
        (30, {"type": "integer", "enum": [1, 30]}),
        ({"anything": 1}, NAME),
        ("A", {"type": "string", "pattern": "(?<broken"}),
    ],
)
def test_a_value_that_fits_its_schema_violates_nothing(value: Any, shape: dict[str, Any]) -> None:
    assert list(violations(value, shape, "#/P", patterns=True)) == []


@pytest.mark.parametrize(
    ("value", "shape", "words"),
    [
        ([], LIST, "expected minimum item count: 1, found: 0"),
        (["a", "b", "c"], LIST, "expected maximum item count: 2, found: 3"),
        ("a", NAME, "expected minLength: 2, actual: 1"),
        ("abcd", NAME, "expected maxLength: 3, actual: 4"),
        ("AB", NAME, "failed validation constraint for keyword [pattern]"),
        (0, COUNT, "0.0 is not greater or equal to 1"),
        ("6", COUNT, "6.0 is not less or equal to 5"),
        ("many", COUNT, "expected type: Number, found: String"),
        (2, {"type": "integer", "enum": [1, 3]}, "2 is not a valid enum value"),
    ],
)
def test_a_violation_is_named_with_its_path(value: Any, shape: dict[str, Any], words: str) -> None:
    assert list(violations(value, shape, "#/P", patterns=True)) == [f"#/P: {words}"]


def test_a_pattern_that_cloudformation_lacks_does_not_count() -> None:
    assert list(violations("AB", NAME, "#/P", patterns=False)) == []
    assert list(violations("A", NAME, "#/P", patterns=False)) == ["#/P: expected minLength: 2, actual: 1"]
