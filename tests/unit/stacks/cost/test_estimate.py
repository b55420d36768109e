from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.prices.billable_items import BillableItem
from ultracluster_catalog.prices.prices import Price
from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.cost import (
    Estimate,
    Footprint,
    NodeSupply,
    Usage,
    catalogue_prices,
    compare_with,
    estimate_cost,
)

NODES = NodeSupply(
    name="",
    instance_type="trn1.32xlarge",
    nodes=2,
    market="capacity-block",
    reserved=True,
    volume_gib=200,
    volume_mb_per_s=500,
)
SSD = LustreSettings(storage_capacity_gib=1200, per_unit_storage_throughput=125)
CLUSTER = Footprint(
    cluster="train",
    region="us-east-1",
    supplies=(NODES,),
    file_systems=(SSD,),
    buckets=2,
    interface_endpoints=9,
    alarms=1,
)


def usd(amount: str) -> Price:
    return Price(amount=Decimal(amount), unit="hour", source="given", dated=date(2026, 11, 1))


def estimate(footprint: Footprint = CLUSTER, *, given: Any = None, **usage: Any) -> Estimate:
    planned = Usage(**{"hours": Decimal(24), **usage})
    return estimate_cost(footprint, usage=planned, prices=catalogue_prices(), given=given)


def names(found: Estimate) -> dict[str, Any]:
    return {line.name: line for line in found.lines}


def test_every_line_of_a_day_is_what_a_calculation_by_hand_says() -> None:
    found = estimate(stored_gb=Decimal(1000), logs_gb=Decimal(10))

    by_hand = {
        "nodes": "457.54",  # 2 x 9.532 x 24
        "volumes": "1.05",  # 2 x 200 x 0.08 / 730 x 24
        "volume throughput": "0.99",  # 2 x 375 x 0.04 / 730 x 24
        "file system": "5.72",  # 1200 x 0.145 / 730 x 24
        "buckets": "0.76",  # 1000 x 0.023 / 730 x 24
        "endpoints": "2.16",  # 9 x 0.01 x 24
        "alarms": "0.00",  # 0.10 / 730 x 24
        "logs": "0.16",  # 10 x 0.50 / 730 x 24
        "logs kept": "0.03",  # 30 x 0.03 / 730 x 24
    }
    assert {line.name: line.run(found.usage).text() for line in found.lines if line.quantity} == by_hand
    assert found.run.text() == "468.41"
    assert found.run.without == ("endpoint data",)


def test_a_month_has_nodes_in_the_hours_of_its_runs_and_all_else_at_all_times() -> None:
    found = estimate(runs_per_month=3)
    lines = names(found)

    assert lines["nodes"].month(found.usage).low == 2 * Decimal("9.532") * 72
    assert lines["endpoints"].month(found.usage).text() == "65.70"
    assert lines["file system"].month(found.usage).text() == "174.00"


def test_nodes_of_a_run_that_is_longer_than_a_month_are_paid_for_a_month() -> None:
    found = estimate(hours=Decimal(1000))

    assert names(found)["nodes"].month(found.usage).low == 2 * Decimal("9.532") * 730
    assert names(found)["nodes"].run(found.usage).low == 2 * Decimal("9.532") * 1000


def test_an_hour_without_a_run_still_costs_what_stands() -> None:
    found = estimate()

    assert found.idle_hour.text() == "0.33"  # 1200 x 0.145 / 730 + 9 x 0.01 + 0.10 / 730
    assert found.hour.low - found.idle_hour.low > 2 * Decimal("9.532")


def test_a_million_tokens_cost_the_run_over_the_tokens_of_the_run() -> None:
    found = estimate(tokens_per_second=Decimal(100_000))

    assert found.million_tokens is not None
    assert found.million_tokens.low == found.run.low * (1_000_000 / (Decimal(100_000) * 3600 * 24))
    assert estimate().million_tokens is None


def test_a_price_that_nobody_dated_is_named_and_is_no_zero() -> None:
    fast = replace(CLUSTER, file_systems=(replace(SSD, per_unit_storage_throughput=250),))
    found = estimate(fast)

    assert "file system" in found.run.without
    assert names(found)["file system"].run(found.usage).text() == "not known"
    assert found.run.low < estimate().run.low


def test_an_unknown_price_of_the_nodes_leaves_nothing_that_looks_like_a_bill() -> None:
    elsewhere = replace(CLUSTER, region="eu-south-2", file_systems=(), interface_endpoints=0, alarms=0)

    assert estimate(elsewhere).hour.text() == "not known"


