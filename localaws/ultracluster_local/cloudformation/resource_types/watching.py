"""Log groups, metric filters, alarms, dashboards and budgets."""

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


def _metric_filter(context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG001 - likewise
    return {"logGroupName": properties["LogGroupName"], "filterName": physical_id}


class _Budget(ApiProvider):
    """A budget with its notifications."""

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        if changed_keys(old, new) != ["Budget"]:
            return super().update(context, physical_id, old, new)
        self.delete(context, physical_id, old)
        return self.create(context, {**new, "Budget": {**new["Budget"], "BudgetName": physical_id}})


def _budget(context: Context, properties: dict[str, Any]) -> dict[str, Any]:
    budget = {"BudgetName": context.generated_name(limit=100), **properties["Budget"]}
    return {**properties, "AccountId": context.account, "Budget": budget}


def _budget_name(context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG001 - likewise
    return {"AccountId": context.account, "BudgetName": physical_id}


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
    "AWS::Logs::MetricFilter": ApiProvider(
        service="logs",
        creates="PutMetricFilter",
        updates=("PutMetricFilter", _metric_filter),
        id_path="=filterName",
        deletes=("DeleteMetricFilter", _metric_filter),
        generates=("FilterName", 512),
    ),
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
    "AWS::CloudWatch::Dashboard": ApiProvider(
        service="cloudwatch",
        creates="PutDashboard",
        updates=("PutDashboard", "DashboardName"),
        id_path="=DashboardName",
        deletes=("DeleteDashboards", "DashboardNames[]"),
        reads=("GetDashboard", "DashboardName", "@"),
        generates=("DashboardName", 255),
    ),
    "AWS::Budgets::Budget": _Budget(
        service="budgets",
        creates="CreateBudget",
        id_path="=Budget.BudgetName",
        deletes=("DeleteBudget", _budget_name),
        reads=("DescribeBudget", _budget_name, "@"),
        prepare=_budget,
    ),
}
