"""A standing order knows the sizes to search for and its list price."""

from dataclasses import replace
from decimal import Decimal

from tests.unit.ultracluster.builders import STANDING_ORDER

from ultracluster_spec.instance_type import get_instance_type
from ultracluster_spec.standing_order import check_standing_order

TRN2 = get_instance_type("trn2.48xlarge")


def test_the_list_price_is_the_lowest_of_its_regions_and_unknown_if_one_is() -> None:
    assert replace(STANDING_ORDER, regions=("us-east-2", "ap-south-2")).list_price(TRN2) == Decimal("35.7608")
    assert replace(STANDING_ORDER, regions=("us-east-2", "eu-west-1")).list_price(TRN2) is None
    assert STANDING_ORDER.list_price(TRN2) is None


def test_the_cap_counts_for_the_smallest_block() -> None:
    order = replace(STANDING_ORDER, regions=("us-east-2",), at_least=1, max_usd=12_016)
    assert check_standing_order(order, TRN2) == []
    assert [finding.code for finding in check_standing_order(replace(order, max_usd=12_015), TRN2)] == [
        "UC7151"
    ]
