import time
from typing import Any

import pytest

from ultracluster_stacks.plan.expressions import (
    IMPORT,
    Reference,
    canonical,
    differences,
    is_expression,
    references,
    written,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"Fn::GetAtt": "Vpc.CidrBlock"}, {"Fn::GetAtt": ["Vpc", "CidrBlock"]}),
        ({"Fn::GetAtt": "Stack.Outputs.Name"}, {"Fn::GetAtt": ["Stack", "Outputs.Name"]}),
        ({"Fn::Sub": "${Vpc}"}, {"Ref": "Vpc"}),
        ({"Fn::Sub": "a-${Vpc.Arn}-b"}, {"Fn::Join": ["-", ["a", {"Fn::GetAtt": ["Vpc", "Arn"]}, "b"]]}),
        ({"Fn::Sub": ["a${It}", {"It": "b"}]}, "ab"),
        ({"Fn::Sub": "${!Vpc}"}, "${Vpc}"),
        (
            {"Fn::Join": ["", ["a", {"Fn::Join": ["", ["b", {"Ref": "X"}]]}]]},
            {"Fn::Join": ["", ["ab", {"Ref": "X"}]]},
        ),
        ({"Fn::Join": [",", ["a", "b"]]}, "a,b"),
        ({"Fn::Join": [",", []]}, ""),
        (
            [{"Key": "b", "Value": "2"}, {"Key": "a", "Value": "1"}],
            [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}],
        ),
    ],
)
def test_two_ways_to_write_one_value_are_the_same(one: Any, other: Any) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"Ref": "Vpc"}, {"Ref": "Other"}),
        ({"Fn::Sub": "${Vpc}x"}, {"Ref": "Vpc"}),
        ({"Fn::Join": [",", {"Ref": "List"}]}, {"Fn::Join": ["", {"Ref": "List"}]}),
        (["a", "b"], ["b", "a"]),
        (988, "988"),
    ],
)
def test_different_values_stay_different(one: Any, other: Any) -> None:
    assert canonical(one) != canonical(other)


def test_only_the_spelling_of_one_function_is_the_same_for_a_replacement() -> None:
    assert written({"Fn::GetAtt": "Vpc.Arn"}) == written({"Fn::GetAtt": ["Vpc", "Arn"]})
    assert written({"Fn::Sub": "${Vpc}"}) != written({"Ref": "Vpc"})


def test_finds_what_a_value_refers_to_wherever_it_stands() -> None:
    value = {
        "A": [{"Ref": "One"}, {"Fn::Join": ["", ["x", {"Fn::GetAtt": ["Two", "Arn"]}]]}],
        "B": {"Fn::Sub": ["${Three.Id} ${Given}", {"Given": {"Ref": "Four"}}]},
        "C": {
            "Fn::If": ["Condition", {"Fn::ImportValue": "stack:Five"}, {"Fn::ImportValue": {"Ref": "Six"}}]
        },
    }

    assert [*references(value)] == [
        Reference("One", ""),
        Reference("Two", "Arn"),
        Reference("Three", "Id"),
        Reference("Four", ""),
        Reference("Condition", ""),
        Reference("stack:Five", IMPORT),
        Reference('{"Ref": "Six"}', IMPORT),
        Reference("Six", ""),
    ]


def test_an_expression_differs_as_a_whole_and_a_mapping_member_by_member() -> None:
    before = {"A": {"Ref": "X"}, "B": {"C": 1, "D": [1, {"E": 2}]}}
    after = {"A": {"Ref": "Y"}, "B": {"D": [1, {"E": 3}], "F": 4}}

    assert [*differences(before, after)] == [
        (("A",), {"Ref": "X"}, {"Ref": "Y"}),
        (("B", "C"), 1, None),
        (("B", "D", "1", "E"), 2, 3),
        (("B", "F"), None, 4),
    ]


def test_a_name_with_several_dots_is_a_resource_and_one_attribute() -> None:
    assert canonical({"Fn::Sub": "${Stack.Outputs.Name}"}) == {"Fn::GetAtt": ["Stack", "Outputs.Name"]}
    assert [*references({"Fn::GetAtt": "Stack.Outputs.Name"})] == [Reference("Stack", "Outputs.Name")]


def test_text_before_between_and_after_placeholders_is_kept() -> None:
    assert canonical({"Fn::Sub": "a${X}b${Y}c"}) == {
        "Fn::Join": ["", ["a", {"Ref": "X"}, "b", {"Ref": "Y"}, "c"]]
    }


def test_a_text_full_of_beginnings_is_read_once() -> None:
    started = time.process_time()
    assert [*references({"Fn::Sub": "${" * 50_000 + "X}"})] == [Reference("X", "")]
    assert time.process_time() - started < 2


def test_a_condition_is_an_expression_and_differs_as_a_whole() -> None:
    assert is_expression({"Condition": "Sometimes"})
    assert not is_expression({"condition": "sometimes"})
    assert not is_expression({"Ref": "X", "Condition": "Sometimes"})
    assert not is_expression("Ref")


def test_only_tags_may_be_in_any_order() -> None:
    tags = [{"Key": "b", "Value": "1"}, {"Value": "2", "Key": "a"}]

    assert canonical(tags) == [{"Key": "a", "Value": "2"}, {"Key": "b", "Value": "1"}]
    assert canonical([*tags, "x"]) == [*tags, "x"]
    assert canonical([{"Key": "b"}, {"Key": "a"}]) == [{"Key": "b"}, {"Key": "a"}]
