"""State of a function that only one invocation may change at a time: a DynamoDB item with a lease.

Reserved concurrency would also keep invocations apart, but accounts with a quota of 10 concurrent executions cannot reserve any
("decreases account's UnreservedConcurrentExecution below its minimum value of [10]").
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from botocore.exceptions import ClientError

LEASE: Final = timedelta(seconds=135)
"""Duration of a lease: longer than the timeout of the function, so that only an invocation that was killed leaves one."""


class LeaseHeldError(Exception):
    """Another invocation holds the lease."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeasedState:
    """Text in an item, which only the holder of its lease may change."""

    client: Any
    table: str  # name of the table, whose partition key is the string id
    item: str
    owner: str  # ID of this invocation, different in each

    def acquire(self, now: datetime) -> str:
        """Acquire the lease unless another invocation holds it, and return the stored text, ``{}`` at first."""
        seconds, duration = int(now.timestamp()), int(LEASE.total_seconds())
        try:
            item = self._update_item(
                "SET #owner = :owner, #until = :until",
                # A lease whose end is missing or out of range does not count. boto3 repeats the request after a lost
                # response, and the second one finds its own lease.
                "NOT #until BETWEEN :soon AND :latest OR #owner = :owner",
                {
                    ":until": {"N": str(seconds + duration)},
                    ":soon": {"N": str(seconds + 1)},
                    # Clocks of two invocations differ by less than a lease.
                    ":latest": {"N": str(seconds + 2 * duration)},
                },
            )
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                raise LeaseHeldError from error
            raise
        return self.text_of(item)

    @staticmethod
    def text_of(item: Mapping[str, Any]) -> str:
        """Return the text that an item stores, ``{}`` at first."""
        return str(item.get("state", {}).get("S", "{}"))

    def save(self, text: str) -> None:
        """Store a text; fails if this invocation no longer holds the lease."""
        self._update_item("SET #state = :state", "#owner = :owner", {":state": {"S": text}})

    def release(self) -> None:
        """Release the lease; fails if this invocation no longer holds it."""
        self._update_item("REMOVE #owner, #until", "#owner = :owner", {})

    def _update_item(self, update: str, condition: str, values: dict[str, dict[str, str]]) -> dict[str, Any]:
        response = self.client.update_item(
            TableName=self.table,
            Key={"id": {"S": self.item}},
            UpdateExpression=update,
            ConditionExpression=condition,
            ExpressionAttributeNames={f"#{name}": name for name in re.findall(r"#(\w+)", update + condition)},
            ExpressionAttributeValues={":owner": {"S": self.owner}, **values},
            ReturnValues="ALL_NEW",
        )
        attributes: dict[str, Any] = response["Attributes"]
        return attributes