def test_a_price_that_is_given_wins_and_keeps_the_unit_of_its_line() -> None:
    fast = replace(CLUSTER, file_systems=(replace(SSD, per_unit_storage_throughput=250),))
    found = names(estimate(fast, given={"file system": usd("0.21")}))["file system"]

    assert (found.price.unit, found.price.source) == ("GB-month", "given")
    assert found.month(Usage(hours=Decimal(1))).low.quantize(Decimal("0.01")) == Decimal("252.00")


def test_a_fallback_region_stands_in_and_says_so() -> None:
    ohio = replace(CLUSTER, region="us-east-2")
    prices = catalogue_prices(fallback_region="us-east-1")
    found = names(estimate_cost(ohio, usage=Usage(hours=Decimal(1)), prices=prices))

    assert found["endpoints"].price.source.endswith("price of us-east-1, not of us-east-2")
    assert "us-east-1" not in found["nodes"].price.source
    assert names(estimate(ohio))["endpoints"].price.bounds is None


def test_newer_prices_win_over_the_catalogue() -> None:
    thing = BillableItem(kind="capacity-block", name="trn1.32xlarge")
    prices = catalogue_prices(known={(thing, "us-east-1"): usd("10")})

    assert prices(thing, "us-east-1").amount == 10
    assert prices(thing, "us-east-2").amount == Decimal("9.532")


def test_spot_nodes_are_a_range() -> None:
    spot = replace(NODES, instance_type="trn2.48xlarge", nodes=1, market="spot", reserved=False)
    found = estimate(Footprint(cluster="a", region="us-east-2", supplies=(spot,)), hours=Decimal(10))

    assert names(found)["nodes"].run(found.usage).text() == "89.90 to 153.70"


def test_nodes_for_when_there_is_no_room_are_in_no_sum() -> None:
    on_demand = replace(NODES, name="overflow", market="on-demand", reserved=False)
    reserved = replace(NODES, name="second", market="on-demand")
    found = estimate(replace(CLUSTER, supplies=(NODES, on_demand, reserved)))

    assert [line.name for line in found.if_used] == ["nodes of overflow"]
    assert found.if_used[0].hour.low == 2 * Decimal("21.50")
    assert [line.name for line in found.lines][:2] == ["nodes", "nodes of second"]


def test_hours_of_a_savings_plan_are_paid_in_the_whole_month() -> None:
    on_demand = replace(CLUSTER, supplies=(replace(NODES, market="on-demand"),))
    found = estimate(on_demand, savings_plan_rate=usd("12"))

    assert names(found)["nodes"].run(found.usage).low == 2 * 12 * 24
    assert names(found)["nodes"].month(found.usage).text() == "17,520.00"
    assert "Savings Plan" in names(found)["nodes"].what
    block = names(estimate(savings_plan_rate=usd("12")))["nodes"]
    assert block.price.amount == Decimal("9.532")  # it does not apply to Capacity Blocks


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


def test_the_same_run_on_another_type_ends_earlier_by_the_ratio_that_was_measured() -> None:
    own = estimate(tokens_per_second=Decimal(1000))
    alternative = compare_with("p5.48xlarge", own, prices=catalogue_prices(), throughput_ratio=Decimal(3))

    assert alternative.price.amount == Decimal("41.528")
    assert (alternative.chips_per_node, alternative.own_chips_per_node) == (8, 16)
    assert alternative.estimate is not None
    assert alternative.estimate.usage.hours == 8
    assert (
        names(alternative.estimate)["nodes"].run(alternative.estimate.usage).low == 2 * Decimal("41.528") * 8
    )
    assert alternative.estimate.million_tokens is not None
    assert own.million_tokens is not None
    tokens = Decimal(1000) * 3600 * 24 / 1_000_000
    assert alternative.estimate.million_tokens.low == pytest.approx(alternative.estimate.run.low / tokens)


def test_without_a_measured_ratio_only_prices_are_compared() -> None:
    alternative = compare_with("p5.48xlarge", estimate(), prices=catalogue_prices(), throughput_ratio=None)

    assert alternative.estimate is None


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


def test_refuses_an_alternative_that_the_catalogue_does_not_know() -> None:
    with pytest.raises(FindingsError, match="UC4001"):
        compare_with("p9.48xlarge", estimate(), prices=catalogue_prices(), throughput_ratio=None)
