"""The ledger of orders in one DynamoDB table, and the transactions that keep a second purchase out.

Layout. Partition key ``pk`` and sort key ``sk``, both strings; no index; strongly consistent reads only.

==========================================  ==================  =====================================================
``pk``                                      ``sk``              what it is
==========================================  ==================  =====================================================
``ORDER#<name>``                            ``ORDER``           the order: the attributes of `Record`; ``terms`` is the
                                                                canonical JSON of the terms, ``token`` their hash
``ORDER#<name>``                            ``EVENT#<version>``  one change of that order: state, at, reason, nonce
``LOCK#cluster/<cluster>``                  ``LOCK``            the order that is under way for a cluster
``LOCK#reservation/<cr-…>``                 ``LOCK``            the extension that is under way for a reservation
``MONTH#<account>#<currency>#<yyyy-mm>``    ``MONTH``           ``held``: the fees that count against the month's cap
==========================================  ==================  =====================================================

The table should have deletion protection, point-in-time recovery and a RETAIN policy, and bill per request. Items never
expire. The buyer needs ``dynamodb:GetItem``, ``PutItem``, ``UpdateItem``, ``DeleteItem``, ``Query`` and ``Scan`` on it;
``TransactWriteItems`` is allowed by the permissions of its parts.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_runtime.purchasing.aws_errors import classify_read_error, classify_transaction_error
from ultracluster_runtime.purchasing.effects import Committed, ConditionFailed, OutcomeUnknown, ReadFailed
from ultracluster_runtime.purchasing.ledger_items import (
    EVENT,
    LOCK,
    MONTH,
    ORDER,
    PARTITION_KEY,
    SORT_KEY,
    Item,
    event_item,
    item_key,
    order_key,
    read_record_item,
    record_item,
)
from ultracluster_runtime.purchasing.order_states import OrderState
from ultracluster_runtime.purchasing.orders import Order, order_token
from ultracluster_runtime.purchasing.pagination import refuse
from ultracluster_runtime.purchasing.records import Record

__all__ = ["PARTITION_KEY", "SORT_KEY", "Event", "Ledger"]

_Write = tuple[Item, str | None]
"""One write of a transaction, and what its condition stands for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One change of an order, as the ledger keeps it."""

    version: int
    state: OrderState
    at: datetime
    reason: str


def _unusable(error: Exception, table: str) -> Exception:
    response = classify_read_error(error)
    return refuse(
        "UC7021",
        f"the ledger's table {table!r} cannot be used: {response.code}: {response.message}",
        remedy="Nothing is bought without it: deploy the CapacityLedger, or use the account and Region that hold it",
    )


class Ledger:
    """The ledger in one table.

    Args:
        client: A DynamoDB client of the table's account and Region.
        table: The table's name.
    """

    def __init__(self, client: Any, table: str) -> None:
        self._client = client
        self._table = table

    def approve(self, order: Order, *, now: datetime) -> Record:
        """Write an approval, if the name was never used.

        Raises:
            FindingsError: If the name is taken (UC7022) or the table cannot be used (UC7021).
        """
        record = Record(
            order=order,
            token=order_token(order),
            state=OrderState.APPROVED,
            changed_at=now,
            reason=f"approved by {order.approver}",
        )
        unused = f"attribute_not_exists({PARTITION_KEY})"
        try:
            self._client.transact_write_items(
                TransactItems=[
                    {"Put": {"TableName": self._table, "Item": item, "ConditionExpression": unused}}
                    for item in (record_item(record), event_item(record))
                ]
            )
        except (ClientError, BotoCoreError) as error:
            if isinstance(classify_transaction_error(error, ("state", "state")), ConditionFailed):
                raise refuse(
                    "UC7022",
                    f"there is an order {order.name!r} already",
                    remedy="A new approval needs a new name",
                ) from error
            raise _unusable(error, self._table) from error
        return record

    def read(self, name: str) -> Record | ReadFailed | None:
        """Read an order, strongly consistent: `Record`, None when there is none, or `ReadFailed`.

        Raises:
            FindingsError: If there is no such table (UC7021) or the item was edited (UC7025).
        """
        try:
            response = self._client.get_item(TableName=self._table, Key=order_key(name), ConsistentRead=True)
        except (ClientError, BotoCoreError) as error:
            unanswered = classify_read_error(error)
            if unanswered.transient:
                return unanswered
            raise _unusable(error, self._table) from error
        return read_record_item(response["Item"]) if "Item" in response else None

    def orders(self) -> list[Record]:
        """Read all orders, the newest change first.

        Raises:
            FindingsError: If the table cannot be used (UC7021) or an item was edited (UC7025).
        """
        pages = self._pages(
            "scan",
            FilterExpression=f"{SORT_KEY} = :order",
            ExpressionAttributeValues={":order": {"S": ORDER}},
        )
        return sorted(map(read_record_item, pages), key=lambda record: record.changed_at, reverse=True)

    def history(self, name: str) -> list[Event]:
        """Read every change of an order, the first one first.

        Raises:
            FindingsError: If the table cannot be used (UC7021).
        """
        items = self._pages(
            "query",
            KeyConditionExpression=f"{PARTITION_KEY} = :order AND begins_with({SORT_KEY}, :event)",
            ExpressionAttributeValues={":order": {"S": f"{ORDER}#{name}"}, ":event": {"S": EVENT}},
        )
        return [
            Event(
                version=int(item[SORT_KEY]["S"].removeprefix(EVENT)),
                state=OrderState(item["state"]["S"]),
                at=datetime.fromisoformat(item["at"]["S"]),
                reason=item["reason"]["S"],
            )
            for item in items
        ]

    def _pages(self, operation: str, **arguments: Any) -> list[Item]:
        try:
            paginator = self._client.get_paginator(operation)
            pages = paginator.paginate(TableName=self._table, ConsistentRead=True, **arguments)
            return [item for page in pages for item in page["Items"]]
        except (ClientError, BotoCoreError) as error:
            raise _unusable(error, self._table) from error

    def advance(self, before: Record, after: Record) -> Committed | ConditionFailed | OutcomeUnknown:
        """Write `after` in one transaction, if the table still holds `before`.

        Entering SENDING, the lock must be free and the fee fit under the month's cap.
        """
        writes = [
            *self._record_writes(before, after),
            *self._lock_writes(before, after),
            *self._month_writes(before, after),
        ]
        # The same token for the same attempt: a transaction that boto3 repeats is executed once.
        attempt = (
            f"{after.order.name}/{after.version}/{after.state}/{after.nonce}/{after.changed_at.isoformat()}"
        )
        try:
            self._client.transact_write_items(
                TransactItems=[write for write, _ in writes],
                ClientRequestToken=hashlib.sha256(attempt.encode()).hexdigest()[:36],
            )
        except (ClientError, BotoCoreError) as error:
            return classify_transaction_error(error, tuple(meaning for _, meaning in writes))
        return Committed()

    def _record_writes(self, before: Record, after: Record) -> list[_Write]:
        values = {":version": {"N": str(before.version)}, ":state": {"S": before.state.value}}
        condition = "#version = :version AND #state = :state AND "
        if before.nonce is None:
            condition += "attribute_not_exists(#nonce)"
        else:  # two processes count the same version; their nonces differ
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
            "Item": event_item(after),
            "ConditionExpression": f"attribute_not_exists({PARTITION_KEY})",
        }
        return [({"Put": put}, "state"), ({"Put": event}, "state")]

    def _lock_writes(self, before: Record, after: Record) -> list[_Write]:
        key = item_key(f"{LOCK}#{after.order.lock}", LOCK)
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
        update: Item = {
            "TableName": self._table,
            "Key": item_key(f"{MONTH}#{after.month}", MONTH),
            "UpdateExpression": "ADD #held :change",
            "ExpressionAttributeNames": {"#held": "held"},
            "ExpressionAttributeValues": {":change": {"N": format(change, "f")}},
        }
        if after.state is not OrderState.SENDING:
            return [({"Update": update}, None)]
        room = after.order.month_cap - change
        # Without room the first order of the month is refused too: no number is below :room then.
        absent = f"attribute_not_exists({PARTITION_KEY}) OR " if room >= 0 else ""
        update["ConditionExpression"] = f"{absent}#held <= :room"
        update["ExpressionAttributeValues"][":room"] = {"N": format(room, "f")}
        return [({"Update": update}, "month")]
