"""Ledger of orders in a DynamoDB table, with transactions that prevent a second purchase.

Partition key ``pk`` and sort key ``sk`` are strings. There is no index; all reads are strongly consistent.

==========================================  ==================  =====================================================
``pk``                                      ``sk``              Content
==========================================  ==================  =====================================================
``ORDER#<name>``                            ``ORDER``           Order: the attributes of `Record`; ``terms`` is the
                                                                canonical JSON of the terms, ``token`` their hash
``ORDER#<name>``                            ``EVENT#<version>``  Change of that order: state, at, reason, nonce
``LOCK#cluster/<cluster>``                  ``LOCK``            Order in progress for a cluster
``LOCK#reservation/<cr-…>``                 ``LOCK``            Extension in progress for a reservation
``MONTH#<account>#<currency>#<yyyy-mm>``    ``MONTH``           ``held``: fees that count against the monthly cap
==========================================  ==================  =====================================================

The table should have deletion protection, point-in-time recovery, a RETAIN policy and on-demand billing. Items never
expire. The buyer needs ``dynamodb:GetItem``, ``PutItem``, ``UpdateItem``, ``DeleteItem``, ``Query`` and ``Scan`` on it,
which also allow ``TransactWriteItems``.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.purchasing.aws_errors import (
    UnreadableAnswerError,
    classify_read_error,
    classify_transaction_error,
)
from ultracluster_runtime.purchasing.effects import Committed, ConditionFailed, OutcomeUnknown, ReadFailed
from ultracluster_runtime.purchasing.fold import edited_ledger
from ultracluster_runtime.purchasing.orders import (
    Order,
    OrderState,
    Record,
    parse_terms,
    terms_of,
)
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.record import RuleRecord

PARTITION_KEY: Final = "pk"
SORT_KEY: Final = "sk"

_ORDER: Final = "ORDER"
_LOCK: Final = "LOCK"
_MONTH: Final = "MONTH"
_EVENT: Final = "EVENT#"

_TEXTS: Final = ("token", "reason", "nonce", "region", "offering_id", "month")
_TIMES: Final = ("changed_at", "sent_at", "start", "end")
_LISTS: Final = ("zone_ids", "reservation_ids", "block_ids", "ec2_states")

_Item = dict[str, Any]  # item in the format of DynamoDB's low-level API, with type descriptors


def _item_key(partition: str, sort: str) -> _Item:
    """Return the key of an item."""
    return {PARTITION_KEY: {"S": partition}, SORT_KEY: {"S": sort}}


def order_key(name: str) -> _Item:
    """Return the key of an order."""
    return _item_key(f"{_ORDER}#{name}", _ORDER)


def record_item(record: Record) -> _Item:
    """Convert an order to an item."""
    item = order_key(record.order.name) | {
        "terms": {"S": terms_of(record.order)},
        "state": {"S": record.state.value},
        "version": {"N": str(record.version)},
        "holds_lock": {"BOOL": record.holds_lock},
    }
    for name in _TEXTS:
        if getattr(record, name) is not None:
            item[name] = {"S": getattr(record, name)}
    for name in _TIMES:
        if getattr(record, name) is not None:
            item[name] = {"S": getattr(record, name).isoformat()}
    for name in _LISTS:
        item[name] = {"L": [{"S": value} for value in getattr(record, name)]}
    if record.count is not None:
        item["count"] = {"N": str(record.count)}
    if record.fee is not None:
        item["fee"] = {"N": format(record.fee, "f")}
    return item


def read_record_item(item: Mapping[str, Any]) -> Record:
    """Convert an item to an order; an edited item raises UC7025."""
    try:
        values: _Item = {name: item[name]["S"] for name in _TEXTS if name in item}
        values |= {name: datetime.fromisoformat(item[name]["S"]) for name in _TIMES if name in item}
        values |= {name: tuple(value["S"] for value in item[name]["L"]) for name in _LISTS}
        return Record(
            order=parse_terms(item["terms"]["S"]),
            state=OrderState(item["state"]["S"]),
            version=int(item["version"]["N"]),
            holds_lock=item["holds_lock"]["BOOL"],
            count=int(item["count"]["N"]) if "count" in item else None,
            fee=Decimal(item["fee"]["N"]) if "fee" in item else None,
            **values,
        )
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        name = item.get(PARTITION_KEY, {}).get("S", "?")
        raise edited_ledger(
            f"item {name} of the ledger cannot be read: {error!r}", remedy="The ledger was edited"
        ) from error


def _event_item(record: Record) -> _Item:
    """Convert the latest change of an order to an item of its history."""
    return _item_key(f"{_ORDER}#{record.order.name}", f"{_EVENT}{record.version:06d}") | {
        "state": {"S": record.state.value},
        "at": {"S": record.changed_at.isoformat()},
        "reason": {"S": record.reason},
        "nonce": {"S": record.nonce or "-"},
    }


_Write = tuple[_Item, str | None]  # write of a transaction, and the meaning of its condition


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Change of an order in the ledger."""

    version: int
    state: OrderState
    at: datetime
    reason: str


