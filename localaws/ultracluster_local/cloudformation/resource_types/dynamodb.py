"""DynamoDB tables."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Setting, Tagging
from ultracluster_local.cloudformation.values import Properties, changed_keys, to_api
from ultracluster_local.instance.clients import service_model

__all__ = ["PROVIDERS"]

_BY_UPDATE_TABLE = {
    "AttributeDefinitions",
    "BillingMode",
    "DeletionProtectionEnabled",
    "ProvisionedThroughput",
    "SSESpecification",
    "StreamSpecification",
    "TableClass",
}


def _api(properties: Properties) -> dict[str, Any]:
    """Convert properties to the API's, where streams and encryption have explicit switches."""
    renamed = dict(properties)
    if "StreamSpecification" in renamed:
        renamed["StreamSpecification"] = {"StreamEnabled": True, **renamed["StreamSpecification"]}
    if "SSESpecification" in renamed:
        renamed["SSESpecification"] = {
            ("Enabled" if key == "SSEEnabled" else key): part
            for key, part in renamed["SSESpecification"].items()
        }
    return renamed


class _Table(ApiProvider):
    """A table."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create the table."""
        return super().create(context, _api(properties))

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:
        """Read the table with point-in-time recovery and TTL."""
        shown = super().read(context, physical_id, properties)
        if shown is None:
            return None
        table = {"TableName": physical_id}
        backups = context.call("dynamodb", "DescribeContinuousBackups", table)["ContinuousBackupsDescription"]
        on = backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
        expiry = context.call("dynamodb", "DescribeTimeToLive", table)["TimeToLiveDescription"]
        status = expiry.get("TimeToLiveStatus") in {"ENABLED", "ENABLING"}
        return {
            **shown,
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": on},
            "TimeToLiveSpecification": {"AttributeName": expiry.get("AttributeName"), "Enabled": status},
        }

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Update settings, point-in-time recovery, TTL and tags."""
        changed = set(changed_keys(old, new))
        sent = {key: part for key, part in _api(new).items() if key in changed & _BY_UPDATE_TABLE}
        if sent:
            shape = service_model("dynamodb").operation_model("UpdateTable").input_shape
            request = to_api(shape, {**sent, "TableName": physical_id})
            context.call("dynamodb", "UpdateTable", request)
        sides = ({k: v for k, v in side.items() if k not in _BY_UPDATE_TABLE} for side in (old, new))
        return super().update(context, physical_id, *sides)


PROVIDERS: Mapping[str, Provider] = {
    "AWS::DynamoDB::Table": _Table(
        service="dynamodb",
        creates="CreateTable",
        id_path="TableDescription.TableName",
        deletes=("DeleteTable", "TableName"),
        reads=("DescribeTable", "TableName", "Table"),
        attribute_paths={"Arn": "TableArn", "StreamArn": "LatestStreamArn", "TableId": "TableId"},
        renames={
            "BillingMode": "BillingModeSummary.BillingMode",
            "TableClass": "TableClassSummary.TableClass",
        },
        generates=("TableName", 255),
        settings={
            "PointInTimeRecoverySpecification": Setting(
                put="UpdateContinuousBackups",
                sent="PointInTimeRecoverySpecification",
                absent={"PointInTimeRecoveryEnabled": False},
            ),
            "TimeToLiveSpecification": Setting(put="UpdateTimeToLive", sent="TimeToLiveSpecification"),
        },
        owner="TableName",
        tagging=Tagging(service="dynamodb", attribute="Arn"),
    )
}
