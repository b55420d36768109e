"""What a rollout costs, what the same run costs on another instance type, and how two estimates differ."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.golden.configurations import NEXT, configurations
from tests.golden.synthesis import stacks_of
from tests.unit.stacks.cost.estimates import CLUSTER, NODES, SSD, estimate, names

from ultracluster_catalog.capacity.capacity_blocks import BLOCK_REGIONS, block_regions
from ultracluster_catalog.places.zones import REGIONS, ZONE_ID_PREFIXES, offered_zones
from ultracluster_catalog.prices.prices import BillableItem, Price
from ultracluster_cli.project.project_files import ProjectAnswers, write_project
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.cost import (
    CostDifference,
    Footprint,
    Usage,
    catalogue_prices,
    compare_with,
    configured_footprint,
    cost_differences,
    estimate_cost,
    template_footprint,
)
from ultracluster_stacks.plan import StackTemplate

PUBLISHED = sorted(name for name, path in configurations().items() if path.parent != NEXT)


def usd(amount: str) -> Price:
    return Price(amount=Decimal(amount), unit="hour", source="given", dated=date(2026, 11, 1))


def test_every_line_of_a_day_matches_a_calculation_by_hand() -> None:
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


def test_a_million_tokens_cost_the_run_over_the_tokens_of_the_run() -> None:
    found = estimate(tokens_per_second=Decimal(100_000))

    assert found.million_tokens is not None
    assert found.million_tokens.low == found.run.low * (1_000_000 / (Decimal(100_000) * 3600 * 24))
    assert estimate().million_tokens is None


def test_a_price_without_a_date_is_listed_and_not_counted_as_zero() -> None:
    slow = replace(CLUSTER, file_systems=(replace(SSD, per_unit_storage_throughput=50),))
    found = estimate(slow)

    assert "file system" in found.run.without
    assert names(found)["file system"].run(found.usage).text() == "not known"
    assert found.run.low < estimate().run.low


def test_an_unknown_price_of_the_nodes_leaves_nothing_that_looks_like_a_bill() -> None:
    unpriced = replace(NODES, instance_type="trn2u.48xlarge", market="on-demand", reserved=False)
    found = estimate(replace(CLUSTER, supplies=(unpriced,), file_systems=(), interface_endpoints=0, alarms=0))

    assert names(found)["nodes"].hour.text() == "not known"
    assert "nodes" in found.hour.without


def test_a_price_of_the_user_wins_and_keeps_the_unit_of_its_line() -> None:
    fast = replace(CLUSTER, file_systems=(replace(SSD, per_unit_storage_throughput=250),))
    found = names(estimate(fast, given={"file system": usd("0.21")}))["file system"]

    assert (found.price.unit, found.price.source) == ("GB-month", "given")
    assert found.month(Usage(hours=Decimal(1))).low.quantize(Decimal("0.01")) == Decimal("252.00")


def test_a_region_without_a_price_takes_that_of_the_nearest_and_says_so() -> None:
    oregon = names(estimate(replace(CLUSTER, region="us-west-2")))

    assert oregon["volumes"].price.borrowed_from == "us-east-1"
    assert oregon["volumes"].month(Usage(hours=Decimal(730))).text() == "≈ 32.00"
    assert oregon["endpoints"].price.borrowed_from == ""
    assert estimate(replace(CLUSTER, region="us-west-2")).run.text().startswith("≈ ")
    assert not estimate().run.approximate


def test_another_region_than_the_nearest_can_be_named() -> None:
    block = BillableItem(kind="capacity-block", name="p5.48xlarge")
    prices = catalogue_prices(fallback_region="us-west-1")

    assert prices(block, "eu-south-2").borrowed_from == "us-west-1"
    assert catalogue_prices()(block, "eu-south-2").borrowed_from.startswith("eu-")
    assert prices(block, "us-east-2").borrowed_from == ""


def test_newer_prices_win_over_the_catalogue() -> None:
    thing = BillableItem(kind="capacity-block", name="trn1.32xlarge")
    prices = catalogue_prices(known={(thing, "us-east-1"): usd("10")})

    assert prices(thing, "us-east-1").amount == 10
    assert prices(thing, "us-east-2").amount == Decimal("9.532")


def test_hours_of_a_savings_plan_are_paid_in_the_whole_month() -> None:
    on_demand = replace(CLUSTER, supplies=(replace(NODES, market="on-demand"),))
    found = estimate(on_demand, savings_plan_rate=usd("12"))

    assert names(found)["nodes"].run(found.usage).low == 2 * 12 * 24
    assert names(found)["nodes"].month(found.usage).text() == "17,520.00"
    assert "Savings Plan" in names(found)["nodes"].what
    block = names(estimate(savings_plan_rate=usd("12")))["nodes"]
    assert block.price.amount == Decimal("9.532")  # it does not apply to Capacity Blocks


def footprints(name: str) -> Iterator[Footprint]:
    stacks = stacks_of(name)
    for cluster in sorted({stack.cluster for stack in stacks}):
        yield template_footprint(cluster, [stack for stack in stacks if stack.cluster == cluster])


def test_rollouts_and_examples_are_among_what_is_priced() -> None:
    assert {"quickstart.yaml", "two-waves.yaml", "jobs.yaml", "own-app.py"} <= set(PUBLISHED)


# A job definition costs nothing, and its queue is that of another app.
JOBS_ALONE = {"research-jobs.py"}


PREFIXES = {region: prefix for prefix, region in ZONE_ID_PREFIXES.items()}


def unpriced(priced: Iterable[Footprint]) -> tuple[int, list[tuple[str, str]]]:
    """How many lines the bills of all Regions have, and those without a price."""
    lines = [
        (region, line)
        for footprint in priced
        for region in REGIONS
        for estimate in [
            estimate_cost(
                replace(footprint, region=region), usage=Usage(hours=Decimal(24)), prices=catalogue_prices()
            )
        ]
        for line in (*estimate.lines, *estimate.if_used)
    ]
    return len(lines), [(region, line.what) for region, line in lines if line.price.bounds is None]


@pytest.mark.parametrize("name", PUBLISHED)
def test_no_price_is_unknown_in_any_region(name: str) -> None:
    lines, unknown = unpriced(footprints(name))

    assert lines >= len(REGIONS) or name in JOBS_ALONE
    assert unknown == []


@pytest.mark.parametrize("instance_type", sorted(name for name in BLOCK_REGIONS if block_regions(name)))
def test_no_price_of_a_project_that_init_writes_is_unknown_in_any_region(
    instance_type: str, tmp_path: Path
) -> None:
    region = block_regions(instance_type)[0]
    zone_id = next(iter(offered_zones(instance_type, region)), f"{PREFIXES[region]}-az1")
    answers = ProjectAnswers(
        name="mine", region=region, zone_id=zone_id, instance_type=instance_type, nodes=4, launched_by="batch"
    )
    write_project(tmp_path / "mine", answers)
    (cluster,) = load_rollout(tmp_path / "mine" / "rollout.yaml", deployable=False).config.clusters()

    lines, unknown = unpriced([configured_footprint(cluster)])

    assert lines > 10 * len(REGIONS)
    assert unknown == []


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


def test_prices_that_were_given_count_except_those_of_the_nodes() -> None:
    own = estimate()

    given = {
        name: replace(line.price, amount=Decimal(7)) for name, line in names(own).items() if line.price.amount
    }

    found = compare_with(
        "p5.48xlarge", own, prices=catalogue_prices(), throughput_ratio=Decimal(1), given=given
    )

    assert found.estimate is not None
    lines = names(found.estimate)
    assert {name for name in given if lines[name].price.amount != 7} == {
        name for name in given if name.startswith("nodes")
    }
    assert lines["nodes"].price.amount == Decimal("41.528")


def test_without_a_measured_ratio_only_prices_are_compared() -> None:
    alternative = compare_with("p5.48xlarge", estimate(), prices=catalogue_prices(), throughput_ratio=None)

    assert alternative.estimate is None


def test_refuses_an_alternative_that_the_catalogue_does_not_know() -> None:
    with pytest.raises(FindingsError, match="UC4001"):
        compare_with("p9.48xlarge", estimate(), prices=catalogue_prices(), throughput_ratio=None)


def stack(*, nodes: int = 2, gib: int = 1200, tier: int = 125, endpoints: int = 9) -> StackTemplate:
    def resource(resource_type: str, **properties: Any) -> dict[str, Any]:
        return {"Type": resource_type, "Properties": properties}

    launch = {"InstanceType": "trn1.32xlarge", "InstanceMarketOptions": {"MarketType": "capacity-block"}}
    compute = {
        "MaxvCpus": nodes * 128,
        "LaunchTemplate": {"LaunchTemplateId": {"Ref": "Nodes"}},
        "Type": "EC2",
    }
    lustre = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": tier}
    resources = {
        "Nodes": resource("AWS::EC2::LaunchTemplate", LaunchTemplateData=launch),
        "Environment": resource("AWS::Batch::ComputeEnvironment", ComputeResources=compute),
        "Files": resource("AWS::FSx::FileSystem", StorageCapacity=gib, LustreConfiguration=lustre),
        **{
            f"Endpoint{n}": resource("AWS::EC2::VPCEndpoint", VpcEndpointType="Interface", SubnetIds=["s"])
            for n in range(endpoints)
        },
    }
    return StackTemplate(cluster="a", name="a-all", region="us-east-1", template={"Resources": resources})


def difference(before: list[StackTemplate], after: list[StackTemplate]) -> CostDifference:
    (found,) = cost_differences(before, after, prices=catalogue_prices())
    return found


def test_more_nodes_cost_more_by_the_hour_and_nothing_while_they_do_not_run() -> None:
    found = difference([stack()], [stack(nodes=3)])

    assert found.node_hour.low == Decimal("9.532")
    assert found.idle_month.text() == "0.00"


def test_what_goes_is_taken_off_the_bill() -> None:
    found = difference([stack(gib=2400)], [stack(endpoints=8)])

    assert found.idle_month.text() == "-181.30"  # 1200 x 0.145 + 0.01 x 730


def test_what_stays_adds_nothing_even_where_its_price_is_not_known() -> None:
    found = difference([stack(tier=50)], [stack(tier=50, nodes=3)])

    assert found.node_hour.without == ()
    assert found.node_hour.low == Decimal("9.532")


@pytest.mark.parametrize(("before", "after"), [(125, 50), (50, 125)])
def test_a_change_from_or_to_an_unknown_price_is_named(before: int, after: int) -> None:
    found = difference([stack(tier=before)], [stack(tier=after, nodes=3)])

    assert found.node_hour.without == ("file system",)


def test_a_new_cluster_costs_all_that_it_has() -> None:
    found = difference([], [stack()])

    assert found.node_hour.text() == "19.39"  # 2 x 9.532 + 1200 x 0.145 / 730 + 9 x 0.01
    assert found.idle_month.text() == "239.70"  # 1200 x 0.145 + 9 x 0.01 x 730
    assert found.idle_month.without == ("endpoint data", "logs")


def test_a_cluster_that_was_removed_is_left_out() -> None:
    assert cost_differences([stack()], [], prices=catalogue_prices()) == ()
