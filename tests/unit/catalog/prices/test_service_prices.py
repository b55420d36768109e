"""Every service has a price with its date, or a reason why none is known."""

from decimal import Decimal

from ultracluster_catalog.prices.prices import (
    Price,
)
from ultracluster_catalog.prices.service_prices import PAID_SERVICES, SERVICE_PRICES, service_price


def _unknown(price: Price) -> bool:
    assert (price.amount is None) == bool(price.reason)
    return price.amount is None


def test_every_service_has_a_unit_and_a_price_with_its_date_or_a_reason() -> None:
    for service in PAID_SERVICES:
        here, elsewhere = service_price(service, "us-east-1"), service_price(service, "ap-southeast-4")
        assert here.unit == elsewhere.unit
        assert service == "public IPv4 address" or (_unknown(elsewhere) and service in elsewhere.reason)
        assert _unknown(here) or here.amount
    assert {service for service, _ in SERVICE_PRICES} < set(PAID_SERVICES)
    assert service_price("NAT gateway", "us-east-1").amount == Decimal("0.045")
