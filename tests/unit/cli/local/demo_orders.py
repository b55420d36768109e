"""Orders of the demo in a ledger, for its tests."""

from datetime import UTC, datetime
from decimal import Decimal

from tests.unit.runtime.purchasing.example_orders import block_order

from ultracluster_runtime.purchasing.orders import BlockOrder, OrderState, Record

NOW = datetime(2026, 11, 21, tzinfo=UTC)
START, END = datetime(2026, 11, 22, 11, 30, tzinfo=UTC), datetime(2026, 12, 6, 11, 30, tzinfo=UTC)
RESERVATION = "cr-0fedcba9876543210"


def order_for(name: str, cluster: str) -> BlockOrder:
    return block_order(
        name=name,
        cluster=cluster,
        count=4,
        zone_ids=(),
        start_after=NOW,
        start_before=END,
        month_cap=Decimal(14),
        max_fee=Decimal(14),
    )


def record(name: str, state: OrderState, reservation: str = RESERVATION) -> Record:
    return Record(
        order=order_for(name, "quickstart"),
        token="t" * 16,
        state=state,
        changed_at=NOW,
        region="us-east-2",
        fee=Decimal("13.44"),
        start=START,
        end=END,
        zone_ids=("use2-az1",),
        reservation_ids=(reservation,),
    )
