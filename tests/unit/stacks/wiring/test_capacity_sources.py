"""Sources of capacity are those of the rollout."""

from pathlib import Path

import pytest
from tests.unit.stacks.conftest import QUICKSTART
from tests.unit.stacks.two_clusters import templates

pytestmark = pytest.mark.slow


def test_on_demand_capacity_and_reservations_are_deployed_as_asked(tmp_path: Path) -> None:
    text = QUICKSTART.read_text()
    on_demand = tmp_path / "on-demand.yaml"
    on_demand.write_text(
        text.replace("market_type: capacity-block", "market_type: on-demand")
        .replace("reservation_id: cr-0123456789abcdef0", "")
        .replace("          # REPLACE", "          # ")
    )
    cluster = templates(on_demand)["quickstart-us-east-2-Cluster"]
    assert "AWS::EC2::PlacementGroup" in cluster
    assert "CapacityReservationTarget" not in cluster
    reserved = tmp_path / "reserved.yaml"
    strategy = "market_type: on-demand\n          allocation_strategy: best-fit"
    reserved.write_text(text.replace("market_type: capacity-block", strategy))
    cluster = templates(reserved)["quickstart-us-east-2-Cluster"]
    assert "CapacityReservationTarget" in cluster
    assert "InstanceMarketOptions" not in cluster
    assert '"AllocationStrategy": "BEST_FIT"' in cluster
