"""AWS Budgets: budgets validated as in AWS, and notifications for spend that a test records."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from moto.budgets.models import Budget, budgets_backends

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.running import running
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Handlers, Request, ServiceError
from ultracluster_local.services.iam.policy_grammar import document, lets_service

__all__ = ["BudgetNotice", "handlers", "record_spend"]

handlers = Handlers(service="budgets")

# CreateBudget: https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_CreateBudget.html
_MOST_NOTIFICATIONS = 10
_MOST_EMAILS = 10  # limit for each notification, in addition to one SNS topic
_DEFAULT_END = 3_706_473_600  # API_budgets_TimePeriod: 06/15/87 00:00 UTC
_KEPT = ("CalculatedSpend", "TimePeriod")
"""What a budget keeps if an update leaves it out."""


def _backend() -> Any:
    return budgets_backends[ACCOUNT]["aws"]


@handlers("CreateBudget")
def create_budget(request: Request) -> Mapping[str, Any]:
    """Create a budget."""
    budget = request.parameters["Budget"]
    notifications = request.parameters.get("NotificationsWithSubscribers") or []
    wrong = [*_wrong_with_budget(budget), *_wrong_with_notifications(notifications)]
    if wrong:
        raise ServiceError("InvalidParameterException", wrong[0])
    _backend().create_budget(account_id=ACCOUNT, budget=_timed(budget), notifications=notifications)
    _tags()[budget["BudgetName"]] = request.parameters.get("ResourceTags") or []
    return {}


def _tags() -> dict[str, list[dict[str, str]]]:
    return region_state("budgets:tags", region="", new=dict)


@handlers("ListTagsForResource")
def list_tags_for_resource(request: Request) -> Mapping[str, Any]:
    """List the tags that a budget was created with."""
    return {"ResourceTags": _tags().get(request.parameters["ResourceARN"].rpartition("/")[2], [])}


def _timed(budget: Mapping[str, Any]) -> dict[str, Any]:
    """Return a budget with its period in seconds, as moto keeps it; without an end it ends at the default one."""
    if not budget.get("TimePeriod"):
        return dict(budget)
    given = {edge: moment.timestamp() for edge, moment in budget["TimePeriod"].items()}
    return {**budget, "TimePeriod": {"End": _DEFAULT_END, **given}}


@handlers("UpdateBudget")
def update_budget(request: Request) -> Mapping[str, Any]:
    """Replace a budget, except for its name, its notifications and what was spent: API_budgets_UpdateBudget."""
    given = request.parameters["NewBudget"]
    name, budgets = given["BudgetName"], _backend().budgets[ACCOUNT]
    if name not in budgets:  # the words are those of moto for a deletion; no answer of AWS is known
        problem = f"Unable to update budget: {name} - the budget doesn't exist."
        raise ServiceError("NotFoundException", problem)
    if wrong := _wrong_with_budget(given):
        raise ServiceError("InvalidParameterException", wrong[0])
    kept = {key: budgets[name].budget[key] for key in _KEPT if key in budgets[name].budget}
    changed = Budget({**kept, **_timed(given)}, [])
    changed.notifications = budgets[name].notifications
    budgets[name] = changed
    return {}


def _wrong_with_budget(budget: Mapping[str, Any]) -> list[str]:
    wrong = []
    if "BudgetLimit" in budget and "PlannedBudgetLimits" in budget:  # API_budgets_Budget
        wrong.append("BudgetLimit cannot be used with PlannedBudgetLimits")
    period = budget.get("TimePeriod") or {}
    if "Start" in period and "End" in period and period["End"] <= period["Start"]:
        wrong.append("The start date of the time period must be before its end date")
    return wrong


def _wrong_with_notifications(notifications: list[Mapping[str, Any]]) -> list[str]:
    wrong = []
    if len(notifications) > _MOST_NOTIFICATIONS:
        wrong.append(f"A budget can have up to {_MOST_NOTIFICATIONS} notifications")
    twice = Counter(_key(each["Notification"]) for each in notifications)
    wrong += [f"Duplicate notification: {key}" for key, count in twice.items() if count > 1]
    for each in notifications:
        kinds = Counter(one["SubscriptionType"] for one in each["Subscribers"])
        if not kinds or kinds["SNS"] > 1 or kinds["EMAIL"] > _MOST_EMAILS:
            wrong.append(f"A notification needs one SNS topic, up to {_MOST_EMAILS} email addresses, or both")
    return wrong


def _key(notification: Mapping[str, Any]) -> tuple[str, str, float]:
    return (
        notification["NotificationType"],
        notification["ComparisonOperator"],
        float(notification["Threshold"]),
    )


@Checks(service="budgets")("CreateNotification")
def check_create_notification(request: Request) -> None:
    """Refuse a notification that the budget has: API_budgets_CreateNotification, DuplicateRecordException."""
    budget = _backend().budgets[ACCOUNT].get(request.parameters["BudgetName"])
    if budget and _key(request.parameters["Notification"]) in [
        _key(one.details) for one in budget.notifications
    ]:
        raise ServiceError("DuplicateRecordException", "The notification already exists")
    if wrong := _wrong_with_notifications([request.parameters]):
        raise ServiceError("InvalidParameterException", wrong[0])


def _notification(request: Request) -> Any:
    """Return the notification that a request names: API_budgets_DeleteNotification, NotFoundException."""
    budget = _backend().budgets[ACCOUNT].get(request.parameters["BudgetName"])
    asked = request.parameters.get("Notification") or request.parameters["OldNotification"]
    for each in budget.notifications if budget else ():
        if _key(each.details) == _key(asked):
            return each
    raise ServiceError("NotFoundException", "The notification does not exist")


@Checks(service="budgets")("DeleteNotification", "UpdateNotification")
def check_notification(request: Request) -> None:
    """Refuse a notification that the budget does not have; moto refuses an absent budget."""
    if request.parameters["BudgetName"] in _backend().budgets[ACCOUNT]:
        _notification(request)


@handlers("DescribeSubscribersForNotification")
def describe_subscribers_for_notification(request: Request) -> Mapping[str, Any]:
    """List the subscribers of a notification."""
    return {"Subscribers": _notification(request).subscribers}


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetNotice:
    """A notification that a budget sent or failed to send.

    Attributes:
        kind: ``ACTUAL`` or ``FORECASTED``.
        threshold: Threshold in percent of the limit.
        address: ARN of the topic, or email address.
        error: Reason for a failed delivery; empty on success and for email, which is not sent.
    """

    kind: str
    threshold: float
    address: str
    error: str


def record_spend(name: str, *, actual: float, forecast: float | None = None) -> list[BudgetNotice]:
    """Record this month's spend and send due notifications, each threshold once a month.

    Args:
        name: Name of the budget.
        actual: Actual spend in US dollars in the month of the clock.
        forecast: Forecasted spend in US dollars at its end. Default: `actual`.

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
    told = region_state("budgets:told", region="", new=set[Any])
    notices = []
    for notification in budget.notifications:
        kind, operator, threshold = key = _key(notification.details)
        if operator != "GREATER_THAN":
            raise ValueError(f"the local AWS supports GREATER_THAN only; got {operator}")
        this_month = (name, key, f"{CLOCK.now():%Y-%m}")
        absolute = notification.details.get("ThresholdType") == "ABSOLUTE_VALUE"
        share = threshold if absolute else threshold / 100 * limit
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
    policy = document(sns.get_topic_attributes(TopicArn=topic)["Attributes"]["Policy"])
    if not lets_service(policy, ["budgets.amazonaws.com"], "sns:Publish"):
        return "the policy of the topic does not let budgets.amazonaws.com publish"
    sns.publish(TopicArn=topic, Subject="AWS Budgets", Message=text)
    return ""
