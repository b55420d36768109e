"""References to resources that a condition leaves out."""

from typing import Any

import pytest
from tests.cloudformation.small_templates import group, parameter

pytestmark = pytest.mark.slow

NAME = {"Ref": "Sometimes"}


def template(value: Any = "x", output: Any = "x", **rest: Any) -> dict[str, Any]:
    return {
        "Parameters": {"Wanted": {"Type": "String", "Default": "no"}},
        "Conditions": {"Yes": {"Fn::Equals": [{"Ref": "Wanted"}, "yes"]}},
        "Resources": {"Sometimes": group(5, Condition="Yes"), "User": parameter(value, **rest)},
        "Outputs": {"Name": {"Value": output}},
    }


@pytest.mark.parametrize(
    "value",
    [NAME, {"Fn::Sub": "x-${Sometimes}"}, {"Fn::Join": ["", ["x", NAME]]}, {"Fn::If": ["Yes", "x", NAME]}],
)
def test_a_resource_that_is_made_refers_to_none_that_is_not(stacks: Any, value: Any) -> None:
    where = "Unresolved resource dependencies [Sometimes] in the Resources block of the template"

    with pytest.raises(stacks.api.exceptions.ClientError) as caught:
        stacks.create("one", template(value))

    assert caught.value.response["Error"]["Message"] == f"Template format error: {where}"
    assert stacks.api.describe_stacks()["Stacks"] == []


def test_an_output_refers_to_no_resource_that_is_not_made(stacks: Any) -> None:
    with pytest.raises(stacks.api.exceptions.ClientError, match="in the Outputs block of the template"):
        stacks.create("one", template(output=NAME))


def test_a_branch_that_is_not_taken_may_refer_to_it(stacks: Any) -> None:
    value = {"Fn::If": ["Yes", NAME, "none"]}

    assert stacks.create("one", template(value, value)) == "CREATE_COMPLETE"
    assert stacks.outputs("one") == {"Name": "none"}


def test_with_the_resource_everything_may_refer_to_it(stacks: Any) -> None:
    wanted = [{"ParameterKey": "Wanted", "ParameterValue": "yes"}]

    assert stacks.create("one", template(NAME, NAME), Parameters=wanted) == "CREATE_COMPLETE"
    assert stacks.outputs("one")["Name"] == stacks.ids("one")["Sometimes"]


def test_a_resource_of_the_same_condition_may_refer_to_it(stacks: Any) -> None:
    assert stacks.create("one", template(NAME, Condition="Yes") | {"Outputs": {}, "Resources": {"Always": group(1), **template(NAME, Condition="Yes")["Resources"]}}) == "CREATE_COMPLETE"  # fmt: skip


# localstack/localstack, tests/aws/templates/mappings/mapping-aws-ref-map-key.yaml, which ran on AWS.
def test_a_condition_may_look_for_the_name_of_the_stack(stacks: Any) -> None:
    own = template()
    named = {"Fn::FindInMap": [{"Ref": "AWS::StackName"}, {"Ref": "AWS::Region"}, {"Ref": "AWS::StackName"}]}
    own["Mappings"] = {"one": {"us-east-1": {"one": "yes"}}}
    own["Conditions"] = {"Yes": {"Fn::Equals": [named, "yes"]}}
    own["Outputs"] = {"Name": {"Value": NAME}}

    assert stacks.create("one", own) == "CREATE_COMPLETE"
    with pytest.raises(stacks.api.exceptions.ClientError, match="Unable to get mapping for two::us-east-1::"):
        stacks.create("two", own)


# localstack/localstack, tests/aws/services/cloudformation/test_change_set_fn_select.snapshot.json, test_invalid_select_index_type
def test_select_needs_a_list(stacks: Any) -> None:
    own = template()
    own["Conditions"] = {"Yes": {"Fn::Equals": [{"Fn::Select": ["0", {"Ref": "Wanted"}]}, "yes"]}}
    with pytest.raises(stacks.api.exceptions.ClientError, match="an integer index and a list"):
        stacks.create("one", own)
