"""AWS Budgets: budgets as strict as AWS is about them, and notifications for spend that a test makes up."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from moto.budgets.models import budgets_backends

from ultracluster_catalog.limits.budgets import MOST_BUDGET_EMAILS, MOST_BUDGET_NOTIFICATIONS
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.running import running
from ultracluster_local.instance.state import remembered
from ultracluster_local.services.handlers import Handlers, Request, ServiceError

__all__ = ["BudgetNotice", "handlers", "record_spend"]

handlers = Handlers(service="budgets")

_NAME = re.compile(r"[^:\\]{1,100}")
_TAG_FILTER = re.compile(r"(?:user|aws):.{1,128}\$.*")
_PARTITION = "aws"


def _backend() -> Any:
    return budgets_backends[ACCOUNT][_PARTITION]


@handlers("CreateBudget")
def create_budget(request: Request) -> Mapping[str, Any]:
    """Keep a budget, if AWS would."""
    budget = request.parameters["Budget"]
    notifications = request.parameters.get("NotificationsWithSubscribers") or []
    wrong = [*_wrong_with_budget(budget), *_wrong_with_notifications(notifications)]
    if wrong:
        raise ServiceError("InvalidParameterException", wrong[0])
    _backend().create_budget(account_id=ACCOUNT, budget=dict(budget), notifications=notifications)
    return {}


def _wrong_with_budget(budget: Mapping[str, Any]) -> list[str]:
    wrong = []
    if not _NAME.fullmatch(budget.get("BudgetName", "")):
        wrong.append("The name of a budget has 1 to 100 characters, without : and \\")
    try:
        if Decimal(budget.get("BudgetLimit", {}).get("Amount", "1")) <= 0:
            wrong.append("The limit of a budget is above 0")
    except InvalidOperation:
        wrong.append("The limit of a budget is a number")
    filters = (budget.get("CostFilters") or {}).get("TagKeyValue") or []
    wrong += [
        f"Not a tag filter: {each}; it is user:KEY$VALUE"
        for each in filters
        if not _TAG_FILTER.fullmatch(each)
    ]
    return wrong


def _wrong_with_notifications(notifications: list[Mapping[str, Any]]) -> list[str]:
    wrong = []
    if len(notifications) > MOST_BUDGET_NOTIFICATIONS:
        wrong.append(f"A budget has up to {MOST_BUDGET_NOTIFICATIONS} notifications")
    twice = Counter(_key(each["Notification"]) for each in notifications)
    wrong += [f"Notification given twice: {key}" for key, count in twice.items() if count > 1]
    for each in notifications:
        kinds = Counter(one["SubscriptionType"] for one in each["Subscribers"])
        if not kinds or kinds["SNS"] > 1 or kinds["EMAIL"] > MOST_BUDGET_EMAILS:
            wrong.append(
                f"A notification has one topic and up to {MOST_BUDGET_EMAILS} addresses, or one of them"
            )
    return wrong


def _key(notification: Mapping[str, Any]) -> tuple[str, str, float]:
    return (
        notification["NotificationType"],
        notification["ComparisonOperator"],
        float(notification["Threshold"]),
    )


@handlers("DescribeSubscribersForNotification")
def describe_subscribers_for_notification(request: Request) -> Mapping[str, Any]:
    """Show who is told at a threshold."""
    budget = _backend().budgets[ACCOUNT].get(request.parameters["BudgetName"])
    asked = _key(request.parameters["Notification"])
    for each in budget.notifications if budget else ():
        if _key(each.details) == asked:
            return {"Subscribers": each.subscribers}
    raise ServiceError("NotFoundException", "There is no such notification")


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetNotice:
    """One notification that a budget sent, or could not send.

    Attributes:
        kind: ``ACTUAL`` or ``FORECASTED``.
        threshold: In percent of the limit.
        address: ARN of the topic, or mail address.
        error: Why it did not arrive; empty if it did, or is a mail, which goes nowhere here.
    """

    kind: str
    threshold: float
    address: str
    error: str


def record_spend(name: str, *, actual: float, forecast: float | None = None) -> list[BudgetNotice]:
    """Let AWS Budgets see what was spent in this month, and send what is due; each threshold once in a month.

    Args:
        name: Name of the budget.
        actual: US dollars that were spent in the month of the clock.
        forecast: US dollars that will have been at its end. Default: as much as was spent.

    Raises:
        KeyError: If there is no such budget.
    """
    budget = _backend().budgets[ACCOUNT][name]
    limit = float(budget.budget["BudgetLimit"]["Amount"])
    spent = {"ACTUAL": actual, "FORECASTED": actual if forecast is None else forecast}
    budget.budget["CalculatedSpend"] = {
        "ActualSpend": {"Amount": str(actual), "Unit": "USD"},
        "ForecastedSpend": {"Amount": str(spent["FORECASTED"]), "Unit": "USD"},
    }
    told = remembered("budgets:told", region="", new=set[Any])
    notices = []
    for notification in budget.notifications:
        kind, operator, threshold = key = _key(notification.details)
        if operator != "GREATER_THAN":
            raise ValueError(f"the local AWS knows GREATER_THAN only, not {operator}")
        this_month = (name, key, f"{CLOCK.now():%Y-%m}")
        share = (
            threshold / 100 * limit
            if notification.details.get("ThresholdType") != "ABSOLUTE_VALUE"
            else threshold
        )
        if spent[kind] <= share or this_month in told:
            continue
        told.add(this_month)
        for subscriber in notification.subscribers:
            address = subscriber["Address"]
            text = f"AWS Budget Notification\nBudget Name: {name}\nBudget Type: Cost\nAlert Type: {kind}\nThreshold: > {threshold}%\n"
            error = _publish(address, text) if subscriber["SubscriptionType"] == "SNS" else ""
            notices.append(BudgetNotice(kind=kind, threshold=threshold, address=address, error=error))
    return notices


def _publish(topic: str, text: str) -> str:
    sns = running().clients.get("sns", topic.split(":")[3])
    policy = json.loads(sns.get_topic_attributes(TopicArn=topic)["Attributes"]["Policy"])
    if not any(_lets_budgets_publish(each) for each in policy["Statement"]):
        return "the policy of the topic does not let budgets.amazonaws.com publish"
    sns.publish(TopicArn=topic, Subject="AWS Budgets", Message=text)
    return ""


def _lets_budgets_publish(statement: Mapping[str, Any]) -> bool:
    principal = statement.get("Principal")
    services = principal.get("Service") if isinstance(principal, Mapping) else None
    actions = statement.get("Action")
    return (
        statement["Effect"] == "Allow"
        and "budgets.amazonaws.com" in (services if isinstance(services, list) else [services])
        and any(
            each.lower() == "sns:publish"
            for each in ([actions] if isinstance(actions, str) else actions or [])
        )
    )
