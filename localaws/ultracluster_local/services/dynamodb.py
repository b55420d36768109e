"""DynamoDB: tables that are protected against deletion."""

from moto.dynamodb.models import dynamodb_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError

__all__: list[str] = []

_check = Checks(service="dynamodb")


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
    wanted = bool(request.parameters["TimeToLiveSpecification"]["Enabled"])
    if table is not None and (table.ttl["TimeToLiveStatus"] == "ENABLED") == wanted:
        state = "enabled" if wanted else "disabled"
        raise ServiceError("ValidationException", f"TimeToLive is already {state}")
