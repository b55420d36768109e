"""Check of purchase orders: the rollout uses what the ledger says was bought."""

from collections.abc import Mapping
from typing import Any, Final

from ultracluster_rules.findings import FindingsError
from ultracluster_runtime.preflight.check import ACCOUNT_IS_KNOWN, Outcome, check, failed, passed, warned
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.requirements import OrderRequirements
from ultracluster_runtime.purchasing.ledger import order_key, read_record_item
from ultracluster_runtime.purchasing.orders import OrderState, Record

_BOUGHT: Final = frozenset({OrderState.PURCHASED, OrderState.PAID})


def _item(reader: AwsReader, requirements: OrderRequirements) -> Mapping[str, Any] | None:
    """Return the response of the ledger: None without a ledger, and without ``Item`` if it has no such order."""
    if requirements.ledger is None:
        return None
    table, region = requirements.ledger
    response = reader.call_or_none(
        "dynamodb:GetItem",
        region,
        absent=("ResourceNotFoundException",),
        TableName=table,
        Key=order_key(requirements.order),
        ConsistentRead=True,
    )
    return response or {}


def _approved(item: Mapping[str, Any]) -> Record | None:
    """Return the order as approved; None if its terms were edited."""
    try:
        record = read_record_item(item)
    except FindingsError:
        return None
    return record if record.order.token == record.token else None


@check(
    "UC9456",
    _item,
    "dynamodb:GetItem",
    subjects=lambda rollout: (order for cluster in rollout.clusters for order in cluster.orders),
    after=ACCOUNT_IS_KNOWN,
)
def _check_order(requirements: OrderRequirements, response: Mapping[str, Any] | None) -> Outcome:
    if response is None:
        return warned(
            f"no ledger is specified, so the order {requirements.order} was not checked",
            "Specify --ledger and --ledger-region",
        )
    if "Item" not in response:
        return failed(
            f"the ledger has no order {requirements.order}",
            "Specify another ledger, or approve and buy the order",
        )
    record = _approved(response["Item"])
    if record is None:
        return failed(
            f"the terms of the order {requirements.order} differ from the approved ones",
            "The ledger was edited; approve a new order",
        )
    if record.state not in _BOUGHT:
        return failed(
            f"the order {requirements.order} is {record.state.value}",
            "`ultracluster capacity status` explains why; buy an APPROVED order with `ultracluster capacity buy`",
        )
    bought = ", ".join(record.reservation_ids)
    if requirements.reservation_id not in record.reservation_ids:
        return failed(
            f"the order {requirements.order} bought {bought}; the rollout uses {requirements.reservation_id or 'none yet'}",
            "Write it into the rollout: `ultracluster capacity resolve ROLLOUT --write`",
        )
    return passed(f"the order {requirements.order} bought {bought} and is {record.state.value}")
