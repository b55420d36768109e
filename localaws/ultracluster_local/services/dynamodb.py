"""DynamoDB: what requests about tables are refused for, and how a table is described."""

import uuid
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.table import Table

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_check = Checks(service="dynamodb")


@instead_of(Table, "describe")
def _describe(original: Any, table: Any, *given: Any, **named: Any) -> Any:
    """Give a table an ID: aws_dynamodb_table in hashicorp/terraform-provider-aws."""
    own = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{table.table_arn} {table.created_at}"))
    return {name: {"TableId": own, **shown} for name, shown in original(table, *given, **named).items()}


@_check("DeleteTable")
def check_delete_table(request: Request) -> None:
    """Refuse a protected table; the words are those that nubo-db/dynoxide#46 (2026-05-25) saw."""
    tables = dynamodb_backends[ACCOUNT][request.region].tables
    table = tables.get(request.parameters["TableName"].rsplit("/", 1)[-1])
    if table is not None and table.deletion_protection_enabled:
        problem = "Resource cannot be deleted as it is currently protected against deletion."
        raise ServiceError("ValidationException", f"{problem} Disable deletion protection first.")


@_check("UpdateTimeToLive")
def check_update_time_to_live(request: Request) -> None:
    """Refuse what is so already."""
    table = dynamodb_backends[ACCOUNT][request.region].tables.get(request.parameters["TableName"])
    name = request.parameters["TimeToLiveSpecification"]["AttributeName"]
    if (
        table is not None
        and table.ttl["TimeToLiveStatus"] == "ENABLED"
        and table.ttl.get("AttributeName") != name
    ):
        problem = f"TimeToLive is active on a different AttributeName: current AttributeName is {table.ttl['AttributeName']}"
        raise _wrong(problem)
    wanted = bool(request.parameters["TimeToLiveSpecification"]["Enabled"])
    if table is not None and (table.ttl["TimeToLiveStatus"] == "ENABLED") == wanted:
        state = "enabled" if wanted else "disabled"
        raise ServiceError("ValidationException", f"TimeToLive is already {state}")


def _wrong(message: str) -> ServiceError:
    return ServiceError("ValidationException", message)


@_check("CreateTable")
def check_key_schema(request: Request) -> None:
    """Refuse a second key that is no sort key: API_KeySchemaElement."""
    keys = [one["KeyType"] for one in request.parameters["KeySchema"]]
    if keys[0] != "HASH":
        raise _wrong("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if keys[1:] not in ([], ["RANGE"]):
        raise _wrong("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")


@_check("UpdateTable")
def check_update_table(request: Request) -> None:
    """Refuse a request that changes nothing: API_UpdateTable."""
    if request.parameters.keys() <= {"TableName", "AttributeDefinitions"}:
        raise _wrong(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or "
            "ReplicaUpdates is required"
        )


@_check("TagResource", "UntagResource", "ListTagsOfResource")
def check_tagged(request: Request) -> None:
    """Refuse a table that does not exist: API_TagResource, ResourceNotFoundException."""
    arn = request.parameters["ResourceArn"]
    if not any(one.table_arn == arn for one in dynamodb_backends[ACCOUNT][request.region].tables.values()):
        raise ServiceError(
            "ResourceNotFoundException", f"Requested resource not found: ResourcArn: {arn} not found"
        )
