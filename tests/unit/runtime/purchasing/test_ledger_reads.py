"""The ledger is read with strong consistency: a stale state could lead to a second purchase."""

from typing import Any

from ultracluster_runtime.purchasing.ledger import Ledger


class Table:
    """A table without items, and what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def get_item(self, **arguments: Any) -> dict[str, Any]:
        self.asked.append(arguments)
        return {}

    def get_paginator(self, operation: str) -> "Table":
        assert operation in {"query", "scan"}
        return self

    def paginate(self, **arguments: Any) -> list[dict[str, Any]]:
        self.asked.append(arguments)
        return [{"Items": []}]


def test_every_read_is_strongly_consistent() -> None:
    table = Table()
    ledger = Ledger(table, "orders")

    assert (ledger.read("december"), ledger.orders(), ledger.history("december")) == (None, [], [])
    assert [(each["TableName"], each["ConsistentRead"]) for each in table.asked] == [("orders", True)] * 3
    assert table.asked[0]["Key"] == {"pk": {"S": "ORDER#december"}, "sk": {"S": "ORDER"}}
