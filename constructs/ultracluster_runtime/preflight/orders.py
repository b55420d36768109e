"""Check of purchase orders: the rollout uses what the ledger says was bought."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_runtime.preflight.check import ACCOUNT_IS_KNOWN, Outcome, check, failed, passed, warned
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.subjects import Account, Source
from ultracluster_runtime.purchasing.ledger import order_key, read_record_item
from ultracluster_runtime.purchasing.orders import OrderState, Record
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.record import RuleRecord

_BOUGHT: Final = frozenset({OrderState.PURCHASED, OrderState.PAID})


@dataclass(frozen=True, kw_only=True, slots=True)
class Order(Source):
    """Capacity that a purchase order buys, which is its name."""

    ledger: tuple[str, str] | None


def _orders(account: Account) -> Iterator[Order]:
    for source in account.sources():
        if (order := source.capacity.order) is not None:
            yield Order(cluster=source.cluster, name=order, capacity=source.capacity, ledger=account.ledger)


def _item(reader: AwsReader, order: Order) -> Mapping[str, Any] | None:
    """Return the response of the ledger: None without a ledger, and without ``Item`` if it has no such order."""
    if order.ledger is None:
        return None
    table, region = order.ledger
    response = reader.call_or_none(
        "dynamodb:GetItem",
        region,
        absent=("ResourceNotFoundException",),
        TableName=table,
        Key=order_key(order.name),
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


@check("UC9456", _item, subjects=_orders, after=ACCOUNT_IS_KNOWN)
def _check_order(order: Order, response: Mapping[str, Any] | None) -> Outcome:
    if response is None:
        return warned(
            f"no ledger is specified, so the order {order.name} was not checked",
            "Specify --ledger and --ledger-region",
        )
    if "Item" not in response:
        return failed(
            f"the ledger has no order {order.name}",
            "Specify another ledger, or approve and buy the order",
        )
    record = _approved(response["Item"])
    if record is None:
        return failed(
            f"the terms of the order {order.name} differ from the approved ones",
            "The ledger was edited; approve a new order",
        )
    if record.state not in _BOUGHT:
        return failed(
            f"the order {order.name} is {record.state.value}",
            "`ultracluster capacity status` explains why; buy an APPROVED order with `ultracluster capacity buy`",
        )
    bought = ", ".join(record.reservation_ids)
    if order.capacity.reservation_id not in record.reservation_ids:
        return failed(
            f"the order {order.name} bought {bought}; the rollout uses {order.capacity.reservation_id or 'none yet'}",
            "Write it into the rollout: `ultracluster capacity resolve ROLLOUT --write`",
        )
    return passed(f"the order {order.name} bought {bought} and is {record.state.value}")


RECORDS: Final = (
    RuleRecord(
        "UC9456",
        "The order in the ledger has bought the reservation that the rollout uses.",
        remedy="Buy the approved order, then run `ultracluster capacity resolve ROLLOUT --write`.",
        source="Our decision: an order of the ledger and the rollout must not drift apart.",
    ),
)
