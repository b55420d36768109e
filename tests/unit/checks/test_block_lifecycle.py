"""Permissions of functions that end the jobs of a Capacity Block."""

from typing import Any

import pytest

from ultracluster_checks.block_lifecycle import Trigger, lets_invoke
from ultracluster_checks.model.template import Source, Templates

EVENTS, RULES = "events.amazonaws.com", "arn:aws:events:us-east-2:123456789012:rule"
DRAIN = {"FunctionName": {"Ref": "Drain"}}


def invokes(permission: dict[str, Any], *, target: str = "Drain", name: str | None = "each") -> bool:
    """Return whether a permission lets a rule of this name invoke the function named drain, or its alias."""
    targets = [{"Id": "it", "Arn": {"Ref": target}}]
    body = {
        "Drain": {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": "drain"}},
        "Other": {"Type": "AWS::Lambda::Function", "Properties": {}},
        "Live": {"Type": "AWS::Lambda::Alias", "Properties": DRAIN | {"Name": "live"}},
        "Each": {
            "Type": "AWS::Events::Rule",
            "Properties": {"Targets": targets} | ({"Name": name} if name else {}),
        },
        "Permission": {
            "Type": "AWS::Lambda::Permission",
            "Properties": {"Action": "lambda:InvokeFunction", "Principal": EVENTS} | permission,
        },
    }
    found = Templates([Source(name="it", body={"Resources": body})]).all[0].resources
    (given,) = found["Each"]["Targets"].items
    return lets_invoke(found["Permission"], Trigger(found["Each"], given, found["Drain"]))


@pytest.mark.parametrize(
    "permission",
    [
        DRAIN,
        DRAIN | {"SourceArn": {"Fn::GetAtt": ["Each", "Arn"]}},
        DRAIN | {"SourceArn": f"{RULES}/each"},
        DRAIN | {"SourceArn": f"{RULES}/*"},
        DRAIN | {"Action": "lambda:*", "Principal": "*"},
        {"FunctionName": "drain"},
        {"FunctionName": "arn:aws:lambda:us-east-2:123456789012:function:drain"},
    ],
    ids=str,
)
def test_a_permission_lets_the_rule_that_it_names_invoke_its_function(permission: dict[str, Any]) -> None:
    assert invokes(permission)


@pytest.mark.parametrize(
    "permission",
    [
        {"FunctionName": {"Ref": "Other"}},
        {"FunctionName": "other"},
        DRAIN | {"SourceArn": {"Fn::GetAtt": ["Other", "Arn"]}},
        DRAIN | {"SourceArn": f"{RULES}/other"},
        DRAIN | {"Action": "lambda:GetFunction"},
        DRAIN | {"Principal": "s3.amazonaws.com"},
    ],
    ids=str,
)
def test_a_permission_for_something_else_does_not(permission: dict[str, Any]) -> None:
    assert not invokes(permission)


def test_no_fixed_arn_is_that_of_a_rule_that_cloudformation_names() -> None:
    assert not invokes(DRAIN | {"SourceArn": f"{RULES}/each"}, name=None)


# https://docs.aws.amazon.com/lambda/latest/api/API_AddPermission.html: the forms of FunctionName.
def test_a_permission_names_an_alias_by_reference_or_with_the_name_of_its_function() -> None:
    assert invokes({"FunctionName": {"Ref": "Live"}}, target="Live")
    assert invokes({"FunctionName": "drain:live"}, target="Live")
    assert not invokes({"FunctionName": "other:live"}, target="Live")
