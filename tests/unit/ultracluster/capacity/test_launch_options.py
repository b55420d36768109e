"""What the launch template of nodes says about their capacity."""

import pytest

from ultracluster import CapacityBlock, CapacityReservation, OnDemand, Spot
from ultracluster.capacity.launch_options import market_options, node_tags, reservation_target
from ultracluster_catalog.names.cluster_tag import RESERVATION_TAG

pytestmark = pytest.mark.slow

ID = "cr-0123456789abcdef0"


def test_a_block_names_its_market_type_and_its_target_together() -> None:
    block = CapacityBlock(reservation_id=ID, zone_id="use2-az3")
    market, target = market_options(block, by_batch=True), reservation_target(block)
    assert market is not None
    assert target is not None
    assert market.market_type == "capacity-block"
    assert target.capacity_reservation_target.capacity_reservation_id == ID


def test_a_reservation_is_targeted_on_demand_capacity() -> None:
    reservation = CapacityReservation(reservation_id=ID, zone_id="use2-az3")
    target = reservation_target(reservation)
    assert market_options(reservation, by_batch=True) is None
    assert target is not None
    assert target.capacity_reservation_target.capacity_reservation_id == ID


def test_spot_nodes_name_their_market_where_batch_does_not_start_them() -> None:
    assert market_options(Spot(), by_batch=True) is None
    market = market_options(Spot(), by_batch=False)
    assert market is not None
    assert market.market_type == "spot"


def test_nodes_of_one_reservation_carry_its_id() -> None:
    assert node_tags(CapacityBlock(reservation_id=ID, zone_id="use2-az3")) == {RESERVATION_TAG: ID}
    assert node_tags(OnDemand()) == {}
    assert reservation_target(None) is None
