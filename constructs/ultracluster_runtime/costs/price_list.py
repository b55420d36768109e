"""Current prices from the AWS Price List API.

It covers only what known attributes identify (as in Infracost's queries and public readers of the list, read 2026-11): nodes,
file systems, endpoints, NAT gateways, volumes, buckets, alarms, metrics and logs.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_catalog.prices.prices import BillableItem, Price, price_of
from ultracluster_spec.findings import Finding, FindingsError, Severity
from ultracluster_spec.record import RuleRecord

PRICE_LIST_REGION: Final = "us-east-1"  # Region of the Price List API, which covers all Regions


@dataclass(frozen=True, kw_only=True, slots=True)
class _Query:
    """Query for the price of one item."""

    service: str
    filters: Mapping[str, str]  # attributes that a product must have; matched by the API
    optional_attributes: Mapping[str, str]  # attributes that a product must not contradict; matched here
    usage_type: str = ""  # suffix of the usage type, after the prefix of the Region


_NODE: Final = {"tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used"}
_LUSTRE: Final = {"fileSystemType": "Lustre"}
_SERVICES: Final[Mapping[str, _Query]] = MappingProxyType(
    {
        name: _Query(
            service=service,
            filters={"productFamily": family, **more},
            optional_attributes={},
            usage_type=usage_type,
        )
        for name, service, family, usage_type, more in (
            ("interface endpoint", "AmazonVPC", "VpcEndpoint", "VpcEndpoint-Hours", {}),
            ("interface endpoint data", "AmazonVPC", "VpcEndpoint", "VpcEndpoint-Bytes", {}),
            ("NAT gateway", "AmazonEC2", "NAT Gateway", "NatGateway-Hours", {}),
            ("NAT gateway data", "AmazonEC2", "NAT Gateway", "NatGateway-Bytes", {}),
            ("volume gp3", "AmazonEC2", "Storage", "VolumeUsage.gp3", {"volumeApiName": "gp3"}),
            ("alarm", "AmazonCloudWatch", "Alarm", "AlarmMonitorUsage", {"alarmType": "Standard"}),
            ("custom metric", "AmazonCloudWatch", "Metric", "CW:MetricMonitorUsage", {}),
            ("logs ingested", "AmazonCloudWatch", "Data Payload", "DataProcessing-Bytes", {}),
            ("logs stored", "AmazonCloudWatch", "Storage Snapshot", "TimedStorage-ByteHrs", {}),
            (
                "S3 Standard storage",
                "AmazonS3",
                "Storage",
                "TimedStorage-ByteHrs",
                {"volumeType": "Standard"},
            ),
            ("FSx metadata IOPS", "AmazonFSx", "Provisioned IOPS", "", _LUSTRE),
            ("FSx Intelligent-Tiering throughput", "AmazonFSx", "Provisioned Throughput", "", _LUSTRE),
            ("FSx backups", "AmazonFSx", "Storage", "BackupUsage", _LUSTRE),
        )
    }
)
_MARKETS: Final = {"on-demand": "OnDemand", "capacity-block": "CapacityBlock"}


def refuse_unanswered(error: Exception, *, remedy: str) -> FindingsError:
    """Return the refusal (UC9307) because AWS does not return prices or costs."""
    return FindingsError.of("UC9307", str(error), remedy=remedy)


def listed_prices(
    things: Iterable[tuple[BillableItem, str]], *, client: Any
) -> tuple[dict[tuple[BillableItem, str], Price], list[Finding]]:
    """Return current prices, and UC9308 for each item without an unambiguous one, which keeps that of the catalog.

    `client` is one of ``pricing`` in `PRICE_LIST_REGION`; its errors are raised as UC9307.
    """
    prices: dict[tuple[BillableItem, str], Price] = {}
    findings: list[Finding] = []
    for thing, region in dict.fromkeys(things):
        query = _query(thing)
        if query is None:
            continue
        try:
            products = list(_products(query, region, client))
        except (BotoCoreError, ClientError) as error:
            remedy = "The credentials need pricing:GetProducts; omit --live to use the dated prices"
            raise refuse_unanswered(error, remedy=remedy) from error
        amounts = {amount for product in products for amount in _amounts(product)}
        if len(amounts) == 1:
            published = max(str(product["publicationDate"]) for product in products)[:10]
            prices[thing, region] = Price(
                amount=amounts.pop(),
                unit=price_of(thing, region).unit,
                source="AWS Price List API",
                dated=date.fromisoformat(published),
            )
        else:
            count = f"{len(amounts)} different prices" if amounts else "no price"
            problem = f"the Price List API has {count} for {thing.kind} {thing.name} in {region}"
            findings.append(Finding(code="UC9308", problem=problem, remedy="The dated price is used"))
    return prices, findings


def _query(thing: BillableItem) -> _Query | None:
    if thing.kind in _MARKETS:
        filters = {
            "instanceType": thing.name,
            "operatingSystem": "Linux",
            "marketoption": _MARKETS[thing.kind],
        }
        return _Query(service="AmazonEC2", filters=filters, optional_attributes=_NODE)
    if thing.kind == "lustre":
        usage_type = "-Storage" if thing.tier is None else f"Storage.SSD.{thing.tier}"
        filters = {**_LUSTRE, "productFamily": "Storage", "storageType": "SSD"}
        return _Query(service="AmazonFSx", filters=filters, optional_attributes={}, usage_type=usage_type)
    return _SERVICES.get(thing.name) if thing.kind == "service" else None


def _products(query: _Query, region: str, client: Any) -> Iterator[dict[str, Any]]:
    filters = {**query.filters, "regionCode": region}
    pages = client.get_paginator("get_products").paginate(
        ServiceCode=query.service,
        FormatVersion="aws_v1",
        Filters=[{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in filters.items()],
    )
    for page in pages:
        for text in page["PriceList"]:
            product = json.loads(text)
            attributes = product["product"]["attributes"]
            if attributes.get("usagetype", "").endswith(query.usage_type) and all(
                attributes.get(name, value) == value for name, value in query.optional_attributes.items()
            ):
                yield product


def _amounts(product: Mapping[str, Any]) -> Iterator[Decimal]:
    """Yield the prices of the first tier; later tiers are cheaper, and free tiers are separate products."""
    for offer in product["terms"].get("OnDemand", {}).values():
        for dimension in offer["priceDimensions"].values():
            amount = Decimal(dimension["pricePerUnit"].get("USD", "0"))
            if amount > 0 and Decimal(dimension.get("beginRange") or "0") == 0:
                yield amount.normalize()


RECORDS: Final = (
    RuleRecord(
        "UC9307",
        "AWS answers a question about prices and costs.",
        remedy="Allow the call that the finding names, and enable Cost Explorer in the account that pays.",
        source="botocore 1.44.5, Cost Explorer and Price List, 2026.",
    ),
    RuleRecord(
        "UC9308",
        "The Price List API has exactly one price for a requested item.",
        severity=Severity.WARNING,
        remedy="No action is needed: the dated price of the catalogue is used, and its line shows that. Override it with --price.",
        source="AWS Price List API: products are found by attributes, which need not be unique.",
    ),
)
