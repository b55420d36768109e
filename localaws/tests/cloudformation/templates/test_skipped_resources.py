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
