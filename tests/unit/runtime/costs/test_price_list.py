"""Responses are written by hand after botocore's model and AWS's documented format of a price list, not recorded."""

import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.stubbed_clients import StubbedAws

from ultracluster_catalog.prices.prices import BillableItem
from ultracluster_runtime.costs.price_list import listed_prices
from ultracluster_spec.findings import FindingsError

TRN1 = BillableItem(kind="on-demand", name="trn1.32xlarge")
BLOCK = BillableItem(kind="capacity-block", name="trn2.48xlarge")
NAT = BillableItem(kind="service", name="NAT gateway")
LUSTRE = BillableItem(kind="lustre", name="PERSISTENT_2", tier=250)
NODE = {"tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used", "usagetype": "USE2-BoxUsage:x"}


def product(
    *amounts: str, published: str = "2026-11-18T00:00:00Z", free: bool = False, **attributes: str
) -> str:
    """A product of a price list with one price for each tier of 10 units."""
    dimensions = {
        f"SKU.TERM.{n}": {
            "unit": "Hrs",
            "beginRange": str(n * 10),
            "pricePerUnit": {"USD": amount},
        }
        for n, amount in enumerate(amounts)
    }
    if free:
        dimensions["SKU.TERM.free"] = {
            "unit": "Hrs",
            "beginRange": "0",
            "pricePerUnit": {"USD": "0.0000000000"},
        }
    return json.dumps(
        {
            "product": {"sku": "SKU", "attributes": attributes},
            "terms": {"OnDemand": {"SKU.TERM": {"priceDimensions": dimensions}}},
            "publicationDate": published,
        }
    )


def says(
    aws: StubbedAws,
    *products: str,
    service: str = "AmazonEC2",
    token: str = "",
    given: str = "",
    **asked: str,
) -> None:
    expected: dict[str, Any] = {
        "ServiceCode": service,
        "FormatVersion": "aws_v1",
        "Filters": [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in asked.items()],
    }
    if given:
        expected["NextToken"] = given
    answer: dict[str, Any] = {"FormatVersion": "aws_v1", "PriceList": list(products)}
    aws.answer("pricing", "get_products", answer | ({"NextToken": token} if token else {}), expected)


def test_takes_the_price_of_a_node_by_type_region_and_way_of_buying(aws: StubbedAws) -> None:
    asked = {"instanceType": "trn1.32xlarge", "operatingSystem": "Linux", "marketoption": "OnDemand"}
    dedicated = product("30", **NODE | {"tenancy": "Dedicated"})
    says(aws, dedicated, product("21.5000000000", **NODE), **asked, regionCode="us-east-2")

    found, findings = listed_prices([(TRN1, "us-east-2")] * 2, client=aws.client("pricing"))

    price = found[TRN1, "us-east-2"]
    assert (price.amount, price.unit) == (Decimal("21.5"), "instance-hour")
    assert (price.source, price.dated) == ("AWS Price List API", date(2026, 11, 18))
    assert findings == []


def test_a_block_is_asked_for_by_its_own_market_option(aws: StubbedAws) -> None:
    asked = {"instanceType": "trn2.48xlarge", "operatingSystem": "Linux", "marketoption": "CapacityBlock"}
    says(aws, product("35.7608", usagetype="USE2-Reservation:x"), **asked, regionCode="us-east-2")

    found, _ = listed_prices([(BLOCK, "us-east-2")], client=aws.client("pricing"))

    assert found[BLOCK, "us-east-2"].amount == Decimal("35.7608")


def test_a_service_is_identified_by_its_usage_type_on_all_pages_and_its_first_tier(aws: StubbedAws) -> None:
    asked = {"productFamily": "NAT Gateway", "regionCode": "us-east-2"}
    hours, data = "USE2-NatGateway-Hours", "USE2-NatGateway-Bytes"
    says(aws, product("0.09", usagetype=data), token="more", **asked)
    says(aws, product("0.045", "0.04", usagetype=hours, free=True), given="more", **asked)

    found, _ = listed_prices([(NAT, "us-east-2")], client=aws.client("pricing"))

    assert found[NAT, "us-east-2"].amount == Decimal("0.045")


@pytest.mark.parametrize(
    ("products", "said"),
    [
        ([], "no price"),
        (
            [
                product("0.045", usagetype="x-NatGateway-Hours"),
                product("0.05", usagetype="y-NatGateway-Hours"),
            ],
            "2 different",
        ),
    ],
)
def test_ambiguous_prices_keep_the_price_of_the_catalog(
    aws: StubbedAws, products: list[str], said: str
) -> None:
    says(aws, *products, productFamily="NAT Gateway", regionCode="us-east-2")

    found, findings = listed_prices([(NAT, "us-east-2")], client=aws.client("pricing"))

    assert found == {}
    assert [each.code for each in findings] == ["UC9308"]
    assert said in findings[0].problem


def test_a_price_without_a_range_is_of_the_first_tier(aws: StubbedAws) -> None:
    listed = product("0.045", usagetype="x-NatGateway-Hours").replace('"beginRange": "0", ', "")
    assert "beginRange" not in listed
    says(aws, listed, productFamily="NAT Gateway", regionCode="us-east-2")

    found, _ = listed_prices([(NAT, "us-east-2")], client=aws.client("pricing"))

    assert found[NAT, "us-east-2"].amount == Decimal("0.045")


@pytest.mark.parametrize(
    ("item", "usage_type"),
    [(LUSTRE, "USE2-Storage.SSD.250"), (BillableItem(kind="lustre", name="SCRATCH_2"), "USE2-Storage")],
)
def test_a_file_system_is_identified_by_its_tier(
    aws: StubbedAws, item: BillableItem, usage_type: str
) -> None:
    asked = {"fileSystemType": "Lustre", "productFamily": "Storage", "storageType": "SSD"}
    others = ("USE2-Storage.SSD.125", "USE2-Storage.SSD.1000", "USE2-Storage.SSD.250", "USE2-Storage")
    products = [product("0.21" if each == usage_type else "9", usagetype=each) for each in others]
    says(aws, *products, service="AmazonFSx", **asked, regionCode="us-east-2")

    found, _ = listed_prices([(item, "us-east-2")], client=aws.client("pricing"))

    assert found[item, "us-east-2"].amount == Decimal("0.21")


def test_items_without_known_attributes_are_not_queried(aws: StubbedAws) -> None:
    cache = BillableItem(kind="service", name="FSx read cache")

    assert listed_prices([(cache, "us-east-2")], client=aws.client("pricing")) == ({}, [])


def test_an_error_of_aws_is_a_finding(aws: StubbedAws) -> None:
    aws.refuse("pricing", "get_products", "AccessDeniedException")

    with pytest.raises(FindingsError, match="UC9307") as refused:
        listed_prices([(NAT, "us-east-2")], client=aws.client("pricing"))
    assert "pricing:GetProducts" in str(refused.value)