def _answered(response: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a response of DynamoDB, which carries a request ID.

    botocore takes a page of a proxy for a response without members, such as that of an absent item.
    """
    if not response.get("ResponseMetadata", {}).get("RequestId"):
        raise UnreadableAnswerError("the response has no request ID of DynamoDB")
    return response


def unusable_ledger(problem: str, *, remedy: str) -> FindingsError:
    """Return a refusal (UC7021) because there is no ledger to use."""
    return FindingsError.of("UC7021", problem, remedy=remedy)


def _unusable(error: Exception, table: str) -> FindingsError:
    response = classify_read_error(error)
    return unusable_ledger(
        f"the ledger table {table!r} cannot be used: {response.code}: {response.message}",
        remedy="Nothing is bought without it: deploy the CapacityLedger, or use the account and Region that contain it",
    )


class Ledger:
    """Ledger in one table, with a client for its account and Region."""

    def __init__(self, client: Any, table: str) -> None:
        self._client = client
        self._table = table

    def approve(self, order: Order, *, now: datetime) -> Record:
        """Write an approval, if the name is unused (UC7022). As for all methods, the table must be usable (UC7021)."""
        record = Record(
            order=order,
            token=order.token,
            state=OrderState.APPROVED,
            changed_at=now,
            reason=f"approved by {order.approver}",
        )
        unused = f"attribute_not_exists({PARTITION_KEY})"
        try:
            response = self._client.transact_write_items(
                TransactItems=[
                    {"Put": {"TableName": self._table, "Item": item, "ConditionExpression": unused}}
                    for item in (record_item(record), _event_item(record))
                ]
            )
            _answered(response)
        except AWS_ERRORS as error:
            if isinstance(classify_transaction_error(error, ("state", "state")), ConditionFailed):
                raise FindingsError.of(
                    "UC7022",
                    f"the order {order.name!r} already exists",
                    remedy="Use a new name for a new approval",
                ) from error
            raise _unusable(error, self._table) from error
        return record

    def read(self, name: str) -> Record | ReadFailed | None:
        """Read an order with strong consistency: `Record`, None if there is none, or `ReadFailed`."""
        try:
            response = self._client.get_item(
                TableName=self._table,
                Key=order_key(name),
                ConsistentRead=True,
                ReturnConsumedCapacity="TOTAL",
            )
            # botocore returns a response without members for JSON that it cannot parse, as for an absent item.
            _answered(response)["ConsumedCapacity"]
        except AWS_ERRORS as error:
            unanswered = classify_read_error(error)
            if unanswered.transient:
                return unanswered
            raise _unusable(error, self._table) from error
        return read_record_item(response["Item"]) if "Item" in response else None

    def orders(self) -> list[Record]:
        """Read all orders, most recently changed first."""
        pages = self._pages(
            "scan",
            FilterExpression=f"{SORT_KEY} = :order",
            ExpressionAttributeValues={":order": {"S": _ORDER}},
        )
        return sorted(map(read_record_item, pages), key=lambda record: record.changed_at, reverse=True)

    def history(self, name: str) -> list[Event]:
        """Read all changes of an order, oldest first."""
        items = self._pages(
            "query",
            KeyConditionExpression=f"{PARTITION_KEY} = :order AND begins_with({SORT_KEY}, :event)",
            ExpressionAttributeValues={":order": {"S": f"{_ORDER}#{name}"}, ":event": {"S": _EVENT}},
        )
        return [
            Event(
                version=int(item[SORT_KEY]["S"].removeprefix(_EVENT)),
                state=OrderState(item["state"]["S"]),
                at=datetime.fromisoformat(item["at"]["S"]),
                reason=item["reason"]["S"],
            )
            for item in items
        ]

    def _pages(self, operation: str, **arguments: Any) -> list[_Item]:
        try:
            paginator = self._client.get_paginator(operation)
            pages = paginator.paginate(TableName=self._table, ConsistentRead=True, **arguments)
            return [item for page in pages for item in _answered(page)["Items"]]
        except AWS_ERRORS as error:
            raise _unusable(error, self._table) from error

    def advance(self, before: Record, after: Record) -> Committed | ConditionFailed | OutcomeUnknown:
        """Write `after` in one transaction, if the table still holds `before`.

        To enter SENDING, the lock must be free and the fee must fit under the monthly cap.
        """
        writes = [
            *self._record_writes(before, after),
            *self._lock_writes(before, after),
            *self._month_writes(before, after),
        ]
        # The same token for the same attempt, so that a transaction retried by boto3 is executed once.
        attempt = (
            f"{after.order.name}/{after.version}/{after.state}/{after.nonce}/{after.changed_at.isoformat()}"
        )
        try:
            response = self._client.transact_write_items(
                TransactItems=[write for write, _ in writes],
                ClientRequestToken=hashlib.sha256(attempt.encode()).hexdigest()[:36],
            )
            _answered(response)
        except AWS_ERRORS as error:
            return classify_transaction_error(error, tuple(meaning for _, meaning in writes))
        return Committed()

    def _record_writes(self, before: Record, after: Record) -> list[_Write]:
        values = {":version": {"N": str(before.version)}, ":state": {"S": before.state.value}}
        condition = "#version = :version AND #state = :state AND "
        if before.nonce is None:
            condition += "attribute_not_exists(#nonce)"
        else:  # two processes may have the same version; their nonces differ
            condition += "#nonce = :nonce"
            values[":nonce"] = {"S": before.nonce}
        put = {
            "TableName": self._table,
            "Item": record_item(after),
            "ConditionExpression": condition,
            "ExpressionAttributeNames": {"#version": "version", "#state": "state", "#nonce": "nonce"},
            "ExpressionAttributeValues": values,
        }
        event = {
            "TableName": self._table,
            "Item": _event_item(after),
            "ConditionExpression": f"attribute_not_exists({PARTITION_KEY})",
        }
        return [({"Put": put}, "state"), ({"Put": event}, "state")]

    def _lock_writes(self, before: Record, after: Record) -> list[_Write]:
        key = _item_key(f"{_LOCK}#{after.order.lock}", _LOCK)
        name = {"S": after.order.name}
        if after.holds_lock and not before.holds_lock:
            put = {
                "TableName": self._table,
                "Item": key | {"order": name, "since": {"S": after.changed_at.isoformat()}},
                "ConditionExpression": f"attribute_not_exists({PARTITION_KEY})",
            }
            return [({"Put": put}, "lock")]
        if before.holds_lock and not after.holds_lock:
            delete = {
                "TableName": self._table,
                "Key": key,
                "ConditionExpression": f"attribute_not_exists({PARTITION_KEY}) OR #order = :order",
                "ExpressionAttributeNames": {"#order": "order"},
                "ExpressionAttributeValues": {":order": name},
            }
            return [({"Delete": delete}, "lock")]
        return []

    def _month_writes(self, before: Record, after: Record) -> list[_Write]:
        change = after.held_fee - before.held_fee
        if not change:
            return []
        update: _Item = {
            "TableName": self._table,
            "Key": _item_key(f"{_MONTH}#{after.month}", _MONTH),
            "UpdateExpression": "ADD #held :change",
            "ExpressionAttributeNames": {"#held": "held"},
            "ExpressionAttributeValues": {":change": {"N": format(change, "f")}},
        }
        if after.state is not OrderState.SENDING:
            return [({"Update": update}, None)]
        room = after.order.month_cap - change
        # Without room, reject the first order of the month, too: no number is below a negative :room.
        absent = f"attribute_not_exists({PARTITION_KEY}) OR " if room >= 0 else ""
        update["ConditionExpression"] = f"{absent}#held <= :room"
        update["ExpressionAttributeValues"][":room"] = {"N": format(room, "f")}
        return [({"Update": update}, "month")]


RECORDS: Final = (
    RuleRecord(
        "UC7021",
        "The ledger's table can be used.",
        remedy="Deploy a CapacityLedger, or specify its table and Region. Nothing is bought without it.",
        source="Our decision: the ledger is what makes a purchase happen at most once.",
    ),
    RuleRecord(
        "UC7022",
        "The name of an order is used once.",
        remedy="Use a new name for each approval, even for the same terms.",
        source="Our decision: a name stands for one approval, so that it buys once.",
    ),
)
