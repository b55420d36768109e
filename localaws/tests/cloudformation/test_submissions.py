"""What a caller has to acknowledge, and which settings of a deployment are refused."""

import json
from typing import Any

import pytest
from tests.refusals import refusal

TOPIC = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}
POLICY = {
    "Version": "2012-10-17",
    "Statement": {"Effect": "Allow", "Action": "s3:ListAllMyBuckets", "Resource": "*"},
}
PLAIN = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": POLICY}}
NAMED = {
    "Type": "AWS::IAM::ManagedPolicy",
    "Properties": {"PolicyDocument": POLICY, "ManagedPolicyName": "lists"},
}


@pytest.mark.parametrize(
    ("resource", "acknowledged", "needed"),
    [
        (PLAIN, [], "CAPABILITY_IAM"),
        (PLAIN, ["CAPABILITY_IAM"], ""),
        (PLAIN, ["CAPABILITY_NAMED_IAM"], ""),
        (NAMED, ["CAPABILITY_IAM"], "CAPABILITY_NAMED_IAM"),
        (NAMED, ["CAPABILITY_NAMED_IAM"], ""),
        (NAMED, ["CAPABILITY_AUTO_EXPAND"], "CAPABILITY_NAMED_IAM"),
    ],
)
def test_resources_of_iam_are_acknowledged(
    stacks: Any, resource: dict[str, Any], acknowledged: list[str], needed: str
) -> None:
    asked = {"TemplateBody": json.dumps({"Resources": {"Policy": resource}}), "Capabilities": acknowledged}
    change_set = {"ChangeSetName": "plan", "ChangeSetType": "CREATE"}
    if needed:
        answer = ("InsufficientCapabilitiesException", f"Requires capabilities : [{needed}]")
        assert refusal(stacks.api.create_stack, StackName="one", **asked) == answer
        assert refusal(stacks.api.create_change_set, StackName="one", **change_set, **asked) == answer
    else:
        stacks.api.create_change_set(StackName="two", **change_set, **asked)
        stacks.api.create_stack(StackName="one", **asked)


def test_a_change_set_shows_what_a_transform_makes_and_needs_no_acknowledgement(stacks: Any) -> None:
    text = json.dumps(TOPIC | {"Transform": "AWS::LanguageExtensions"})
    stacks.api.create_change_set(
        StackName="one", ChangeSetName="plan", ChangeSetType="CREATE", TemplateBody=text
    )

    assert refusal(stacks.api.create_stack, StackName="two", TemplateBody=text) == (
        "InsufficientCapabilitiesException",
        "Requires capabilities : [CAPABILITY_AUTO_EXPAND]",
    )


def test_a_change_set_fails_with_its_transform(stacks: Any) -> None:
    text = json.dumps(TOPIC | {"Transform": "Mine"})
    asked = {"StackName": "one", "ChangeSetName": "plan"}
    stacks.api.create_change_set(**asked, ChangeSetType="CREATE", TemplateBody=text)

    shown = stacks.api.describe_change_set(**asked)
    assert (shown["Status"], shown["StatusReason"]) == (
        "FAILED",
        "No transform named 123456789012::Mine found.",
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ResourceTypes": ["AWS::SQS::*"]}, "AWS::SNS::Topic is not allowed by parameter ResourceTypes [AWS::SQS::*]"),
        ({"ResourceTypes": ["AWS::SNS::*"]}, ""),
        ({"RoleARN": "arn:aws:iam::123456789012:role/absent"}, "is invalid or cannot be assumed"),
        ({"RoleARN": "arn:aws:iam::123456789012:role/cdk-hnb659fds-cfn-exec-role"}, ""),
        ({"RollbackConfiguration": {"RollbackTriggers": [{"Arn": "a", "Type": "Other"}]}}, "Type not supported"),
        (
            {"RollbackConfiguration": {"RollbackTriggers": [{"Arn": "arn:aws:cloudwatch:r:1:x", "Type": "AWS::CloudWatch::Alarm"}]}},
            "RelativeId of a Rollback Trigger's ARN is incorrect",
        ),
    ],
)  # fmt: skip
def test_settings_of_a_deployment_are_checked(stacks: Any, settings: dict[str, Any], words: str) -> None:
    asked = {"StackName": "one", "TemplateBody": json.dumps(TOPIC)} | settings
    if words:
        assert words in refusal(stacks.api.create_stack, **asked)[1]
    else:
        stacks.api.create_stack(**asked)


_ROLE: dict[str, Any] = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("resource", "capabilities"),
    [
        ({"Type": "AWS::SQS::Queue"}, []),
        (_ROLE, ["CAPABILITY_IAM"]),
        ({"Type": "AWS::IAM::Role", "Properties": {**_ROLE["Properties"], "RoleName": "x"}}, ["CAPABILITY_NAMED_IAM"]),
    ],
)  # fmt: skip
def test_validation_names_parameters_and_the_capability_that_a_template_needs(
    stacks: Any, resource: dict[str, Any], capabilities: list[str]
) -> None:
    secret = {"Type": "String", "Default": "a", "NoEcho": True, "Description": "A word."}
    template = {"Parameters": {"Word": secret, "Other": {"Type": "Number"}}, "Resources": {"One": resource}}
    shown = stacks.api.validate_template(TemplateBody=json.dumps(template))

    assert shown.get("Capabilities", []) == capabilities
    assert (resource["Type"] in shown.get("CapabilitiesReason", "")) == bool(capabilities)
    assert shown["Parameters"] == [
        {"ParameterKey": "Word", "DefaultValue": "a", "NoEcho": True, "Description": "A word."},
        {"ParameterKey": "Other", "NoEcho": False},
    ]


@pytest.mark.slow
def test_public_types_are_listed_by_prefix_and_none_is_private(stacks: Any) -> None:
    shown = stacks.api.list_types(Visibility="PUBLIC", Filters={"TypeNamePrefix": "AWS::Batch::"})

    assert "AWS::Batch::JobQueue" in {one["TypeName"] for one in shown["TypeSummaries"]}
    assert stacks.api.list_types()["TypeSummaries"] == []
