"""Orders and offerings for the tests of the purchase protocol."""

from datetime import timedelta
from decimal import Decimal
from functools import cache
from typing import Any

from tests.unit.runtime.purchasing.simulation import ACCOUNT, OWNED, OWNED_END, REGION, START

from ultracluster_runtime.purchasing.offerings import Offering
from ultracluster_runtime.purchasing.orders import BlockOrder, ExtensionOrder, OnDemandOrder

_COMMON: dict[str, Any] = {
    "account": ACCOUNT,
    "cluster": "ohio",
    "max_fee": Decimal(200000),
    "month_cap": Decimal(250000),
    "approver": "a person",
    "expires_at": START + timedelta(days=2),
}


def block_order(**changes: Any) -> BlockOrder:
    """An order of 16 trn2.48xlarge for 14 days."""
    terms: dict[str, Any] = {
        "name": "december",
        "regions": (REGION,),
        "instance_type": "trn2.48xlarge",
        "count": 16,
        "zone_ids": ("use2-az3",),
        "start_after": START,
        "start_before": START + timedelta(days=30),
        "request_hours": (336,),
        "min_hours": 312,
        "max_hours": 360,
    }
    return BlockOrder(**{**_COMMON, **terms, **changes})


def extension_order(**changes: Any) -> ExtensionOrder:
    """An order of one more day."""
    terms: dict[str, Any] = {
        "name": "longer",
        "region": REGION,
        "reservation_id": OWNED,
        "expected_end": OWNED_END,
        "extension_hours": 24,
        "max_fee": Decimal(10000),
    }
    return ExtensionOrder(**{**_COMMON, **terms, **changes})


def on_demand_order(**changes: Any) -> OnDemandOrder:
    """An order of an On-Demand Capacity Reservation."""
    terms: dict[str, Any] = {
        "name": "reserve",
        "region": REGION,
        "instance_type": "trn1.32xlarge",
        "count": 4,
        "zone_id": "use2-az3",
        "end": START + timedelta(days=5),
        "hourly_price": Decimal("21.50"),
    }
    return OnDemandOrder(**{**_COMMON, **terms, **changes})


def offering(**changes: Any) -> Offering:
    """An offering that meets the terms of `block_order`."""
    terms: dict[str, Any] = {
        "offering_id": "cb-good",
        "region": REGION,
        "instance_type": "trn2.48xlarge",
        "ultraserver_type": None,
        "ultraserver_count": 0,
        "instance_count": 16,
        "zone": "us-east-2c",
        "zone_ids": ("use2-az3",),
        "start": START + timedelta(days=10),
        "end": START + timedelta(days=24),
        "duration": timedelta(days=14),
        "fee": Decimal("192241.66"),
        "currency": "USD",
    }
    return Offering(**{**terms, **changes})


@cache
def offerings_with_traps() -> tuple[Offering, ...]:
    """Offerings of which only one meets the terms; the others break one term each, and are cheaper."""
    return (
        offering(offering_id="cb-eur", currency="EUR", fee=Decimal(100)),
        offering(offering_id="cb-few", instance_count=8, fee=Decimal(90000)),
        offering(offering_id="cb-other", instance_type="trn1.32xlarge", fee=Decimal(50000)),
        offering(offering_id="cb-zone", zone_ids=("use2-az1",), fee=Decimal(180000)),
        offering(offering_id="cb-late", start=START + timedelta(days=31), fee=Decimal(170000)),
        offering(offering_id="cb-dear", fee=Decimal(200001)),
        offering(),
        offering(offering_id="cb-good-too", fee=Decimal("195000.00")),
    )


def ultraserver_offering() -> Offering:
    """An offering of two UltraServers."""
    return offering(ultraserver_type="u-trn2x64", ultraserver_count=2, instance_count=8, instance_type=None)
