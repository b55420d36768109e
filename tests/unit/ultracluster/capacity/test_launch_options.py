"""What the launch template of nodes says about their capacity."""

import pytest

from ultracluster import Spot
from ultracluster.capacity.launch_options import market_options

pytestmark = pytest.mark.slow


def test_spot_nodes_name_their_market_where_batch_does_not_start_them() -> None:
    assert market_options(Spot(), by_batch=True) is None
    market = market_options(Spot(), by_batch=False)
    assert market is not None
    assert market.market_type == "spot"
