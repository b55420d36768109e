"""Prices of services other than instances: endpoints, gateways, volumes, buckets, metrics, logs, data transfer.

Only a few Regions have prices; `ultracluster_catalog.prices.billable_items.nearest_price` takes those of the nearest Region.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Final, Literal, get_args

from ultracluster_catalog.prices.prices import Price, PriceUnit, unknown_price

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

_INFRACOST: Final = "AWS Price List, as the reference output of Infracost's tests keeps it"
_CLOUDWATCH: Final = "aws.amazon.com/cloudwatch/pricing, as cloudburn.io read it"
_ADDRESSES: Final = "AWS, Identify and optimize public IPv4 address usage; the same in all Regions"
_SEARCHED_IN: Final = "AWS Price List, as Infracost, Karpenter and field reports keep it"

# Sources without a date are dated by the day on which they were read.
_OHIO_LIST: Final = "undated public notes from the AWS Price List API"
_OHIO_LIST_DATED: Final = date(2026, 11, 22)
_OHIO_STORAGE: Final = "undated public benchmark, from the AWS Price List API"
_OHIO_STORAGE_DATED: Final = date(2026, 11, 22)

_VIRGINIA: Final = "us-east-1"
_OHIO: Final = "us-east-2"
_CHEAP_TRANSFER: Final = "us-east-1 us-east-2 us-west-2 eu-north-1"

_ROWS: Final[tuple[tuple[PaidService, PriceUnit, str, str, str, date], ...]] = (
    ("alarm", "alarm-month", "0.10", _VIRGINIA, _INFRACOST, date(2024, 7, 1)),
    # The first 10,000 metrics of an account; further ones are cheaper.
    ("custom metric", "metric-month", "0.30", _VIRGINIA, _CLOUDWATCH, date(2026, 2, 1)),
    ("dashboard", "dashboard-month", "3.00", _VIRGINIA, _INFRACOST, date(2024, 7, 1)),
    # The first 10 TB per month to the internet; transfer into AWS is free.
    ("data transfer out", "GB", "0.09", _CHEAP_TRANSFER, _INFRACOST, date(2024, 9, 25)),
    ("data transfer to another Region", "GB", "0.02", _CHEAP_TRANSFER, _INFRACOST, date(2024, 9, 25)),
    ("interface endpoint", "hour", "0.01", _VIRGINIA, _INFRACOST, date(2024, 10, 18)),
    # The first PB per month in a Region.
    ("interface endpoint data", "GB", "0.01", _VIRGINIA, _INFRACOST, date(2024, 10, 18)),
    ("logs ingested", "GB", "0.50", _VIRGINIA, _INFRACOST, date(2024, 7, 1)),
    ("logs stored", "GB-month", "0.03", _VIRGINIA, _INFRACOST, date(2024, 7, 1)),
    ("NAT gateway", "hour", "0.045", _VIRGINIA, _INFRACOST, date(2024, 7, 1)),
    ("NAT gateway data", "GB", "0.045", _VIRGINIA, _INFRACOST, date(2024, 7, 1)),
    # The first 50 TB per month.
    ("S3 Standard storage", "GB-month", "0.023", _VIRGINIA, _INFRACOST, date(2024, 7, 1)),
    ("volume gp3", "GB-month", "0.08", _VIRGINIA, _INFRACOST, date(2024, 7, 1)),
    # Throughput of a volume above 125 MB/s.
    ("volume gp3 throughput", "MB/s-month", "0.04", _VIRGINIA, _INFRACOST, date(2024, 7, 1)),
    ("alarm", "alarm-month", "0.10", _OHIO, _OHIO_LIST, _OHIO_LIST_DATED),
    ("composite alarm", "alarm-month", "0.50", _OHIO, _OHIO_LIST, _OHIO_LIST_DATED),
    ("custom metric", "metric-month", "0.30", _OHIO, _OHIO_LIST, _OHIO_LIST_DATED),
    ("logs ingested", "GB", "0.50", _OHIO, _OHIO_LIST, _OHIO_LIST_DATED),
    ("logs stored", "GB-month", "0.03", _OHIO, _OHIO_LIST, _OHIO_LIST_DATED),
    ("S3 Standard storage", "GB-month", "0.023", _OHIO, _OHIO_STORAGE, _OHIO_STORAGE_DATED),
    ("volume gp3", "GB-month", "0.08", _OHIO, _OHIO_STORAGE, _OHIO_STORAGE_DATED),
)

_UNITS: Final[Mapping[PaidService, PriceUnit]] = MappingProxyType(
    {service: unit for service, unit, *_ in _ROWS}
    | {
        "public IPv4 address": "hour",
        "FSx metadata IOPS": "IOPS-month",
        "FSx Intelligent-Tiering throughput": "MB/s-month",
        "FSx read cache": "GB-month",
        "FSx Intelligent-Tiering data": "GB-month",
        "FSx backups": "GB-month",
    }
)

SERVICE_PRICES: Final[Mapping[tuple[PaidService, str], Price]] = MappingProxyType(
    {
        (service, region): Price(amount=Decimal(amount), unit=unit, source=source, dated=dated)
        for service, unit, amount, regions, source, dated in _ROWS
        for region in regions.split()
    }
)
"""Prices by service and Region."""

_PUBLIC_ADDRESS: Final = Price(
    amount=Decimal("0.005"), unit="hour", source=_ADDRESSES, dated=date(2024, 2, 1)
)


def service_price(service: PaidService, region: str) -> Price:
    """Return the price of one unit of a service; most prices are known for us-east-1 only."""
    if service == "public IPv4 address":
        return _PUBLIC_ADDRESS
    return SERVICE_PRICES.get((service, region)) or unknown_price(
        _UNITS[service], source=_SEARCHED_IN, reason=f"no dated price of {service} in {region}"
    )
