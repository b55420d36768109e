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
    """Refuse an absent table and a protected one; the words are those that nubo-db/dynoxide#46 (2026-05-25) saw."""
    name = request.parameters["TableName"].rsplit("/", 1)[-1]
    table = dynamodb_backends[ACCOUNT][request.region].tables.get(name)
    if table is None:  # localstack/localstack, test_dynamodb.snapshot.json
        problem = f"Requested resource not found: Table: {name} not found"
        raise ServiceError("ResourceNotFoundException", problem)
    if table.deletion_protection_enabled:
        problem = "Resource cannot be deleted as it is currently protected against deletion."
        raise _wrong(f"{problem} Disable deletion protection first.")


@_check("UpdateTimeToLive")
def check_update_time_to_live(request: Request) -> None:
    """Refuse what is so already."""
    table = dynamodb_backends[ACCOUNT][request.region].tables.get(request.parameters["TableName"])
    wanted = request.parameters["TimeToLiveSpecification"]
    if table is None:
        return
    current, enabled = table.ttl.get("AttributeName"), table.ttl["TimeToLiveStatus"] == "ENABLED"
    if enabled and current != wanted["AttributeName"]:
        problem = "TimeToLive is active on a different AttributeName: current AttributeName is"
        raise _wrong(f"{problem} {current}")
    if enabled == bool(wanted["Enabled"]):
        raise _wrong(f"TimeToLive is already {'enabled' if enabled else 'disabled'}")


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


@_check("TagResource", "UntagResource", "ListTagsOfResource")
def check_tagged(request: Request) -> None:
    """Refuse a table that does not exist: API_TagResource, ResourceNotFoundException."""
    arn = request.parameters["ResourceArn"]
    if not any(one.table_arn == arn for one in dynamodb_backends[ACCOUNT][request.region].tables.values()):
        problem = f"Requested resource not found: ResourcArn: {arn} not found"
        raise ServiceError("ResourceNotFoundException", problem)
