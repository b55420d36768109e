"""Templates: parsing, references and the order of creation."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.templates.parsing import (
    creation_order,
    is_intrinsic,
    parse,
    references,
)


def test_finds_every_reference() -> None:
    value = {
        "A": {"Ref": "One"},
        "B": [{"Fn::GetAtt": ["Two", "Arn"]}, {"Fn::GetAtt": "Three.Arn"}],
        "C": {"Fn::Sub": ["${Four}${Five.Arn}${Local}${!Six}", {"Local": {"Ref": "Seven"}}]},
    }
    assert sorted(references(value)) == ["Five", "Four", "One", "Seven", "Three", "Two"]


def test_yaml_and_json_are_equivalent() -> None:
    text = 'Resources:\n  A: {Type: T, Properties: {V: !GetAtt B.C, W: !Sub "${X}", D: 2012-10-17, N: !If [Y, 1, 2]}}\n'
    properties = {
        "V": {"Fn::GetAtt": ["B", "C"]},
        "W": {"Fn::Sub": "${X}"},
        "D": "2012-10-17",
        "N": {"Fn::If": ["Y", 1, 2]},
    }
    assert parse(text) == {"Resources": {"A": {"Type": "T", "Properties": properties}}}


@pytest.mark.parametrize("text", ["", "[1]", "{", "Resources: {}", '{"Resources": null}', "a: b: c"])
def test_refuses_anything_but_a_template(text: str) -> None:
    with pytest.raises(ValidationError, match="Template format error"):
        parse(text)


def test_a_function_is_not_an_ordinary_map() -> None:
    assert is_intrinsic({"Ref": "A"})
    assert is_intrinsic({"Fn::Join": []})
    assert not is_intrinsic({"Ref": "A", "B": 1})
    assert not is_intrinsic({"A": 1})


@given(
    st.integers(2, 12).flatmap(
        lambda size: st.tuples(
            st.permutations(range(size)),
            st.sets(
                st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(
                    lambda pair: pair[0] < pair[1]
                )
            ),
        )
    )
)
def test_every_resource_comes_after_what_it_needs(graph: tuple[list[int], set[tuple[int, int]]]) -> None:
    written, edges = graph
    resources = {
        f"R{number}": {
            "Type": "T",
            "Properties": {"A": [{"Ref": f"R{low}"} for low, high in sorted(edges) if high == number]},
        }
        for number in written
    }
    order = creation_order({"Resources": resources})
    assert sorted(order) == sorted(resources)
    assert all(order.index(f"R{low}") < order.index(f"R{high}") for low, high in edges)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_circle_is_refused_and_its_members_are_named(length: int) -> None:
    names = [f"R{number}" for number in range(length)]
    pairs = itertools.pairwise([*names, names[0]])
    resources = {name: {"Type": "T", "Properties": {"A": {"Ref": other}}} for name, other in pairs}
    with pytest.raises(ValidationError, match="Circular dependency") as caught:
        creation_order({"Resources": resources})
    assert all(name in str(caught.value) for name in names)


@pytest.mark.parametrize(
    "resource",
    [{"Properties": {"A": {"Ref": "Missing"}}}, {"DependsOn": ["Missing"]}, {"DependsOn": "Missing"}],
)
def test_reference_to_nothing_is_refused(resource: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=r"Unresolved resource dependencies \[Missing\]"):
        creation_order({"Resources": {"A": {"Type": "T", **resource}}})


# localstack/localstack, tests/aws/templates/cfn_lambda_serverless.yml, which ran on AWS.
def test_a_comma_too_many_is_no_mistake_and_one_too_few_is() -> None:
    assert parse('{"Resources": {"A": {"Type": "T", "List": ["a,]",], },}}') == {
        "Resources": {"A": {"Type": "T", "List": ["a,]"]}}
    }
    with pytest.raises(ValidationError, match=r"JSON not well-formed\. \(line 1, column 25\)"):
        parse('{"this is invalid JSON"="bobbins"}')  # api/test_templates.snapshot.json there
