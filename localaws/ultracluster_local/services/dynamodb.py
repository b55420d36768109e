"""DynamoDB: tables that are protected against deletion, and transactions that are written once."""

import functools
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from moto.core.responses import ActionResult
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.responses import DynamoHandler

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError

__all__ = ["install"]

_check = Checks(service="dynamodb")

_REMEMBERED: Final = timedelta(minutes=10)
"""https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html (2026-11), ClientRequestToken."""


def install() -> None:
    """Make moto write a transaction once for each token."""
    DynamoHandler.transact_write_items = _once(DynamoHandler.transact_write_items)


def _once(write: Callable[[Any], ActionResult]) -> Callable[[Any], ActionResult]:
    """Answer a repeated transaction as the first one, without writing again; moto drops the token."""

    @functools.wraps(write)
    def answer(response: Any) -> ActionResult:
        token, items = response.body.get("ClientRequestToken"), response.body["TransactItems"]
        # Kept at the table, so that one that is made anew does not know what the former one had written.
        (first, *_) = items[0].values()
        written = vars(response.dynamodb_backend.get_table(first["TableName"])).setdefault("written_once", {})
        at, known = written.get(token, (None, None))
        if at is None or CLOCK.now() - at >= _REMEMBERED:
            result = write(response)
            if token:
                written[token] = (CLOCK.now(), items)
            return result
        if items != known:
            raise ServiceError(
                "IdempotentParameterMismatchException", "The token was already used for another transaction."
            )
        return ActionResult({"ConsumedCapacity": [], "ItemCollectionMetrics": {}})

    return answer


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
