"""Prices of today, from the AWS Price List API.

It is asked only for what can be told apart by attributes that are known (as Infracost's queries use them, read 2026-11): nodes,
endpoints, NAT gateways, volumes, alarms and logs. Not FSx for Lustre, whose attributes no source names.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_catalog.prices.billable_items import BillableItem, price_of
from ultracluster_catalog.prices.prices import Price
from ultracluster_rules.findings import Finding, FindingsError

__all__ = ["PRICE_LIST_REGION", "listed_prices", "refuse_unanswered"]

PRICE_LIST_REGION: Final = "us-east-1"
"""Where the API is; it knows the prices of all Regions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Question:
    """What to ask for one thing.

    Attributes:
        service: Code of the service.
        filters: Attributes that a product must have; the API compares them.
        also: Attributes that it must have where it has them at all; compared here.
        usage_type: How its usage type ends, behind the prefix of the Region.
    """

    service: str
    filters: Mapping[str, str]
    also: Mapping[str, str]
    usage_type: str = ""


_NODE: Final = {"tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used"}
_SERVICES: Final[Mapping[str, _Question]] = MappingProxyType(
    {
        name: _Question(service=service, filters=filters, also={}, usage_type=usage_type)
        for name, service, filters, usage_type in (
            ("interface endpoint", "AmazonVPC", {"productFamily": "VpcEndpoint"}, "VpcEndpoint-Hours"),
            ("interface endpoint data", "AmazonVPC", {"productFamily": "VpcEndpoint"}, "VpcEndpoint-Bytes"),
            ("NAT gateway", "AmazonEC2", {"productFamily": "NAT Gateway"}, "NatGateway-Hours"),
            ("NAT gateway data", "AmazonEC2", {"productFamily": "NAT Gateway"}, "NatGateway-Bytes"),
            (
                "volume gp3",
                "AmazonEC2",
                {"productFamily": "Storage", "volumeApiName": "gp3"},
                "VolumeUsage.gp3",
            ),
            (
                "alarm",
                "AmazonCloudWatch",
                {"productFamily": "Alarm", "alarmType": "Standard"},
                "AlarmMonitorUsage",
            ),
            ("logs ingested", "AmazonCloudWatch", {"productFamily": "Data Payload"}, "DataProcessing-Bytes"),
        )
    }
)
_MARKETS: Final = {"on-demand": "OnDemand", "capacity-block": "CapacityBlock"}


def refuse_unanswered(error: Exception, *, remedy: str) -> FindingsError:
    """Return the refusal (UC9307) because AWS does not tell prices or costs.

    Args:
        error: The error of boto3.
        remedy: What to do.
    """
    return FindingsError([Finding(code="UC9307", problem=str(error), remedy=remedy)])


def listed_prices(
    things: Iterable[tuple[BillableItem, str]], *, client: Any
) -> tuple[dict[tuple[BillableItem, str], Price], list[Finding]]:
    """Ask for prices of today; what the API does not tell unambiguously keeps the price of the catalogue.

    Args:
        things: What to ask for, each with its Region.
        client: A boto3 client of ``pricing`` in `PRICE_LIST_REGION`.

    Returns:
        The prices, and UC9308 for each thing that was asked for in vain.

    Raises:
        FindingsError: If AWS does not answer (UC9307).
    """
    found: dict[tuple[BillableItem, str], Price] = {}
    findings: list[Finding] = []
    for thing, region in dict.fromkeys(things):
        question = _question(thing)
        if question is None:
            continue
        try:
            products = list(_products(question, region, client))
        except (BotoCoreError, ClientError) as error:
            remedy = "The credentials need pricing:GetProducts; leave --live out to use the dated prices"
            raise refuse_unanswered(error, remedy=remedy) from error
        amounts = {amount for product in products for amount in _amounts(product)}
        if len(amounts) == 1:
            published = max(str(product["publicationDate"]) for product in products)[:10]
            found[thing, region] = Price(
                amount=amounts.pop(),
                unit=price_of(thing, region).unit,
                source="AWS Price List API",
                dated=date.fromisoformat(published),
            )
        else:
            count = f"{len(amounts)} different prices" if amounts else "no price"
            problem = f"the Price List API has {count} of {thing.kind} {thing.name} in {region}"
            findings.append(Finding(code="UC9308", problem=problem, remedy="The dated price stays"))
    return found, findings


def _question(thing: BillableItem) -> _Question | None:
    if thing.kind in _MARKETS:
        filters = {
            "instanceType": thing.name,
            "operatingSystem": "Linux",
            "marketoption": _MARKETS[thing.kind],
        }
        return _Question(service="AmazonEC2", filters=filters, also=_NODE)
    return _SERVICES.get(thing.name) if thing.kind == "service" else None


def _products(question: _Question, region: str, client: Any) -> Iterator[dict[str, Any]]:
    filters = {**question.filters, "regionCode": region}
    pages = client.get_paginator("get_products").paginate(
        ServiceCode=question.service,
        FormatVersion="aws_v1",
        Filters=[{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in filters.items()],
    )
    for page in pages:
        for text in page["PriceList"]:
            product = json.loads(text)
            attributes = product["product"]["attributes"]
            if attributes.get("usagetype", "").endswith(question.usage_type) and all(
                attributes.get(name, value) == value for name, value in question.also.items()
            ):
                yield product


def _amounts(product: Mapping[str, Any]) -> Iterator[Decimal]:
    """The prices of the first unit; later tiers are cheaper, and what is free by the letter is another product."""
    for offer in product["terms"].get("OnDemand", {}).values():
        for dimension in offer["priceDimensions"].values():
            amount = Decimal(dimension["pricePerUnit"].get("USD", "0"))
            if amount > 0 and Decimal(dimension.get("beginRange") or "0") == 0:
                yield amount.normalize()
