"""Whom a cluster notifies, of what, and the warning about a block with nobody to notify."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from tests.unit.ultracluster.builders import block, of_type, ultra_cluster

from ultracluster import Alarms, UltraCluster
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

ARN = "arn:aws:sns:us-east-2:123456789012:own"


def cluster(stack: cdk.Stack, **changes: Any) -> UltraCluster:
    return ultra_cluster(stack, **{"capacity": block()} | changes)


def warns(stack: cdk.Stack) -> bool:
    warnings = cdk.assertions.Annotations.from_stack(stack).find_warning(
        "*", cdk.assertions.Match.string_like_regexp("no one is notified")
    )
    return bool(warnings)


def actions(stack: cdk.Stack) -> set[str]:
    """Topics of the alarms, as text."""
    return {
        str(action)
        for alarm in of_type(stack, "AWS::CloudWatch::Alarm")
        for action in alarm["Properties"].get("AlarmActions", [])
    }


def test_addresses_hear_of_alarms_and_of_the_life_cycle_through_one_topic(stack: cdk.Stack) -> None:
    made = cluster(stack, notify=["a@example.com", "b@example.com"])
    subscriptions = [each["Properties"] for each in of_type(stack, "AWS::SNS::Subscription")]
    assert {each["Endpoint"] for each in subscriptions} == {"a@example.com", "b@example.com"}
    assert len(of_type(stack, "AWS::SNS::Topic")) == 1
    assert made.block_lifecycle
    assert made.alarms
    assert actions(stack) == {str(stack.resolve(made.block_lifecycle.topic.topic_arn))}
    (policy,) = of_type(stack, "AWS::SNS::TopicPolicy")
    sids = [each["Sid"] for each in policy["Properties"]["PolicyDocument"]["Statement"]]
    assert len(sids) == len(set(sids))
    assert "Alarms" in sids
    assert not warns(stack)


@pytest.mark.parametrize("given", [[ARN], "topic"])
def test_an_existing_topic_is_used_as_it_is(stack: cdk.Stack, given: object) -> None:
    topic = sns.Topic.from_topic_arn(stack, "Own", ARN)
    made = cluster(stack, notify=topic if given == "topic" else given)
    assert made.block_lifecycle
    assert made.block_lifecycle.topic.topic_arn == ARN
    assert actions(stack) == {ARN}
    assert of_type(stack, "AWS::SNS::Topic") == []
    assert not warns(stack)


@pytest.mark.parametrize(
    ("notify", "told", "subscribed"),
    [
        ("a@example.com", "Notify", ["a@example.com"]),
        (ARN, ARN, []),
        ([ARN, "a@example.com"], ARN, ["a@example.com"]),
        (["a@example.com", "topic", "b@example.com"], "Own", ["a@example.com", "b@example.com"]),
        ("token", "Own", []),
        (["token", "a@example.com"], "Own", ["a@example.com"]),
        ("parameter", "Parameter", []),
    ],
)
def test_whoever_is_to_be_notified_can_be_named_in_each_way(
    stack: cdk.Stack, notify: Any, told: str, subscribed: list[str]
) -> None:
    own = sns.Topic(stack, "Own")
    parameter = cdk.CfnParameter(stack, "Parameter").value_as_string
    objects = {"topic": own, "token": own.topic_arn, "parameter": parameter}
    single = objects.get(notify, notify) if isinstance(notify, str) else None
    made = cluster(stack, notify=single or [objects.get(each, each) for each in notify])
    assert made.block_lifecycle
    topic = stack.resolve(made.block_lifecycle.topic.topic_arn)
    assert told in str(topic)
    assert [
        (each["Properties"]["Endpoint"], each["Properties"]["TopicArn"])
        for each in of_type(stack, "AWS::SNS::Subscription")
    ] == [(address, topic) for address in subscribed]


@pytest.mark.parametrize("alarms", [None, Alarms(), Alarms(enabled=False)])
def test_a_block_with_nobody_to_notify_is_warned_of(stack: cdk.Stack, alarms: Alarms | None) -> None:
    cluster(stack, alarms=alarms)
    assert warns(stack)


def test_other_recipients_are_refused(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match="UC6449"):
        cluster(stack, notify=["nobody"])


def test_recipients_of_alarms_hear_of_the_life_cycle_too(stack: cdk.Stack) -> None:
    made = cluster(stack, alarms=Alarms(emails=("a@example.com",)))
    assert made.alarms
    assert made.block_lifecycle
    assert made.block_lifecycle.topic is made.alarms.topic
    assert not warns(stack)


def test_alarms_with_separate_recipients_notify_those(stack: cdk.Stack) -> None:
    made = cluster(stack, notify=["a@example.com"], alarms=Alarms(emails=("b@example.com",)))
    assert made.alarms
    assert made.block_lifecycle
    assert made.block_lifecycle.topic is not made.alarms.topic


def test_functions_may_use_the_key_of_an_encrypted_topic(stack: cdk.Stack) -> None:
    key = kms.Key(stack, "Key")
    cluster(stack, notify=["a@example.com"], kms_key=key)
    arn = stack.resolve(key.key_arn)
    (topic,) = of_type(stack, "AWS::SNS::Topic")
    assert topic["Properties"]["KmsMasterKeyId"] == arn
    (role,) = [
        each["Properties"]
        for each in of_type(stack, "AWS::IAM::Role")
        if "Capacity Block" in each["Properties"].get("Description", "")
    ]
    (policy,) = role["Policies"]
    (statement,) = [
        each for each in policy["PolicyDocument"]["Statement"] if each["Sid"] == "NotifyEncrypted"
    ]
    assert statement["Resource"] == arn
