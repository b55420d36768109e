"""Calls that search, buy and describe capacity."""

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

REGION = "us-east-2"


NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


def search(ec2: Any, **changes: Any) -> list[dict[str, Any]]:
    """Return the offerings of 4 trn2.48xlarge for 48 hours."""
    asked = {"InstanceType": "trn2.48xlarge", "InstanceCount": 4, "CapacityDurationHours": 48, **changes}
    found: list[dict[str, Any]] = ec2.describe_capacity_block_offerings(**asked)["CapacityBlockOfferings"]
    return found


def buy(ec2: Any, offering: dict[str, Any], **rest: Any) -> dict[str, Any]:
    """Purchase an offering."""
    bought: dict[str, Any] = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offering["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX", **rest
    )
    return bought


def state(ec2: Any, reservation_id: str) -> str:
    """Return the state of a reservation."""
    answer = ec2.describe_capacity_reservations(CapacityReservationIds=[reservation_id])
    return str(answer["CapacityReservations"][0]["State"])


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    """Return the error code of a refused call."""
    return str(error.value.response["Error"]["Code"])
