"""Prices of services other than instances: endpoints, gateways, volumes, buckets, metrics, logs, data transfer.

`ultracluster_catalog.prices.billable_items.nearest_price` takes the price of the nearest Region where a Region has none.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, cast, get_args

from ultracluster_catalog.prices.prices import PRICE_TABLE, BillableItem, Price, PriceUnit, unknown_price

PaidService = Literal[
    "alarm",
    "composite alarm",
    "custom metric",
    "dashboard",
    "data transfer out",
    "data transfer to another Region",
    "interface endpoint",
    "interface endpoint data",
    "logs ingested",
    "logs stored",
    "NAT gateway",
    "NAT gateway data",
    "public IPv4 address",
    "S3 Standard storage",
    "volume gp3",
    "volume gp3 throughput",
    "FSx metadata IOPS",
    "FSx Intelligent-Tiering throughput",
    "FSx read cache",
    "FSx Intelligent-Tiering data",
    "FSx backups",
]
"""Billed service, named as in AWS's bill where possible."""

PAID_SERVICES: Final[tuple[PaidService, ...]] = get_args(PaidService)
"""Every `PaidService`."""

_SEARCHED_IN: Final = "AWS Price List, as AWS's pricing pages, Infracost and field reports keep it"
_UNITS: Final[Mapping[PaidService, PriceUnit]] = MappingProxyType(
    dict[PaidService, PriceUnit]({"FSx read cache": "GB-month", "FSx Intelligent-Tiering data": "GB-month"})
    | {
        cast("PaidService", item.name): price.unit
        for (item, _), price in PRICE_TABLE.items()
        if item.kind == "service"
    }
)
"""Units by service, also of those without a known price."""


def service_price(service: PaidService, region: str) -> Price:
    """Return the price of one unit of a service; where it has tiers, that of the first."""
    return PRICE_TABLE.get((BillableItem(kind="service", name=service), region)) or unknown_price(
        _UNITS[service], source=_SEARCHED_IN, reason=f"no dated price of {service} in {region}"
    )
