"""DynamoDB tables."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Setting, Tagging
from ultracluster_local.cloudformation.values import Properties

__all__ = ["PROVIDERS"]


def _api(context: Context, properties: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - a provider's signature
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

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Update the table; what the template no longer says stays as it is."""
        left = {key: old[key] for key in old.keys() - new.keys() if key not in {"Tags", *self.settings}}
        return super().update(context, physical_id, old, {**left, **new})


PROVIDERS: Mapping[str, Provider] = {
    "AWS::DynamoDB::Table": _Table(
        service="dynamodb",
        creates="CreateTable",
        id_path="TableDescription.TableName",
        deletes=("DeleteTable", "TableName"),
        reads=("DescribeTable", "TableName", "Table"),
        attribute_paths={"StreamArn": "LatestStreamArn", "TableId": "TableId"},
        generates=("TableName", 255),
        updates=("UpdateTable", "TableName"),
        settings={
            "PointInTimeRecoverySpecification": Setting(
                put="UpdateContinuousBackups", absent={"PointInTimeRecoveryEnabled": False}
            ),
            "TimeToLiveSpecification": Setting(put="UpdateTimeToLive"),
        },
        owner="TableName",
        prepare=_api,
        tagging=Tagging(service="dynamodb", attribute="Arn"),
    )
}
