"""Budgets that AWS refuses, and what they tell whom about spend."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import ACCOUNT, LocalAws
from ultracluster_local.services.budgets import BudgetNotice, record_spend

pytestmark = pytest.mark.slow

EMAIL = {"SubscriptionType": "EMAIL", "Address": "team@example.com"}


@pytest.fixture
def budgets(local_aws: LocalAws) -> Any:
    local_aws.clock.set(datetime(2026, 12, 1, tzinfo=UTC))
    return local_aws.client("budgets")


def budget(**more: Any) -> dict[str, Any]:
    limit = {"Amount": "1000", "Unit": "USD"}
    return {"BudgetName": "cluster", "BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": limit} | more


def notification(
    threshold: float = 80, *subscribers: dict[str, str], kind: str = "ACTUAL", **more: str
) -> dict[str, Any]:
    settings = {"NotificationType": kind, "ComparisonOperator": "GREATER_THAN", "Threshold": threshold}
    return {"Notification": settings | more, "Subscribers": list(subscribers) or [EMAIL]}


def create(budgets: Any, *notifications: dict[str, Any], **more: Any) -> None:
    budgets.create_budget(
        AccountId=ACCOUNT, Budget=budget(**more), NotificationsWithSubscribers=list(notifications)
    )


@pytest.mark.parametrize(
    ("more", "notifications", "words"),
    [
        ({"BudgetName": "a:b"}, [], "1 to 100 characters except : and"),
        ({"BudgetLimit": {"Amount": "0", "Unit": "USD"}}, [], "must be greater than 0"),
        ({"BudgetLimit": {"Amount": "much", "Unit": "USD"}}, [], ""),
        ({"CostFilters": {"TagKeyValue": ["team$research"]}}, [], "Invalid tag filter team$research"),
        ({}, [notification(number) for number in range(1, 12)], ""),
        ({}, [notification(), notification()], "Duplicate notification"),
        ({}, [notification(80, *[EMAIL] * 11)], ""),
        ({}, [notification(80, *[{"SubscriptionType": "SNS", "Address": f"arn:aws:sns:us-east-1:{ACCOUNT}:t{number}"} for number in (1, 2)])], "one SNS topic, up to 10 email addresses"),
    ],
)  # fmt: skip
def test_a_budget_that_aws_would_not_keep_is_refused(
    budgets: Any, more: dict[str, Any], notifications: list[dict[str, Any]], words: str
) -> None:
    given = {"Budget": budget(**more), "NotificationsWithSubscribers": notifications}

    code, message = refusal(budgets.create_budget, AccountId=ACCOUNT, **given)

    assert (code, words in message) == ("InvalidParameterException", True)
    assert budgets.describe_budgets(AccountId=ACCOUNT).get("Budgets", []) == []


def test_each_threshold_is_notified_once_a_month(budgets: Any, local_aws: LocalAws) -> None:
    create(budgets, notification(80), notification(100))

    assert record_spend("cluster", actual=800) == []
    assert [one.threshold for one in record_spend("cluster", actual=801)] == [80.0]
    assert [one.threshold for one in record_spend("cluster", actual=1001)] == [100.0]
    assert record_spend("cluster", actual=2000) == []
    local_aws.clock.advance(timedelta(days=31))
    assert [one.threshold for one in record_spend("cluster", actual=900)] == [80.0]


def test_a_forecast_is_distinguished_from_actual_spend(budgets: Any) -> None:
    create(budgets, notification(kind="FORECASTED"), notification(50, ThresholdType="ABSOLUTE_VALUE"))

    assert [(one.kind, one.threshold) for one in record_spend("cluster", actual=10, forecast=900)] == [
        ("FORECASTED", 80.0)
    ]
    assert [(one.kind, one.threshold) for one in record_spend("cluster", actual=51, forecast=0)] == [
        ("ACTUAL", 50.0)
    ]
    (shown,) = budgets.describe_budgets(AccountId=ACCOUNT)["Budgets"]
    assert shown["CalculatedSpend"]["ActualSpend"]["Amount"] == "51"


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ({}, ""),
        ({"Principal": {"Service": ["budgets.amazonaws.com"]}, "Action": ["SNS:Publish"]}, ""),
        ({"Principal": {"Service": "events.amazonaws.com"}}, "does not let budgets.amazonaws.com publish"),
        ({"Effect": "Deny"}, "does not let budgets.amazonaws.com publish"),
        ({"Action": "sns:Subscribe"}, "does not let budgets.amazonaws.com publish"),
    ],
)
def test_a_topic_hears_of_spend_if_its_policy_lets_budgets_publish(
    budgets: Any, local_aws: LocalAws, statement: dict[str, Any], error: str
) -> None:
    sns, sqs = local_aws.client("sns"), local_aws.client("sqs")
    topic = sns.create_topic(Name="spend")["TopicArn"]
    lets = {"Effect": "Allow", "Principal": {"Service": "budgets.amazonaws.com"}, "Action": "sns:Publish", "Resource": topic}  # fmt: skip
    policy = json.dumps({"Version": "2012-10-17", "Statement": [lets | statement]})
    sns.set_topic_attributes(TopicArn=topic, AttributeName="Policy", AttributeValue=policy)
    url = sqs.create_queue(QueueName="q")["QueueUrl"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=f"arn:aws:sqs:us-east-1:{ACCOUNT}:q")
    create(budgets, notification(80, {"SubscriptionType": "SNS", "Address": topic}, EMAIL))

    told, mailed = record_spend("cluster", actual=900)

    assert (told.address, error in told.error, bool(error)) == (topic, True, bool(told.error))
    assert mailed == BudgetNotice(kind="ACTUAL", threshold=80.0, address=EMAIL["Address"], error="")
    heard = sqs.receive_message(QueueUrl=url).get("Messages", [])
    assert ["Budget Name: cluster" in json.loads(one["Body"])["Message"] for one in heard] == (
        [] if error else [True]
    )


def test_subscribers_of_a_notification_are_listed(budgets: Any) -> None:
    create(budgets, notification(80))
    asked = {"AccountId": ACCOUNT, "BudgetName": "cluster", "Notification": notification(80)["Notification"]}

    assert budgets.describe_subscribers_for_notification(**asked)["Subscribers"] == [EMAIL]
    other = asked | {"Notification": notification(90)["Notification"]}
    assert refusal(budgets.describe_subscribers_for_notification, **other)[0] == "NotFoundException"


def test_a_notification_on_too_little_spend_is_not_simulated(budgets: Any) -> None:
    create(budgets, notification(80, ComparisonOperator="LESS_THAN"))

    with pytest.raises(ValueError, match="supports GREATER_THAN only; got LESS_THAN"):
        record_spend("cluster", actual=900)
    with pytest.raises(KeyError):
        record_spend("absent", actual=900)


def test_an_update_replaces_a_budget_and_keeps_its_notifications(budgets: Any) -> None:
    create(
        budgets,
        notification(),
        TimePeriod={"Start": datetime(2026, 11, 1, tzinfo=UTC)},
        CostTypes={"UseBlended": True},
    )
    record_spend("cluster", actual=100)
    daily = budget(TimeUnit="DAILY", BudgetLimit={"Amount": "9", "Unit": "USD"})

    budgets.update_budget(AccountId=ACCOUNT, NewBudget=daily)

    found = budgets.describe_budget(AccountId=ACCOUNT, BudgetName="cluster")["Budget"]
    assert (found["TimeUnit"], found["BudgetLimit"]["Amount"]) == ("DAILY", "9")
    assert found["CostTypes"]["UseBlended"] is False
    assert found["TimePeriod"] == {
        "Start": datetime(2026, 11, 1, tzinfo=UTC),
        "End": datetime(2087, 6, 15, tzinfo=UTC),
    }
    assert found["CalculatedSpend"]["ActualSpend"]["Amount"] == "100"
    kept = budgets.describe_notifications_for_budget(AccountId=ACCOUNT, BudgetName="cluster")
    assert [one["Threshold"] for one in kept["Notifications"]] == [80]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"BudgetName": "absent"}, "NotFoundException"),
        ({"BudgetLimit": {"Amount": "0", "Unit": "USD"}}, "InvalidParameterException"),
        ({"CostFilters": {"TagKeyValue": ["team$research"]}}, "InvalidParameterException"),
    ],
)
def test_an_update_that_aws_would_not_keep_changes_nothing(
    budgets: Any, more: dict[str, Any], code: str
) -> None:
    create(budgets)
    before = budgets.describe_budgets(AccountId=ACCOUNT)["Budgets"]

    assert refusal(budgets.update_budget, AccountId=ACCOUNT, NewBudget=budget(**more))[0] == code
    assert budgets.describe_budgets(AccountId=ACCOUNT)["Budgets"] == before


def test_a_budget_has_the_tags_that_it_was_created_with(budgets: Any) -> None:
    tags = [{"Key": "team", "Value": "research"}]
    budgets.create_budget(AccountId=ACCOUNT, Budget=budget(), ResourceTags=tags)
    arn = f"arn:aws:budgets::{ACCOUNT}:budget"
    assert budgets.list_tags_for_resource(ResourceARN=f"{arn}/cluster")["ResourceTags"] == tags
    create(budgets, BudgetName="other")
    assert budgets.list_tags_for_resource(ResourceARN=f"{arn}/other")["ResourceTags"] == []


def test_a_notification_says_what_it_leaves_out(budgets: Any) -> None:
    create(budgets, notification(80))
    asked = {"AccountId": ACCOUNT, "BudgetName": "cluster"}
    (shown,) = budgets.describe_notifications_for_budget(**asked)["Notifications"]
    assert (shown["ThresholdType"], shown["NotificationState"]) == ("PERCENTAGE", "OK")
