"""Ledger table in moto's DynamoDB."""

from typing import Any

from ultracluster_runtime.purchasing.ledger import PARTITION_KEY, SORT_KEY

TABLE = "ledger"


def create_table(client: Any) -> None:
    """Create the table as `ultracluster_runtime.purchasing.ledger` describes it."""
    keys = {PARTITION_KEY: "HASH", SORT_KEY: "RANGE"}
    client.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
        BillingMode="PAY_PER_REQUEST",
    )
