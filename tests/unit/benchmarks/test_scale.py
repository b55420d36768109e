import math

import pytest
from scale import (
    Assumptions,
    Break,
    Layout,
    breaks,
    propose_layout,
    report_markdown,
    simulate_day,
    simulate_job_sizes,
)
from scale.layout import in_one_account

from ultracluster_catalog.capacity.capacity_blocks import BLOCK_REGIONS, block_regions
from ultracluster_catalog.limits.service_limits import LimitScope

LARGE = propose_layout(100_000)


def by_name(layout: Layout) -> dict[str, Break]:
    return {each.limit.name: each for each in breaks(layout)}


def test_lays_out_whole_blocks_of_equal_size_over_the_regions_that_sell_them() -> None:
    assert (LARGE.clusters, LARGE.nodes_per_block, LARGE.nodes) == (98, 64, 6272)
    assert [(each.region, each.clusters) for each in LARGE.regions] == [("us-east-2", 49), ("ap-south-2", 49)]
    assert LARGE.chips_per_block == 1024


def test_needs_another_account_where_queues_cannot_be_raised() -> None:
    # 50 queues, and 2 of each cluster.
    fits, too_many = (propose_layout(1024 * clusters, regions=["us-east-2"]) for clusters in (25, 26))

    assert (fits.accounts, too_many.accounts) == (1, 2)
    assert not by_name(too_many)["job queues of AWS Batch"].exceeded


@pytest.mark.parametrize("instance_type", sorted(BLOCK_REGIONS))
def test_every_type_that_is_sold_in_blocks_has_a_layout(instance_type: str) -> None:
    layout = propose_layout(10_000, instance_type=instance_type)

    assert {each.region for each in layout.regions} <= set(block_regions(instance_type))
    assert report_markdown(layout).startswith("# 10,000 chips")


def test_names_what_breaks_first() -> None:
    found = breaks(LARGE)

    chips = [each.holds_until_chips for each in found if each.holds_until_chips is not None]
    assert chips == sorted(chips)
    assert found[0].limit.quota_code == "L-64569A79"
    assert [each.holds_until_chips for each in found[:3]] == [0, 1024, 4096]
    assert found[0].need == 192 * 64 * 25
    # 25 clusters of an account over 3 zones; 16 interfaces of a node, and one of its task.
    assert by_name(LARGE)["network interfaces, enforced in each zone"].need == 9 * 64 * 17


@pytest.mark.parametrize("instance_type", ["trn2.48xlarge", "trn1.32xlarge", "p5.48xlarge"])
def test_a_limit_is_kept_up_to_where_it_is_said_to_hold_and_not_beyond(instance_type: str) -> None:
    regions = ["us-east-2"]
    large = propose_layout(400_000, instance_type=instance_type, regions=regions)
    checked = set()
    for name, each in by_name(large).items():
        if each.limit.scope in {LimitScope.BLOCK, LimitScope.JOB} or each.holds_until_chips is None:
            continue
        fits = each.holds_until_chips // large.chips_per_block
        for clusters, exceeded in ((fits, False), (fits + 1, True)):
            if clusters:
                layout = in_one_account(large, clusters, regions)
                assert by_name(layout)[name].exceeded is exceeded, (name, clusters)
                checked.add((name, exceeded))
    assert len(checked) >= 16


def test_failures_come_as_often_as_they_are_said_to() -> None:
    layout = propose_layout(100_000, assumptions=Assumptions(failures_per_chip_day=0.001))
    days = [simulate_day(layout, seed=seed) for seed in range(30)]
    trained = [layout.clusters * 1024 - day.down_chip_hours / 24 for day in days]  # chip-days at work

    expected = 0.001 * sum(trained)
    assert sum(day.failures for day in days) == pytest.approx(expected, abs=4 * math.sqrt(expected))


def test_what_a_job_keeps_follows_the_renewal_of_its_failures() -> None:
    """A failure costs half an interval in the mean, and the time until the job trains again."""
    size = next(each for each in simulate_job_sizes(LARGE) if each.nodes == 1000)
    per_minute = LARGE.assumptions.failures_per_chip_day * size.chips / 1440
    interval, down = 30, 5 + 15 + 10
    # Work between checkpoints that is kept, over the time that a stretch with its failure takes.
    kept = interval / math.expm1(per_minute * interval)
    assert size.useful_percent == pytest.approx(100 * kept / (1 / per_minute + down), abs=1.5)


@pytest.mark.parametrize(
    ("chips", "options", "problem"),
    [
        (0, {}, "got 0 chips"),
        (1_000_001, {}, "got 1000001 chips"),
        (16, {"instance_type": "trn1n.32xlarge", "regions": ["us-east-1"]}, "not sold in Capacity Blocks"),
        (16, {"regions": []}, "no Region is named"),
        (16, {"regions": ["us-est-2"]}, "unknown Regions: us-est-2"),
        (16, {"instance_type": "trn9.48xlarge"}, "UC4001"),
    ],
)
def test_refuses_what_cannot_be_laid_out(chips: int, options: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        propose_layout(chips, **options)  # type: ignore[arg-type]
