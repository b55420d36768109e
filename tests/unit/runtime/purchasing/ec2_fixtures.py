"""Objects in EC2 and the ledger after an order was sent, to vary one field at a time."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from tests.unit.runtime.purchasing.example_orders import block_order
from tests.unit.runtime.purchasing.simulation import OWNED, OWNED_BLOCK, OWNED_END, START

from ultracluster_runtime.purchasing.ec2_objects import Block, Extension, Reservation
from ultracluster_runtime.purchasing.effects import OutcomeUnknown, ReadFailed
from ultracluster_runtime.purchasing.orders import Order, OrderState, Record

BEGIN, END = START + timedelta(days=10), START + timedelta(days=24)
_OWNED = replace(OWNED_BLOCK, start=OWNED_END - timedelta(days=7), order_name=None)
APPROVED = Record(order=block_order(), token=block_order().token, state=OrderState.APPROVED, changed_at=START)
LOST = OutcomeUnknown("no reply")
DENIED = ReadFailed(code="Denied", message="no", transient=False)
_EXTENSION = Extension(
    offering_id="cbe-a",
    reservation_id=OWNED,
    status="payment-pending",
    purchased_at=START,
    start=OWNED_END,
)
_SENT = Record(
    order=block_order(),
    token="t",
    state=OrderState.SENDING,
    changed_at=START,
    sent_at=START,
    region="us-east-2",
    start=BEGIN,
    end=END,
    offering_id="cbe-a",
)


def owned(**changes: Any) -> Reservation:
    return replace(_OWNED, **changes)


def extension(**changes: Any) -> Extension:
    return replace(_EXTENSION, **changes)


def sent(order: Order | None = None, **changes: Any) -> Record:
    return replace(_SENT, **{"order": order or block_order(), **changes})


def reservation(number: int, **changes: Any) -> Reservation:
    bought = owned(state="scheduled", start=BEGIN, end=END, created=START, order_name="december")
    return replace(bought, **{"reservation_id": f"cr-{number}", **changes})


def block(number: int, *reservations: str, order_name: str | None = None, state: str = "scheduled") -> Block:
    return Block(block_id=f"cb-{number}", state=state, reservation_ids=reservations, order_name=order_name)


def answered_offering(start: datetime, *, hours: int = 24, **members: Any) -> dict[str, Any]:
    """An offering as DescribeCapacityBlockOfferings answers it; test_offerings.py holds its members to botocore's model."""
    return {
        "CapacityBlockOfferingId": "cb-1",
        "InstanceType": "trn2.48xlarge",
        "AvailabilityZone": "us-east-2c",
        "InstanceCount": 16,
        "StartDate": start,
        "EndDate": start + timedelta(hours=hours),
        "CapacityBlockDurationHours": hours,
        "UpfrontFee": "13446.06",
        "CurrencyCode": "USD",
        "Tenancy": "default",
    } | members
