"""The transform AWS::LanguageExtensions."""

from typing import Any

import pytest

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.templates.transforms import TransformError, expanded, transforms

EXTENDED = "AWS::LanguageExtensions"


def looped(collection: Any, body: dict[str, Any], **sections: Any) -> dict[str, Any]:
    return {"Transform": EXTENDED, "Resources": {"Fn::ForEach::All": ["Name", collection, body]}, **sections}


def test_a_loop_repeats_its_body_with_each_name() -> None:
    body = {"Topic${Name}": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": {"Ref": "Name"}}}}

    assert expanded(looped(["A", "B"], body), {}) == {
        "Resources": {
            "TopicA": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "A"}},
            "TopicB": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "B"}},
        }
    }


def test_names_of_a_loop_are_alphanumeric_after_an_ampersand() -> None:
    made = expanded(looped(["10.0.0.1"], {"Topic&{Name}": {"Type": "${Name}"}}), {})

    assert made["Resources"] == {"Topic10001": {"Type": "10.0.0.1"}}


def test_loops_nest() -> None:
    inner = {"Fn::ForEach::Inner": ["Size", [1, 2], {"T${Name}${Size}": {"Type": "X"}}]}

    assert list(expanded(looped(["A", "B"], inner), {})["Resources"]) == ["TA1", "TA2", "TB1", "TB2"]


@pytest.mark.parametrize(
    ("collection", "names"),
    [
        ({"Ref": "Names"}, ["TopicX", "TopicY"]),
        ({"Fn::FindInMap": ["Sets", "us", "names"]}, ["TopicM"]),
    ],
)
def test_a_loop_goes_over_parameters_and_mappings(collection: Any, names: list[str]) -> None:
    template = looped(
        collection,
        {"Topic${Name}": {"Type": "X", "DeletionPolicy": {"Ref": "Policy"}}},
        Parameters={"Names": {"Type": "CommaDelimitedList"}, "Policy": {"Type": "String"}},
        Mappings={"Sets": {"us": {"names": ["M"]}}},
    )
    made = expanded(template, {"Names": "X, Y", "Policy": "Retain"})["Resources"]

    assert list(made) == names
    assert {one["DeletionPolicy"] for one in made.values()} == {"Retain"}


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (looped({"Ref": "Topic"}, {}), "Fn::ForEach::All could not resolve its collection"),
        (looped(["A", "B"], "T"), "Fn::ForEach::All layout is incorrect"),  # type: ignore[arg-type]
        (looped(["A"], {"T": {"Type": "X"}}) | {"Transform": "Mine"}, "No transform named 123456789012::Mine found"),
        (looped(["A"], {}) | {"Transform": "AWS::Include"}, "does not run the transform AWS::Include"),
        (
            {"Transform": EXTENDED, "Resources": {"T": {"V": {"Fn::ToJsonString": [{"Condition": "C"}]}}}},
            "Fn::ToJsonString does not support Condition intrinsic function for resource T",
        ),
    ],
)  # fmt: skip
def test_a_transform_fails_with_its_reason(template: dict[str, Any], words: str) -> None:
    with pytest.raises(TransformError, match=words):
        expanded(template, {})


@pytest.mark.parametrize(
    "part",
    [
        {"Fn::Sub": "${AWS::Region}"},
        {"Effect": "Deny", "Condition": {"Bool": {"aws:SecureTransport": "false"}}},
    ],
)
def test_text_is_made_of_functions_and_of_statements_with_conditions(part: dict[str, Any]) -> None:
    template = {"Transform": EXTENDED, "Resources": {"T": {"Type": "X", "V": {"Fn::ToJsonString": [part]}}}}

    assert expanded(template, {})["Resources"].keys() == {"T"}


def test_a_loop_makes_no_name_twice() -> None:
    template = looped(["A"], {"Topic": {"Type": "X"}})
    template["Resources"]["Topic"] = {"Type": "Y"}

    with pytest.raises(TransformError, match="Duplicate keys found"):
        expanded(template, {})


def test_transforms_have_names() -> None:
    assert transforms({"Resources": {"A": {"Fn::Transform": {"Name": "Mine"}}}}) == ["Mine"]
    assert transforms({"Transform": [EXTENDED, {"Name": "Mine"}]}) == [EXTENDED, "Mine"]
    with pytest.raises(ValidationError, match="must be a string"):
        transforms({"Resources": {"A": {"Fn::Transform": {"Name": {"Ref": "P"}}}}})
