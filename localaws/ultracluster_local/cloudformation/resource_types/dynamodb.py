"""DynamoDB tables."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Tagging
from ultracluster_local.cloudformation.values import Properties, changed_keys, to_api
from ultracluster_local.instance.clients import service_model

__all__ = ["PROVIDERS"]

_LATER = {"PointInTimeRecoverySpecification", "TimeToLiveSpecification", "ContributorInsightsSpecification"}
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
    """A table. Point-in-time recovery and TTL are set by separate operations."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create the table, then set point-in-time recovery and TTL."""
        name = super().create(
            context, {key: part for key, part in _api(properties).items() if key not in _LATER}
        )
        self._set_later(context, name, {}, properties)
        return name

    def _set_later(self, context: Context, name: str, old: Properties, new: Properties) -> None:
        table = {"TableName": name}
        recovery = new.get("PointInTimeRecoverySpecification")
        if recovery != old.get("PointInTimeRecoverySpecification"):
            enabled = str((recovery or {}).get("PointInTimeRecoveryEnabled", False)).lower() == "true"
            value = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": enabled}}
            context.call("dynamodb", "UpdateContinuousBackups", {**table, **value})
        expiry = new.get("TimeToLiveSpecification")
        if expiry != old.get("TimeToLiveSpecification") and expiry:
            shape = service_model("dynamodb").operation_model("UpdateTimeToLive").input_shape
            request = to_api(shape, {**table, "TimeToLiveSpecification": expiry})
            context.call("dynamodb", "UpdateTimeToLive", request)

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
        self._set_later(context, physical_id, old, new)
        sent = {key: part for key, part in _api(new).items() if key in changed & _BY_UPDATE_TABLE}
        if sent:
            shape = service_model("dynamodb").operation_model("UpdateTable").input_shape
            request = to_api(shape, {**sent, "TableName": physical_id})
            context.call("dynamodb", "UpdateTable", request)
        hidden = {*_BY_UPDATE_TABLE, *_LATER}
        sides = ({k: v for k, v in side.items() if k not in hidden} for side in (old, new))
        return super().update(context, physical_id, *sides)


_REPLICA_AS_TABLE = ("PointInTimeRecoverySpecification", "DeletionProtectionEnabled", "TableClass", "Tags")


_NOT_OF_TABLES = ("WriteProvisionedThroughputSettings", "WriteOnDemandThroughputSettings")


def _as_table(context: Context, properties: Properties) -> dict[str, Any]:
    """Convert the properties of a global table with one replica, in this Region, to those of a table."""
    replicas = properties["Replicas"]
    if [one["Region"] for one in replicas] != [context.region]:
        raise ResourceError(
            f"The local AWS supports global tables with one replica in the stack's Region only; got {len(replicas)}"
        )
    named = {"Region", "SSESpecification", *_REPLICA_AS_TABLE}
    for name in (*_NOT_OF_TABLES, *(key for key in replicas[0] if key not in named)):
        if properties.get(name) or replicas[0].get(name):
            raise ResourceError(f"The local AWS does not support {name} of AWS::DynamoDB::GlobalTable")
    table = {key: part for key, part in properties.items() if key not in {"Replicas", "TableType"}}
    table |= {key: replicas[0][key] for key in _REPLICA_AS_TABLE if key in replicas[0]}
    if "SSESpecification" in table and "SSESpecification" in replicas[0]:
        table["SSESpecification"] = {**table["SSESpecification"], **replicas[0]["SSESpecification"]}
    return table


class _GlobalTable(_Table):
    """A global table with one replica, which the CDK's TableV2 creates."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create the replica as a table."""
        return super().create(context, _as_table(context, properties))

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:
        """Read the table as a global table with one replica."""
        shown = super().read(context, physical_id, properties)
        if shown is None:
            return None
        replica = {"Region": context.region, **{key: shown[key] for key in _REPLICA_AS_TABLE if key in shown}}
        return {**shown, "Replicas": [replica]}

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Update the replica as a table."""
        return super().update(context, physical_id, _as_table(context, old), _as_table(context, new))


_SETTINGS: dict[str, Any] = {
    "service": "dynamodb",
    "creates": "CreateTable",
    "id_path": "TableDescription.TableName",
    "deletes": ("DeleteTable", "TableName"),
    "reads": ("DescribeTable", "TableName", "Table"),
    "attribute_paths": {"Arn": "TableArn", "StreamArn": "LatestStreamArn", "TableId": "TableId"},
    "renames": {
        "BillingMode": "BillingModeSummary.BillingMode",
        "TableClass": "TableClassSummary.TableClass",
    },
    "generates": ("TableName", 255),
    "tagging": Tagging(service="dynamodb", attribute="Arn"),
}

PROVIDERS: Mapping[str, Provider] = {
    "AWS::DynamoDB::Table": _Table(**_SETTINGS),
    "AWS::DynamoDB::GlobalTable": _GlobalTable(**_SETTINGS),
}
