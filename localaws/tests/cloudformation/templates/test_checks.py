"""Sections, limits and functions of templates that CloudFormation refuses."""

from typing import Any

import pytest

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.templates.checks import check_sections

THING = {"Type": "T"}


def refusal(template: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        check_sections({"Resources": {"A": THING}} | template)
    return str(caught.value)


def test_a_template_within_the_limits_is_taken() -> None:
    properties = {
        "A": {"Fn::GetAtt": "A.Arn"},
        "B": {"Fn::FindInMap": ["Map", "one", "a"]},
        "C": {"Fn::Sub": ["${X}", {"X": "y"}]},
    }
    check_sections(
        {
            "AWSTemplateFormatVersion": "2010-09-09",
            "Description": "x" * 1024,
            "Parameters": {"P": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "x"}},
            "Mappings": {"Map": {"one": {"a": "x"}}},
            "Conditions": {"Yes": {"Fn::Not": [{"Fn::Equals": ["a", "b"]}]}},
            "Resources": {
                "A": THING | {"DeletionPolicy": "RetainExceptOnCreate", "Condition": "Yes"},
                **{f"R{number}": THING | {"Properties": properties} for number in range(499)},
            },
            "Outputs": {"A": {"Value": "x", "Export": {"Name": "x"}, "Condition": "Yes"}},
        }
    )


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ({"AWSTemplateFormatVersion": "2011"}, "2011 is not a supported value for AWSTemplateFormatVersion."),
        ({"Description": ["x"]}, "every Description member must be a string."),
        ({"Description": "ä" * 513}, "'Description' length is greater than 1024."),
        ({"Outputs": ["x"]}, "Outputs must be an object."),
        ({"Resources": {f"R{number}": THING for number in range(501)}}, "Number of resources, 501, is greater than maximum allowed, 500"),
        ({"Parameters": {"P": {}}}, "[/Parameters/P] Every Parameters object must contain a Type member."),
        ({"Parameters": {"P": {"Type": "Text"}}}, "Unrecognized parameter type: Text"),
        ({"Parameters": {"P": {"Type": "String", "Default": ["x"]}}}, "Every Default member must be a string."),
        ({"Resources": {"A": THING | {"Properties": []}}}, "[/Resources/A/Properties] Properties must be an object."),
        ({"Resources": {"A": THING | {"DeletionPolicy": "Keep"}}}, "Unrecognized DeletionPolicy Keep for resource A"),
        ({"Resources": {"A": THING | {"DeletionPolicy": {"Ref": "Kept"}}}}, "Every DeletionPolicy member must be a string."),
        ({"Resources": {"A": THING | {"UpdateReplacePolicy": ["Retain"]}}}, "Every UpdateReplacePolicy member must be a string."),
        ({"Resources": {"A": THING | {"UpdateReplacePolicy": "RetainExceptOnCreate"}}}, "Unrecognized UpdateReplacePolicy"),
        ({"Resources": {"A": THING | {"Condition": "No"}}}, "Unresolved condition dependency No in the Resources block"),
        ({"Outputs": {"A": {"Value": ["x"]}}}, "must evaluate to a String."),
        ({"Outputs": {"A": {"Value": "x", "Export": {}}}}, "The Name field of every Export member must be specified."),
        ({"Outputs": {"A": {"Value": "x", "Condition": "No"}}}, "Unresolved condition dependency No in the Outputs block"),
    ],
)  # fmt: skip
def test_an_invalid_section_is_refused(template: dict[str, Any], words: str) -> None:
    message = refusal(template)

    assert "Template format error: " in message
    assert words in message


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            {"Fn::Reverse": "x"},
            "Encountered unsupported function: Fn::Reverse Supported functions are: [Condition, Fn::And",
        ),
        ({"Fn::FindInMap": ["Map", "one", "a"]}, "Mapping named 'Map' is not present"),
        ({"Fn::FindInMap": ["Sizes", "one", "a"]}, "Unable to get mapping for Sizes::one::a"),
        ({"Fn::GetAtt": ["T", "Nope"]}, "resource T does not support attribute type Nope in Fn::GetAtt"),
        ({"Fn::GetAtt": "B.Arn"}, "Fn::GetAtt references undefined resource B"),
    ],
)
def test_a_function_that_cannot_be_resolved_is_refused_in_every_block(value: Any, words: str) -> None:
    nested = {"Fn::Join": ["", [value]]}
    resources = {"A": THING, "T": {"Type": "AWS::SNS::Topic"}}
    mappings = {"Mappings": {"Sizes": {"one": {"b": "x"}}}}

    for template in (
        {"Resources": resources | {"A": THING | {"Properties": {"P": nested}}}},
        {"Resources": resources, "Outputs": {"A": {"Value": nested}}},
    ):
        assert f"Template error: {words}" in refusal(mappings | template).replace("instance of ", "").replace(
            "One or more ", ""
        )
