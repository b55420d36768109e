"""Prices of services other than instances: endpoints, gateways, volumes, buckets, metrics, logs, data transfer.

`ultracluster_catalog.prices.billable_items.nearest_price` takes the price of the nearest Region where a Region has none.
"""

from typing import Final, Literal, get_args

from ultracluster_catalog.prices.prices import BillableItem, Price, price_of

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


def service_price(service: PaidService, region: str) -> Price:
    """Return the price of one unit of a service; where it has tiers, that of the first."""
    return price_of(BillableItem(kind="service", name=service), region)
