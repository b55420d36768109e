"""Every service has a price with its date, or a reason why none is known."""

from decimal import Decimal

from ultracluster_catalog.prices.prices import PAID_SERVICES, PRICE_TABLE, Price, service_price


def _unknown(price: Price) -> bool:
    assert (price.amount is None) == bool(price.reason)
    return price.amount is None


def test_every_service_has_a_unit_and_a_price_with_its_date_or_a_reason() -> None:
    for service in PAID_SERVICES:
        here, elsewhere = service_price(service, "us-east-1"), service_price(service, "ap-southeast-4")
        assert here.unit == elsewhere.unit
        assert not _unknown(elsewhere) or service in elsewhere.reason
        assert _unknown(here) or here.amount
    assert {item.name for item, _ in PRICE_TABLE if item.kind == "service"} < set(PAID_SERVICES)
    assert service_price("NAT gateway", "us-east-1").amount == Decimal("0.045")
