import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_sns as sns
from tests.unit.ultracluster.builders import new_stack, of_type, only, ultra_cluster

from ultracluster import ClusterBudget, UltraCluster
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def cluster(stack: cdk.Stack) -> UltraCluster:
    return ultra_cluster(stack, instance_type="trn1.32xlarge")


@pytest.fixture(scope="module")
def stack() -> cdk.Stack:
    stack = new_stack()
    ClusterBudget(
        stack,
        "Budget",
        monthly_usd=5000,
        tag_value="train",
        emails=["jane@example.com"],
        actual_percents=[50, 90],
        forecast_percents=[110],
        queues_to_close=[cluster(stack).queue],
        close_at_percent=90,
    )
    return stack


def all_of(stack: cdk.Stack, resource_type: str) -> list[dict[str, Any]]:
    return [each.get("Properties") or {} for each in of_type(stack, resource_type)]


def budget(stack: cdk.Stack) -> dict[str, Any]:
    return dict(only(stack, "AWS::Budgets::Budget"))


def test_notifies_people_at_each_threshold_and_the_function_at_one(stack: cdk.Stack) -> None:
    told = {
        (each["Notification"]["NotificationType"], each["Notification"]["Threshold"]): each["Subscribers"]
        for each in budget(stack)["NotificationsWithSubscribers"]
    }

    assert set(told) == {("ACTUAL", 50), ("ACTUAL", 90), ("FORECASTED", 110)}
    assert all(
        each[1] == {"SubscriptionType": "EMAIL", "Address": "jane@example.com"} for each in told.values()
    )
    topics = {key: each[0]["Address"]["Ref"] for key, each in told.items()}
    assert topics["ACTUAL", 50] == topics["FORECASTED", 110] != topics["ACTUAL", 90]
    (subscription,) = all_of(stack, "AWS::SNS::Subscription")
    assert subscription["TopicArn"]["Ref"] == topics["ACTUAL", 90]
    assert subscription["Protocol"] == "lambda"


def test_only_aws_budgets_of_this_account_publishes_to_the_closing_topic(stack: cdk.Stack) -> None:
    statements = {
        each["Sid"]: each
        for policy in all_of(stack, "AWS::SNS::TopicPolicy")
        for each in policy["PolicyDocument"]["Statement"]
        if each.get("Sid") == "Budgets"
    }

    assert len(of_type(stack, "AWS::SNS::TopicPolicy")) == 2
    (statement,) = statements.values()
    assert statement["Principal"] == {"Service": "budgets.amazonaws.com"}
    assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
    assert ":budgets::" in json.dumps(statement["Condition"]["ArnLike"]["aws:SourceArn"])


def test_without_queues_no_function_is_defined() -> None:
    stack = new_stack()
    topic = sns.Topic.from_topic_arn(stack, "Mine", "arn:aws:sns:us-east-2:123456789012:costs")

    found = ClusterBudget(stack, "Budget", monthly_usd=1, tag_value="a", topic=topic)

    assert (found.function, found.topic) == (None, topic)
    assert found.budget_name
    assert not of_type(stack, "AWS::Lambda::Function")
    assert not of_type(stack, "AWS::SNS::Topic")
    notifications = budget(stack)["NotificationsWithSubscribers"]
    assert [each["Notification"]["Threshold"] for each in notifications] == [50, 80, 100, 100]


def test_rejects_what_aws_budgets_rejects_all_at_once() -> None:
    wrong: dict[str, Any] = {"monthly_usd": -1, "emails": ["a b@c.d"], "actual_percents": [-1]}
    with pytest.raises(FindingsError) as refused:
        ClusterBudget(new_stack(), "Budget", tag_value="a", **wrong)

    assert [each.code for each in refused.value.findings] == ["UC6360", "UC6361", "UC6362"]


def test_an_existing_topic_may_have_no_policy() -> None:
    stack = new_stack()
    topic = sns.Topic(stack, "Mine")

    ClusterBudget(stack, "Budget", monthly_usd=1, tag_value="a", topic=topic)

    (made,) = of_type(stack, "AWS::Budgets::Budget")
    assert "DependsOn" not in made
