"""What a role may do: inline, attached and managed policies, and what is not known."""

from typing import Any

import pytest
from tests.unit.checks.edits import statement

from ultracluster_checks import Source
from ultracluster_checks.model.permissions import lets_invoke, may, trusts
from ultracluster_checks.model.template import Resource, Templates

MANAGED = "arn:aws:iam::aws:policy/service-role"
PUBLISH = statement(Action="sns:Publish", Resource={"Ref": "Topic"})


def role(properties: dict[str, Any], **resources: Any) -> Resource:
    body = {
        "Resources": {
            "Role": {"Type": "AWS::IAM::Role", "Properties": properties},
            "Topic": {"Type": "AWS::SNS::Topic"},
            "Other": {"Type": "AWS::SNS::Topic"},
            **resources,
        }
    }
    return Templates([Source(name="it", body=body)]).all[0].resources["Role"]


def inline(*statements: Any) -> dict[str, Any]:
    return {"Policies": [{"PolicyName": "it", "PolicyDocument": {"Statement": list(statements)}}]}


def topic(of: Resource, name: str) -> Resource:
    return of.template.resources[name]


def test_a_statement_allows_its_action_on_its_resource() -> None:
    found = role(inline(PUBLISH))

    assert may(found, "sns:Publish", topic(found, "Topic"))
    assert not may(found, "sns:Publish", topic(found, "Other"))
    assert not may(found, "sns:Subscribe")


def test_attached_policies_of_both_kinds_count() -> None:
    document = {"PolicyDocument": {"Statement": PUBLISH}}
    attached = {"Type": "AWS::IAM::Policy", "Properties": document | {"Roles": [{"Ref": "Role"}]}}
    managed = {"Type": "AWS::IAM::ManagedPolicy", "Properties": document}

    assert may(role({}, Policy=attached), "sns:Publish")
    assert may(role({"ManagedPolicyArns": [{"Ref": "Policy"}]}, Policy=managed), "sns:Publish")


def test_a_denial_of_everything_wins() -> None:
    denial = {"Effect": "Deny", "Action": "sns:*", "Resource": "*"}

    assert not may(role(inline(PUBLISH, denial)), "sns:Publish")
    assert may(role(inline(PUBLISH, denial | {"Condition": {"Bool": {"a": "true"}}})), "sns:Publish")


@pytest.mark.parametrize(
    "properties",
    [
        {"ManagedPolicyArns": ["arn:aws:iam::123456789012:policy/ours"]},
        {"ManagedPolicyArns": {"Ref": "Unknown"}},
        {"Policies": {"Fn::If": ["Given", [], [1]]}},
        inline({"Fn::If": ["Given", PUBLISH, {"Ref": "AWS::NoValue"}]}),
        inline(statement(NotAction="iam:*")),
        inline(statement(Action={"Ref": "Unknown"})),
    ],
    ids=str,
)
def test_what_is_not_known_may(properties: dict[str, Any]) -> None:
    assert may(role(properties), "sns:Publish")


def test_managed_policies_of_aws_allow_their_services_only() -> None:
    found = role({"ManagedPolicyArns": [f"{MANAGED}/AWSLambdaBasicExecutionRole"]})

    assert may(found, "logs:PutLogEvents")
    assert not may(found, "sns:Publish")


def test_a_role_trusts_the_services_that_it_names() -> None:
    trust = statement(Action="sts:AssumeRole", Principal={"Service": ["lambda.amazonaws.com"]})

    assert trusts(role({"AssumeRolePolicyDocument": {"Statement": trust}}), "lambda")
    assert not trusts(role({"AssumeRolePolicyDocument": {"Statement": trust}}), "ec2")
    assert trusts(role({"AssumeRolePolicyDocument": {"Ref": "Trust"}}), "ec2")


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
    return lets_invoke(found["Permission"], EVENTS, found["Each"], given["Arn"])


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
