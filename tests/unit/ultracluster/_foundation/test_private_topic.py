import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from tests.unit.ultracluster.builders import new_stack, of_type, only

from ultracluster._foundation.private_topic import PrivateTopic, l2_topic, let_publish

pytestmark = pytest.mark.synth

SOURCE = {"ArnEquals": {"aws:SourceArn": "arn:aws:cloudwatch:us-east-2:123456789012:alarm:one"}}


def template(stack: cdk.Stack) -> dict[str, Any]:
    return dict(cdk.assertions.Template.from_stack(stack).to_json())


@pytest.mark.parametrize("with_key", [False, True])
@pytest.mark.parametrize("asked_first", [False, True])
def test_the_template_is_the_same_when_somebody_asks_for_the_l2_topic(
    with_key: bool, asked_first: bool
) -> None:
    plain, asked = new_stack(), new_stack()
    for stack in (plain, asked):
        topic = PrivateTopic(stack, "Notices", kms_key=kms.Key(stack, "Key") if with_key else None)
        cdk.CfnOutput(stack, "Arn", value=topic.topic_arn)
        if stack is asked and asked_first:
            assert topic.topic
        let_publish(topic, sid="Alarm", service="cloudwatch.amazonaws.com", source=SOURCE)
        let_publish(topic, sid="Budgets", service="budgets.amazonaws.com")
        if stack is asked:
            assert topic.topic is topic.topic is l2_topic(topic)

    assert template(asked) == template(plain)


def test_the_l2_topic_takes_statements_into_the_one_policy_that_a_topic_has() -> None:
    stack = new_stack()
    topic = PrivateTopic(stack, "Notices")
    let_publish(topic, sid="Alarm", service="cloudwatch.amazonaws.com")
    mine = iam.PolicyStatement(
        sid="Mine",
        actions=["sns:Subscribe"],
        resources=[topic.topic_arn],
        principals=[iam.AccountPrincipal("210987654321")],
    )
    assert topic.topic.add_to_resource_policy(mine).statement_added

    statements = only(stack, "AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
    assert [each["Sid"] for each in statements] == ["AllowPublishThroughSSLOnly", "Alarm", "Mine"]


def test_a_topic_of_ones_own_lets_the_service_publish_and_one_from_elsewhere_is_left_alone() -> None:
    stack = new_stack()
    own = sns.Topic(stack, "Own")
    elsewhere = sns.Topic.from_topic_arn(stack, "Elsewhere", "arn:aws:sns:us-east-2:123456789012:elsewhere")
    for topic in (own, elsewhere):
        let_publish(topic, sid="Alarm", service="cloudwatch.amazonaws.com", source=SOURCE)
        assert l2_topic(topic) is topic

    (policy,) = of_type(stack, "AWS::SNS::TopicPolicy")
    assert policy["Properties"]["Topics"] == [stack.resolve(own.topic_arn)]
    assert json.dumps(SOURCE)[1:-1] in json.dumps(policy)
