"""Which differences between a declaration and what a service reports count."""

from typing import Any

import pytest
from tests.cloudformation.comparison import differences, differing


@pytest.mark.parametrize(
    ("declared", "shown"),
    [
        ({"Priority": 10}, {"priority": 10}),
        ({"Days": 30}, {"Days": "30"}),
        ({"Threshold": 1000000000}, {"Threshold": 1e9}),
        ({"Flag": True}, {"Flag": "true"}),
        ({"A": 1}, {"A": 1, "Default": "of the service"}),
        ({"A": 1, "NotShown": 2}, {"A": 1}),
        ({"Ids": ["b", "a"]}, {"Ids": ["a", "b"]}),
        ({"Document": {"a": 1}}, {"Document": '{"a": 1}'}),
        ({"Tags": [{"Key": "a", "Value": "b"}]}, {"Tags": {"a": "b"}}),
        (
            {"Tags": [{"Key": "a", "Value": "b"}]},
            {"Tags": [{"Key": "aws:x", "Value": "y"}, {"Key": "a", "Value": "b"}]},
        ),
    ],
    ids=str,
)
def test_the_same_in_another_form_is_no_difference(declared: Any, shown: Any) -> None:
    assert list(differences(declared, shown)) == []


@pytest.mark.parametrize(
    ("declared", "shown", "path"),
    [
        ({"Days": 30}, {"Days": 3}, "/Days"),
        ({"A": {"B": [1, 2]}}, {"A": {"b": [1, 3]}}, "/A/B/1"),
        ({"A": {"B": [1, 2]}}, {"A": {"b": [1]}}, "/A/B"),
        ({"Tags": [{"Key": "a", "Value": "b"}]}, {"Tags": [{"Key": "a", "Value": "c"}]}, "/Tags/0/Value"),
        ({"Tags": [{"Key": "a", "Value": "b"}]}, {"Tags": []}, "/Tags"),
        ({"Flag": True}, {"Flag": False}, "/Flag"),
        ({"Document": {"a": 1}}, {"Document": '{"a": 2}'}, "/Document"),
    ],
    ids=str,
)
def test_a_difference_is_named_by_its_path(declared: Any, shown: Any, path: str) -> None:
    assert [found[0] for found in differences(declared, shown)] == [path]


@pytest.mark.slow
def test_a_resource_that_is_gone_differs_as_a_whole(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Logs": {"Type": "AWS::Logs::LogGroup"}}})
    assert differing("one") == {}

    stacks.local.client("logs").delete_log_group(logGroupName=stacks.ids("one")["Logs"])

    assert differing("one") == {"Logs": [""]}
