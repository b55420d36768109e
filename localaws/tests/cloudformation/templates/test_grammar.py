"""The form of templates: what CloudFormation refuses before it looks at any resource type."""

from typing import Any

import pytest

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.templates.grammar import check_form

THING = {"Type": "T"}


def refusal(template: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        check_form({"Resources": {"A": THING}} | template)
    return str(caught.value)


def test_a_template_of_the_right_form_is_taken() -> None:
    properties = {
        "A": {"Fn::Select": [{"Ref": "Index"}, {"Fn::Split": [",", "a,b"]}]},
        "B": {"Fn::If": ["Yes", {"Fn::GetAtt": "A.Arn"}, {"Fn::GetAtt": ["A", "Arn"]}]},
        "C": {"Fn::Join": ["", {"Ref": "List"}]},
    }
    check_form(
        {
            "Mappings": {"Map": {"one": {"a": "x", "b": ["y"]}}},
            "Conditions": {"Yes": {"Fn::Equals": ["a", "a"]}},
            "Resources": {
                "A": THING | {"DependsOn": [], "Condition": "Yes"},
                "B": THING | {"Properties": properties},
            },
            "Outputs": {"A": {"Value": "x"}},
        }
    )


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ({"Resources": {"a-b": THING}}, "Resource name a-b is non alphanumeric."),
        ({"Parameters": {"a_b": {"Type": "String"}}}, "Parameter name a_b is non alphanumeric."),
        ({"Resources": {"A": "T"}}, "Any Resources member must be an object."),
        ({"Resources": {"A": {"Properties": {}}}}, "[/Resources/A] Every Resources object must contain a Type member."),
        ({"Resources": {"A": THING | {"Property": {}}}}, "Invalid template resource property 'Property'"),
        ({"Outputs": {"A": {"Description": "x"}}}, "Every Outputs member must contain a Value object"),
        ({"Resources": {"A": THING | {"Properties": {"P": [1, None]}}}}, "[/Resources/A/Properties/P/1] 'null' values"),
        ({"Mappings": {"Map": {"one": "x"}}}, "Every Mappings member one must be a map"),
        ({"Mappings": {"Map": {"one": {"a": {"Ref": "B"}}}}}, "Every Mappings attribute must be a String or a List."),
    ],
)  # fmt: skip
def test_a_section_of_another_form_is_refused(template: dict[str, Any], words: str) -> None:
    assert words in refusal(template)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"Fn::Equals": ["a"]}, "every Fn::Equals object requires a list of 2 string parameters."),
        ({"Fn::Join": ["-"]}, "every Fn::Join object requires two parameters"),
        ({"Fn::Split": "a.b"}, "every Fn::Split object requires two parameters"),
        ({"Fn::Select": ["first", ["a"]]}, "Fn::Select requires a list argument with two elements"),
        ({"Fn::If": ["Yes", 1]}, "Fn::If requires a list argument with three elements"),
        ({"Fn::Not": "Yes"}, "every Fn::Not object requires a list of 1 boolean parameter."),
        ({"Fn::Sub": ["x"]}, "One or more Fn::Sub intrinsic functions don't specify expected arguments."),
        ({"Fn::FindInMap": ["Map", "one"]}, "every Fn::FindInMap object requires three parameters"),
        ({"Fn::If": ["No", 1, 2]}, "unresolved condition dependency No in Fn::If"),
        ({"Fn::GetAtt": "A"}, "every Fn::GetAtt object requires two non-empty parameters"),
        ({"Fn::GetAtt": ["A", ""]}, "every Fn::GetAtt object requires two non-empty parameters"),
    ],
)
def test_a_function_with_other_arguments_is_refused_wherever_it_stands(value: Any, words: str) -> None:
    for properties in ({"P": value}, {"P": [{"Q": {"Fn::Join": ["", [value]]}}]}):
        assert f"Template error: {words}" in refusal({"Resources": {"A": THING | {"Properties": properties}}})
