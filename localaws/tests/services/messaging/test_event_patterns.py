"""Which event patterns are valid, and what is wrong with the others."""

import json
from typing import Any

import pytest

from ultracluster_local.services.messaging.event_patterns import problem


@pytest.mark.parametrize(
    "pattern",
    [
        {"source": ["aws.ec2"], "detail": {"state": ["running", None, True, 7]}},
        {"$or": [{"a": ["x"]}, {"b": [{"exists": False}]}]},
        {"a": [{"prefix": "x"}, {"suffix": {"equals-ignore-case": "Y"}}, {"equals-ignore-case": "z"}]},
        {"a": [{"wildcard": "x*y*"}]},
        {"a": [{"numeric": [">", 0, "<=", 5.5]}, {"numeric": ["=", 7]}]},
        {"a": [{"cidr": "10.0.0.0/24"}, {"cidr": "::1/64"}]},
        {"a": [{"anything-but": "x"}, {"anything-but": ["x", 1]}, {"anything-but": {"prefix": ["x", "y"]}}]},
        {"a": [{"anything-but": {"wildcard": "x*"}}, {"anything-but": {"equals-ignore-case": "x"}}]},
    ],
    ids=json.dumps,
)
def test_a_pattern_of_known_operators_is_valid(pattern: dict[str, Any]) -> None:
    assert problem(json.dumps(pattern)) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "Unrecognized token"), ("[]", "Filter is not an object"), ("1", "Filter is not an object")],
)
def test_a_pattern_is_an_object_of_json(text: str, words: str) -> None:
    assert words in str(problem(text))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ({"source": "aws.ec2"}, '"source" must be an object or an array'),
        ({"detail": {"state": []}}, "Empty arrays are not allowed"),
        ({"a": [["x"]]}, "Match value must be String, number, true, false, or null"),
        ({"$or": [{"a": "x"}]}, '"a" must be an object or an array'),
        ({"a": [{"like": "x"}]}, "Unrecognized match type like"),
        ({"a": [{"prefix": 1}]}, "prefix match pattern must be a string"),
        ({"a": [{"wildcard": "x**"}]}, "Consecutive wildcard characters at pos 2"),
        ({"a": [{"exists": "yes"}]}, "exists match pattern must be either true or false."),
        ({"a": [{"numeric": 5}]}, "Value of numeric must be an array."),
        ({"a": [{"numeric": ["!", 5]}]}, "Bad numeric range operator: !"),
        ({"a": [{"numeric": ["=", 5, "<", 6]}]}, "Bad numeric range operator: <"),
        ({"a": [{"numeric": ["<", 5, ">", 1]}]}, "Bad numeric range operator: >"),
        ({"a": [{"numeric": ["=", "5"]}]}, "Value of equals must be numeric"),
        ({"a": [{"numeric": [">"]}]}, "Value of > must be numeric"),
        ({"a": [{"cidr": 1}]}, "prefix match pattern must be a string"),
        ({"a": [{"cidr": "10.0.0.0"}]}, "Malformed CIDR, one '/' required"),
        ({"a": [{"cidr": "10.0.0.0/x"}]}, "mask bits must be an integer"),
        ({"a": [{"cidr": "10.0.0/24"}]}, "Nonstandard IP address: 10.0.0"),
        ({"a": [{"anything-but": [True]}]}, "Inside anything but list"),
        ({"a": [{"anything-but": True}]}, "Value of anything-but must be an array or single string/number value."),
        ({"a": [{"anything-but": {"prefix": ""}}]}, "Null prefix/suffix not allowed"),
        ({"a": [{"anything-but": {"suffix": [1]}}]}, "prefix/suffix match pattern must be a string"),
        ({"a": [{"anything-but": {"numeric": [1]}}]}, "Unsupported anything-but pattern: numeric"),
    ],
)  # fmt: skip
def test_a_pattern_that_eventbridge_refuses_is_refused_in_its_words(
    pattern: dict[str, Any], words: str
) -> None:
    assert words in str(problem(json.dumps(pattern)))
