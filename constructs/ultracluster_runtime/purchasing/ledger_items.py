"""Orders and their history as items of the ledger's table; its layout is described in `ultracluster_runtime.purchasing.ledger`."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from ultracluster_runtime.purchasing.order_states import OrderState
from ultracluster_runtime.purchasing.orders import parse_terms, terms_of
from ultracluster_runtime.purchasing.pagination import edited_ledger
from ultracluster_runtime.purchasing.records import Record

__all__ = [
    "EVENT",
    "LOCK",
    "MONTH",
    "ORDER",
    "PARTITION_KEY",
    "SORT_KEY",
    "Item",
    "event_item",
    "item_key",
    "order_key",
    "read_record_item",
    "record_item",
]

PARTITION_KEY: Final = "pk"
SORT_KEY: Final = "sk"

ORDER: Final = "ORDER"
LOCK: Final = "LOCK"
MONTH: Final = "MONTH"
EVENT: Final = "EVENT#"

_TEXTS: Final = ("token", "reason", "nonce", "region", "offering_id", "month")
_TIMES: Final = ("changed_at", "sent_at", "start", "end")
_LISTS: Final = ("zone_ids", "reservation_ids", "block_ids", "ec2_states")

Item = dict[str, Any]
"""An item as DynamoDB's low-level API has it: each value under the letter of its type."""


def item_key(partition: str, sort: str) -> Item:
    """The key of an item."""
    return {PARTITION_KEY: {"S": partition}, SORT_KEY: {"S": sort}}


def order_key(name: str) -> Item:
    """The key of an order."""
    return item_key(f"{ORDER}#{name}", ORDER)


def record_item(record: Record) -> Item:
    """Write an order as an item."""
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
    if record.fee is not None:
        item["fee"] = {"N": format(record.fee, "f")}
    return item


def read_record_item(item: Mapping[str, Any]) -> Record:
    """Read an order from its item.

    Raises:
        FindingsError: UC7025 if somebody wrote to it who is not the ledger.
    """
    try:
        values: Item = {name: item[name]["S"] for name in _TEXTS if name in item}
        values |= {name: datetime.fromisoformat(item[name]["S"]) for name in _TIMES if name in item}
        values |= {name: tuple(value["S"] for value in item[name]["L"]) for name in _LISTS}
        return Record(
            order=parse_terms(item["terms"]["S"]),
            state=OrderState(item["state"]["S"]),
            version=int(item["version"]["N"]),
            holds_lock=item["holds_lock"]["BOOL"],
            fee=Decimal(item["fee"]["N"]) if "fee" in item else None,
            **values,
        )
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        name = item.get(PARTITION_KEY, {}).get("S", "?")
        raise edited_ledger(
            f"item {name} of the ledger cannot be read: {error!r}",
            remedy="Somebody edited the ledger",
        ) from error


def event_item(record: Record) -> Item:
    """Write the change that led to a record as an item of its history."""
    return item_key(f"{ORDER}#{record.order.name}", f"{EVENT}{record.version:06d}") | {
        "state": {"S": record.state.value},
        "at": {"S": record.changed_at.isoformat()},
        "reason": {"S": record.reason},
        "nonce": {"S": record.nonce or "-"},
    }
