"""An item of the bill has the price of its kind."""

import pytest

from ultracluster_catalog.prices.billable_items import BillableItem, price_of
from ultracluster_catalog.prices.prices import (
    Price,
    capacity_block_price,
    lustre_storage_price,
    on_demand_price,
    spot_price,
)
from ultracluster_catalog.prices.service_prices import service_price

REGION = "us-east-1"


@pytest.mark.parametrize(
    ("item", "price"),
    [
        (
            BillableItem(kind="capacity-block", name="trn1.32xlarge"),
            capacity_block_price("trn1.32xlarge", REGION),
        ),
        (BillableItem(kind="on-demand", name="trn1.32xlarge"), on_demand_price("trn1.32xlarge", REGION)),
        (BillableItem(kind="spot", name="trn1.32xlarge"), spot_price("trn1.32xlarge", REGION)),
        (
            BillableItem(kind="lustre", name="PERSISTENT_2", tier=250),
            lustre_storage_price("PERSISTENT_2", 250, REGION),
        ),
        (
            BillableItem(kind="service", name="public IPv4 address"),
            service_price("public IPv4 address", REGION),
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, BillableItem) else "",
)
def test_an_item_has_the_price_of_its_kind(item: BillableItem, price: Price) -> None:
    assert price_of(item, REGION) == price
