"""What each part of a cluster costs, and which prices are known."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from tests.unit.stacks.cost.estimates import CLUSTER, NODES, SSD, estimate, names

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_stacks.cost import (
    Footprint,
    catalogue_prices,
    compare_with,
)


def test_spot_nodes_are_a_range() -> None:
    spot = replace(NODES, instance_type="trn2.48xlarge", nodes=1, market="spot", reserved=False)
    found = estimate(Footprint(cluster="a", region="us-east-2", supplies=(spot,)), hours=Decimal(10))

    assert names(found)["nodes"].run(found.usage).text() == "89.90 to 153.70"


def test_nodes_used_only_without_room_are_not_summed() -> None:
    on_demand = replace(NODES, name="overflow", market="on-demand", reserved=False)
    reserved = replace(NODES, name="second", market="on-demand")
    found = estimate(replace(CLUSTER, supplies=(NODES, on_demand, reserved)))

    assert [line.name for line in found.if_used] == ["nodes of overflow"]
    assert found.if_used[0].hour.low == 2 * Decimal("21.50")
    assert [line.name for line in found.lines][:2] == ["nodes", "nodes of second"]


def test_compiling_is_paid_once_and_shared_by_the_runs_that_use_it() -> None:
    small = replace(CLUSTER, compile_type="trn1.2xlarge")
    found = estimate(small, compile_hours=Decimal(8), compile_reuse=4, runs_per_month=2)
    compile_ = names(found)["compile"]

    assert compile_.run(found.usage).low == Decimal("2.6875")  # 8 x 1.34375 / 4
    assert compile_.month(found.usage).low == Decimal("5.375")
    assert compile_.hour.low == 0
    on_nodes = names(estimate(compile_hours=Decimal(8)))["compile"]
    assert on_nodes.run(found.usage).low == Decimal("9.532") * 2 * 8 / 4


def test_intelligent_tiering_is_paid_by_throughput_cache_metadata_and_data() -> None:
    tiered = LustreSettings(
        storage_type="INTELLIGENT_TIERING",
        throughput_capacity=8000,
        read_cache="PROPORTIONAL_TO_THROUGHPUT_CAPACITY",
        metadata_iops=6000,
    )
    lines = names(estimate(replace(CLUSTER, file_systems=(tiered,))))

    assert [lines[name].quantity for name in ("file system", "read cache", "metadata IOPS")] == [
        8000,
        40_000,
        6000,
    ]
    assert lines["file system data"].quantity is None


def test_metadata_iops_are_paid_beyond_those_of_the_size() -> None:
    def iops(count: int | None) -> Any:
        settings = replace(SSD, metadata_iops=count)
        return names(estimate(replace(CLUSTER, file_systems=(settings,)))).get("metadata IOPS")

    assert iops(12_000).quantity == 10_500
    assert iops(1500) is None
    assert iops(None) is None


def test_a_nat_gateway_has_an_address_and_pays_for_data() -> None:
    lines = names(estimate(replace(CLUSTER, nat_gateways=1), nat_gb=Decimal(730)))

    assert lines["NAT gateway"].hour.low == Decimal("0.045")
    assert lines["public address"].hour.low == Decimal("0.005")
    assert lines["NAT data"].hour.low.quantize(Decimal("0.000001")) == Decimal("0.045")


def test_counted_requests_cost_at_most_16_custom_metrics() -> None:
    assert names(estimate(replace(CLUSTER, request_metrics=1), custom_metrics=4))["metrics"].quantity == 20
    assert "metrics" not in names(estimate())


def test_graphs_are_compiled_for_neuron_only() -> None:
    own = estimate(compile_hours=Decimal(5))
    rivals = {
        name: compare_with(name, own, prices=catalogue_prices(), throughput_ratio=Decimal(1)).estimate
        for name in ("p5.48xlarge", "trn2.48xlarge")
    }

    assert {name: "compile" in names(found) for name, found in rivals.items() if found} == {
        "p5.48xlarge": False,
        "trn2.48xlarge": True,
    }
