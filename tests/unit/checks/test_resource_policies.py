"""Rules for the policies of topics and keys."""

from typing import Any

import pytest
from tests.unit.checks.edits import codes_after, statement

from ultracluster_checks import Source

ALARM = {"Type": "AWS::CloudWatch::Alarm", "Properties": {"OKActions": [{"Ref": "Topic"}]}}
RULE = {
    "Type": "AWS::Events::Rule",
    "Properties": {"Targets": [{"Id": "topic", "Arn": {"Fn::GetAtt": ["Topic", "TopicArn"]}}]},
}
BUDGET = {
    "Type": "AWS::Budgets::Budget",
    "Properties": {
        "NotificationsWithSubscribers": [
            {"Subscribers": [{"SubscriptionType": "SNS", "Address": {"Ref": "Topic"}}]}
        ]
    },
}
ACCOUNT = statement(Action="kms:*", Principal={"AWS": "arn:aws:iam::123456789012:root"})


def topic(sender: dict[str, Any], *statements: dict[str, Any], key: Any = None) -> dict[str, Any]:
    """Return a topic that a resource notifies, with a policy of these statements, if any."""
    resources = {
        "/Resources/Topic": {
            "Type": "AWS::SNS::Topic",
            "Properties": {} if key is None else {"KmsMasterKeyId": key},
        },
        "/Resources/Sender": sender,
    }
    if statements:
        resources["/Resources/TopicPolicy"] = {
            "Type": "AWS::SNS::TopicPolicy",
            "Properties": {"Topics": [{"Ref": "Topic"}], "PolicyDocument": {"Statement": list(statements)}},
        }
    return resources


def key(*statements: dict[str, Any]) -> dict[str, Any]:
    """Return a key whose policy has these statements beside that of the account, and an alias of it."""
    return {
        "/Resources/Key": {
            "Type": "AWS::KMS::Key",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {"EnableKeyRotation": True, "KeyPolicy": {"Statement": [ACCOUNT, *statements]}},
        },
        "/Resources/Alias": {"Type": "AWS::KMS::Alias", "Properties": {"TargetKeyId": {"Ref": "Key"}}},
    }


def publish(*services: Any, **members: Any) -> dict[str, Any]:
    """Return a statement that lets services publish."""
    return statement(Action="SNS:Publish", Principal={"Service": list(services)}, **members)


def encrypt(service: Any, *actions: str) -> dict[str, Any]:
    """Return a statement that lets a service use a key."""
    return statement(
        Action=[*actions] or ["kms:Decrypt", "kms:GenerateDataKey*"], Principal={"Service": service}
    )


def logs(at: Any) -> dict[str, Any]:
    """Return a log group with a key."""
    return {
        "/Resources/Logs": {
            "Type": "AWS::Logs::LogGroup",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {"KmsKeyId": at, "RetentionInDays": 30},
        }
    }


CLOUDWATCH, EVENTS, BUDGETS = "cloudwatch.amazonaws.com", "events.amazonaws.com", "budgets.amazonaws.com"
ALIAS = {"Ref": "Alias"}
LOGS = {"Fn::Sub": "logs.${AWS::Region}.${AWS::URLSuffix}"}

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6426", "block-nodes", topic(ALARM, publish(EVENTS))),
    ("UC6426", "block-nodes", topic(ALARM, publish(CLOUDWATCH) | {"Effect": "Deny"})),
    ("UC6426", "block-nodes", topic(ALARM, publish(CLOUDWATCH) | {"Action": "SNS:Subscribe"})),
    ("UC6426", "block-nodes", topic(BUDGET)),
    ("UC6426", "block-nodes", topic(RULE)),
    ("UC6426", "block-nodes", topic(RULE, publish(CLOUDWATCH, BUDGETS))),
    ("UC6427", "block-nodes", topic(ALARM, key="alias/aws/sns")),
    ("UC6427", "block-nodes", topic(ALARM, key=ALIAS) | key(encrypt(EVENTS))),
    ("UC6427", "block-nodes", topic(ALARM, key=ALIAS) | key(encrypt(CLOUDWATCH, "kms:Decrypt"))),
    ("UC6428", "block-nodes", logs({"Fn::GetAtt": ["Key", "Arn"]}) | key()),
    ("UC6428", "block-nodes", logs({"Fn::GetAtt": ["Key", "Arn"]}) | key(encrypt(CLOUDWATCH))),
)

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("block-nodes", topic(ALARM)),
    ("block-nodes", topic(ALARM, publish(EVENTS, CLOUDWATCH))),
    # What SNS writes itself, and what people keep of it: an alarm publishes as its account.
    ("block-nodes", topic(ALARM, publish() | {"Principal": {"AWS": "123456789012"}})),
    ("block-nodes", topic(RULE, publish({"Ref": "AWS::StackName"}))),
    ("block-nodes", topic(BUDGET, publish(BUDGETS))),
    ("block-nodes", topic(ALARM, key=ALIAS) | key(encrypt(CLOUDWATCH))),
    ("block-nodes", topic(ALARM, key="alias/alarms")),
    ("block-nodes", logs({"Fn::GetAtt": ["Key", "Arn"]}) | key(encrypt(LOGS))),
    ("block-nodes", logs("arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef")),
)


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == [code]


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []
