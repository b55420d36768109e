"""Avoidable costs: budgets without subscribers, and log groups and volumes that are never deleted."""

from collections.abc import Iterator
from typing import Final

from ultracluster_checks.model.nodes import LAUNCH_TEMPLATE, launch_data
from ultracluster_checks.model.template import Resource
from ultracluster_checks.problem import Wrong, rule

_HIGHEST: Final = 200  # percent of a budget at which a notification is of no use


@rule("UC6459", "AWS::Budgets::Budget")
def budgets_notify_in_time(budget: Resource) -> Iterator[Wrong]:
    """Find budgets without a limit or subscriber, and notifications that come too late or never."""
    at, amount = budget["NotificationsWithSubscribers"], budget["Budget"]["BudgetLimit"]["Amount"]
    if amount.number == 0:
        yield amount, "got 0, which AWS Budgets refuses", "more than 0"
    if at.empty:
        yield at, "the budget has no notification", "a notification with a subscriber"
    for each in at.items:
        notification, subscribers = each["Notification"], each["Subscribers"]
        threshold, operator = notification["Threshold"], notification["ComparisonOperator"]
        percent = (
            notification["ThresholdType"].text in {None, "PERCENTAGE"}
            and not notification["ThresholdType"].unknown
        )
        if percent and (threshold.number or 0) > _HIGHEST:
            yield threshold, f"got {threshold.number} % of the budget, when it is long spent", "80 to 100"
        if operator.text == "LESS_THAN":
            yield operator, "the notification comes while little is spent", "GREATER_THAN"
        if subscribers.empty:
            yield subscribers, "the notification has no subscriber", "a mail address or a topic"


@rule("UC5216", "AWS::Logs::LogGroup")
def logs_expire(group: Resource) -> Iterator[Wrong]:
    """Find log groups that keep their events forever."""
    if group["RetentionInDays"].missing:
        yield group["RetentionInDays"], "logs are kept and billed for ever", "a number of days, such as 90"


@rule("UC4226", LAUNCH_TEMPLATE)
def volumes_go_with_their_node(template: Resource) -> Iterator[Wrong]:
    """Find volumes that stay when their node is gone."""
    for at in (
        each["Ebs"]["DeleteOnTermination"] for each in launch_data(template)["BlockDeviceMappings"].items
    ):
        if at.flag is False:
            yield at, "each node that ends leaves its volume, which is billed", "true"
