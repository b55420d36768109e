"""What a role may do: inline, attached and managed policies, and what is not known."""

from typing import Any

import pytest
from tests.unit.checks.edits import statement

from ultracluster_checks import Source
from ultracluster_checks.model.permissions import may, trusts
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
