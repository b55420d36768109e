"""Log groups, metric filters, alarms, dashboards and budgets."""

import json
import uuid
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Setting, Tagging
from ultracluster_local.cloudformation.values import Properties, changed_keys

__all__ = ["PROVIDERS"]

_CLOUDWATCH_TAGS = Tagging(service="cloudwatch", attribute="Arn")


class _LogGroup(ApiProvider):
    """A log group."""

    def _target(self, context: Context, physical_id: str, properties: Properties) -> str:
        """Return the ARN in the form of TagResource, without the suffix for log streams."""
        return super()._target(context, physical_id, properties).removesuffix(":*")


def _log_group(context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG001 - a provider's signature
    return {"logGroupNamePrefix": physical_id}


class _MetricFilter(Provider):
    """A metric filter, identified by its name and log group."""

    def create(self, context: Context, properties: Properties) -> str:
        """Put the metric filter."""
        name = str(properties.get("FilterName") or context.generated_name(limit=512))
        transformations = [
            {
                **{f"{key[0].lower()}{key[1:]}": value for key, value in one.items() if key != "Dimensions"},
                **(
                    {"dimensions": {each["Key"]: each["Value"] for each in one["Dimensions"]}}
                    if "Dimensions" in one
                    else {}
                ),
            }
            for one in properties["MetricTransformations"]
        ]
        request = {
            "filterName": name,
            "logGroupName": properties["LogGroupName"],
            "filterPattern": properties["FilterPattern"],
            "metricTransformations": transformations,
        }
        context.call("logs", "PutMetricFilter", request)
        return name

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:
        """Read the metric filter from its log group."""
        asked = {"logGroupName": properties["LogGroupName"], "filterNamePrefix": physical_id}
        for one in context.call("logs", "DescribeMetricFilters", asked)["metricFilters"]:
            if one["filterName"] == physical_id:
                transformations = [
                    {
                        f"{key[0].upper()}{key[1:]}": value
                        for key, value in each.items()
                        if key != "dimensions"
                    }
                    | (
                        {"Dimensions": [{"Key": k, "Value": v} for k, v in each["dimensions"].items()]}
                        if each.get("dimensions")
                        else {}
                    )
                    for each in one["metricTransformations"]
                ]
                return {
                    "LogGroupName": one["logGroupName"],
                    "FilterPattern": one["filterPattern"],
                    "MetricTransformations": transformations,
                }
        return None

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Delete and put the metric filter, since moto does not overwrite it."""
        self.delete(context, physical_id, old)
        return self.create(context, {**new, "FilterName": physical_id})

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        """Delete the metric filter, unless it is already deleted."""
        if self.read(context, physical_id, properties) is not None:
            where = {"logGroupName": properties["LogGroupName"], "filterName": physical_id}
            context.call("logs", "DeleteMetricFilter", where)


class _Dashboard(ApiProvider):
    """A dashboard."""

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:
        """Read the body of the dashboard as a document, so that white space does not count."""
        shown = super().read(context, physical_id, properties)
        return shown and {**shown, "DashboardBody": json.dumps(json.loads(shown["DashboardBody"]))}


class _Budget(Provider):
    """A budget with its notifications."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create the budget."""
        budget = json.loads(json.dumps(properties["Budget"]))
        budget.setdefault("BudgetName", f"{context.logical_id}-{uuid.uuid4().hex[:12]}")
        context.call("budgets", "CreateBudget", self._request(context, budget, properties))
        return str(budget["BudgetName"])

    def _request(self, context: Context, budget: dict[str, Any], properties: Properties) -> dict[str, Any]:
        if "BudgetLimit" in budget:
            limit = budget["BudgetLimit"]
            budget["BudgetLimit"] = {"Amount": str(limit["Amount"]), "Unit": limit["Unit"]}
        notifications = json.loads(json.dumps(properties.get("NotificationsWithSubscribers") or []))
        for one in notifications:
            one["Notification"]["Threshold"] = float(one["Notification"]["Threshold"])
        return {"AccountId": context.account, "Budget": budget, "NotificationsWithSubscribers": notifications}

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:  # noqa: ARG002 - the id is all
        """Read the budget by its name."""
        answer = context.call("budgets", "DescribeBudgets", {"AccountId": context.account})
        for budget in answer.get("Budgets") or []:
            if budget["BudgetName"] == physical_id:
                return {"Budget": budget}
        return None

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Replace the budget under its name."""
        if changed_keys(old, new) != ["Budget"]:
            return super().update(context, physical_id, old, new)
        self.delete(context, physical_id, old)
        return self.create(context, {**new, "Budget": {**new["Budget"], "BudgetName": physical_id}})

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        """Delete the budget."""
        if self.read(context, physical_id, properties) is not None:
            context.call("budgets", "DeleteBudget", {"AccountId": context.account, "BudgetName": physical_id})


PROVIDERS: Mapping[str, Provider] = {
    "AWS::Logs::LogGroup": _LogGroup(
        service="logs",
        creates="CreateLogGroup",
        id_path="=logGroupName",
        deletes=("DeleteLogGroup", "logGroupName"),
        reads=("DescribeLogGroups", _log_group, "logGroups[0]"),
        generates=("LogGroupName", 512),
        settings={
            "RetentionInDays": Setting(put="PutRetentionPolicy", remove="DeleteRetentionPolicy"),
            "KmsKeyId": Setting(put="AssociateKmsKey", remove="DisassociateKmsKey", at_creation=True),
        },
        owner="logGroupName",
        tagging=Tagging(service="logs", attribute="Arn"),
    ),
    "AWS::Logs::MetricFilter": _MetricFilter(),
    "AWS::CloudWatch::Alarm": ApiProvider(
        service="cloudwatch",
        creates="PutMetricAlarm",
        updates=("PutMetricAlarm", "AlarmName"),
        id_path="=AlarmName",
        deletes=("DeleteAlarms", "AlarmNames[]"),
        reads=("DescribeAlarms", "AlarmNames[]", "MetricAlarms[0]"),
        generates=("AlarmName", 255),
        tagging=_CLOUDWATCH_TAGS,
    ),
    "AWS::CloudWatch::CompositeAlarm": ApiProvider(
        service="cloudwatch",
        creates="PutCompositeAlarm",
        updates=("PutCompositeAlarm", "AlarmName"),
        id_path="=AlarmName",
        deletes=("DeleteAlarms", "AlarmNames[]"),
        reads=(
            "DescribeAlarms",
            lambda _, name, __: {"AlarmNames": [name], "AlarmTypes": ["CompositeAlarm"]},
            "CompositeAlarms[0]",
        ),
        attribute_paths={"Arn": "AlarmArn"},
        generates=("AlarmName", 255),
        tagging=_CLOUDWATCH_TAGS,
    ),
    "AWS::CloudWatch::Dashboard": _Dashboard(
        service="cloudwatch",
        creates="PutDashboard",
        updates=("PutDashboard", "DashboardName"),
        id_path="=DashboardName",
        deletes=("DeleteDashboards", "DashboardNames[]"),
        reads=("GetDashboard", "DashboardName", "@"),
        generates=("DashboardName", 255),
    ),
    "AWS::Budgets::Budget": _Budget(),
}
