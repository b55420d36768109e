"""The check of orders: that what the ledger says was bought is what the rollout uses."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ultracluster_rules.findings import FindingsError
from ultracluster_runtime.preflight.check import (
    ACCOUNT_IS_KNOWN,
    AnyCheck,
    Check,
    Outcome,
    failed,
    passed,
    warned,
)
from ultracluster_runtime.preflight.reads import Reads
from ultracluster_runtime.preflight.requirements import OrderNeeds, RolloutNeeds
from ultracluster_runtime.purchasing.ledger_items import order_key, read_record_item
from ultracluster_runtime.purchasing.order_states import OrderState
from ultracluster_runtime.purchasing.orders import order_token
from ultracluster_runtime.purchasing.records import Record

__all__ = ["ORDER_CHECKS"]

_BOUGHT: Final = frozenset({OrderState.PURCHASED, OrderState.PAID})


def _orders(rollout: RolloutNeeds) -> Iterator[OrderNeeds]:
    for cluster in rollout.clusters:
        yield from cluster.orders


def _item(reads: Reads, needs: OrderNeeds) -> Mapping[str, Any] | None:
    """The answer of the ledger; None if none is named, and without an ``Item`` if it does not hold the order."""
    if needs.ledger is None:
        return None
    table, region = needs.ledger
    answer = reads.find(
        "dynamodb",
        region,
        "GetItem",
        absent=("ResourceNotFoundException",),
        TableName=table,
        Key=order_key(needs.order),
        ConsistentRead=True,
    )
    return answer or {}


def _approved(item: Mapping[str, Any]) -> Record | None:
    """The order as it was approved; None if somebody edited it."""
    try:
        record = read_record_item(item)
    except FindingsError:
        return None
    return record if order_token(record.order) == record.token else None


def _judge_order(needs: OrderNeeds, answer: Mapping[str, Any] | None) -> Outcome:
    """Whether the order bought the reservation of the rollout, under the terms that were approved."""
    if answer is None:
        return warned(
            f"no ledger is named, so that nobody looked at the order {needs.order}",
            "Give --ledger and --ledger-region",
        )
    if "Item" not in answer:
        return failed(
            f"the ledger holds no order {needs.order}", "Name another ledger, or approve the order and buy it"
        )
    record = _approved(answer["Item"])
    if record is None:
        return failed(
            f"the terms of the order {needs.order} are not those that were approved",
            "Somebody edited the ledger; approve a new order",
        )
    if record.state not in _BOUGHT:
        return failed(
            f"the order {needs.order} is {record.state.value}",
            "`ultracluster capacity status` says why; what is APPROVED is bought by `ultracluster capacity buy`",
        )
    bought = ", ".join(record.reservation_ids)
    if needs.reservation_id not in record.reservation_ids:
        return failed(
            f"the order {needs.order} bought {bought}; the rollout uses {needs.reservation_id or 'none yet'}",
            "Write it into the rollout: `ultracluster capacity resolve ROLLOUT --write`",
        )
    return passed(f"the order {needs.order} bought {bought} and is {record.state.value}")


ORDER_CHECKS: Final[tuple[AnyCheck, ...]] = (
    Check(
        code="UC9456",
        calls=("dynamodb:GetItem",),
        subjects=_orders,
        gather=_item,
        judge=_judge_order,
        after=ACCOUNT_IS_KNOWN,
    ),
)
