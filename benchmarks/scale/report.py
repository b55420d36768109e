"""The report of a layout, its limits and its simulations, in Markdown; docs/evidence/scale.md has parts of it."""

from collections.abc import Iterable, Iterator
from statistics import median
from typing import Any, Final

from scale.assumptions import ASSUMPTION_BASES
from scale.breaks import Break, breaks
from scale.failures import DayOfFailures, simulate_day, simulate_job_sizes
from scale.layout import Layout
from scale.rollout import simulate_rollout
from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.lustre.lustre_figures import file_system_figures
from ultracluster_catalog.prices.prices import capacity_block_price
from ultracluster_spec.network import cluster_addresses

__all__ = ["report_markdown"]

_DAYS: Final = 100
_YES_NO: Final = {True: "yes", False: "no", None: "not documented"}


def report_markdown(layout: Layout, *, seed: int = 0) -> str:
    """Write the report.

    Args:
        layout: The layout.
        seed: Of the simulations. Default: 0.
    """
    found = breaks(layout)
    return "\n".join(
        [
            f"# {_counted(layout.chips, 'chip')} of {layout.instance_type.name}",
            "",
            *_summary(layout, found),
            *_layout(layout),
            *_breaks(found),
            *_rollout(layout, seed),
            *_day(layout, seed),
            *_job_sizes(layout, seed),
            *_assumptions(layout),
        ]
    )


def _days(layout: Layout, seed: int) -> list[DayOfFailures]:
    return [simulate_day(layout, seed=seed + number) for number in range(_DAYS)]


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def _table(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    columns = list(columns)
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in row)} |"
    yield ""


def _summary(layout: Layout, found: tuple[Break, ...]) -> Iterator[str]:
    regions = ", ".join(each.region for each in layout.regions)
    yield (
        "This report is computed from dated limits and the assumptions listed below; it is neither a promise nor a measurement, and "
        "no AWS API was called. `--assume NAME=NUMBER` replaces an assumption."
    )
    yield ""
    yield (
        f"The layout has {_counted(layout.nodes, 'node')} in {_counted(layout.clusters, 'Capacity Block')} of {layout.nodes_per_block}, each of "
        f"them a separate cluster, in {regions} and {_counted(layout.accounts, 'account')}."
    )
    yield ""
    yield (
        f"The largest job has {layout.chips_per_block:,} chips, because a job runs in one compute environment, and a compute environment "
        "uses one block. The clusters cannot run one job together."
    )
    unknown = [each for each in found if each.exceeded and each.limit.adjustable is None]
    for each in unknown:
        yield ""
        yield (
            f"**Without an agreement with AWS, the limit is {each.holds_until_chips or 0:,} chips**: {each.limit.value:,} "
            f"{each.limit.name} per {each.limit.scope}. The rest assumes that AWS sells {each.need:,}."
        )
    yield ""


def _layout(layout: Layout) -> Iterator[str]:
    yield "## Layout"
    yield ""
    given = layout.assumptions
    settings = LustreSettings(
        storage_capacity_gib=given.storage_gib, per_unit_storage_throughput=given.storage_mb_per_s_per_tib
    )
    rows = []
    for each in layout.regions:
        price = capacity_block_price(layout.instance_type.name, each.region)
        nodes = each.clusters * layout.nodes_per_block
        cost = "not known" if price.amount is None else f"{price.amount * nodes:,.0f} ({price.dated})"
        chips = each.clusters * layout.chips_per_block
        rows.append((each.region, each.zones, each.accounts, each.clusters, nodes, chips, cost))
    yield from _table(
        ("Region", "zones", "accounts", "clusters", "nodes", "chips", "USD an hour, list price"), rows
    )
    figures = file_system_figures(
        settings,
        instance_type=layout.instance_type,
        nodes=layout.nodes_per_block,
        region=layout.regions[0].region,
    )
    addresses = cluster_addresses(
        instance_type=layout.instance_type, nodes=layout.nodes_per_block, nic_layout="batch"
    )
    yield (
        f"Each cluster has a file system of {given.storage_gib:,} GiB with {figures.object_servers} object servers: "
        f"{figures.baseline_mb_per_s:,.0f} MB/s in total, {figures.node_mb_per_s:,.1f} MB/s for each node when all read. Its "
        f"subnet needs {addresses:,} addresses. The layout assumes that blocks are sold evenly in all zones of a Region."
    )
    yield ""


def _breaks(found: tuple[Break, ...]) -> Iterator[str]:
    yield "## What breaks first"
    yield ""
    yield (
        "Chips are added in blocks, in these Regions and one account, until a limit is reached. The column `needs` is the requirement of the "
        "layout above in the account, Region or zone with the largest requirement; for limits of a block or a job, it is what a single "
        "block or job of this size would need."
    )
    yield ""
    rows = [
        (
            each.limit.name,
            each.limit.scope,
            each.limit.value,
            "any number" if each.holds_until_chips is None else each.holds_until_chips,
            each.need,
            _YES_NO[each.limit.adjustable],
            each.takes,
            f"{each.limit.source} ({each.limit.dated})",
        )
        for each in found
    ]
    yield from _table(
        (
            "limit",
            "per",
            "default",
            "sufficient up to (chips)",
            "needs",
            "can be raised",
            "solution",
            "source",
        ),
        rows,
    )


def _rollout(layout: Layout, seed: int) -> Iterator[str]:
    run = simulate_rollout(layout, seed=seed)
    yield "## Rollout, simulated"
    yield ""
    rows = [(wave.name, wave.clusters, wave.failed, f"{wave.minutes / 60:.1f}") for wave in run.waves]
    yield from _table(("wave", "clusters", "failed once", "hours"), rows)
    cost = "" if run.idle_usd is None else f", {run.idle_usd:,} USD at list prices"
    yield (
        f"Begin {run.deploy_hours:.1f} hours before the blocks start. If all blocks start at the same time, the first cluster has "
        f"its nodes after {run.first_cluster_minutes:.0f} minutes and the last after {run.last_cluster_minutes:.0f}, because EC2 "
        f"launches 1,000 instances of an account and Region at once and then 2 a second. Until then "
        f"{run.idle_node_hours:,.0f} node-hours are paid and idle{cost}."
    )
    yield ""


def _day(layout: Layout, seed: int) -> Iterator[str]:
    days = _days(layout, seed)
    yield "## A day of failures, simulated"
    yield ""
    yield (
        f"{_DAYS} simulated days, with one job on all nodes of each cluster. The blocks end on days spread evenly over "
        f"{layout.assumptions.block_days} days."
    )
    yield ""
    columns = (
        ("failures that end a job", "failures", max, "{:,.0f}"),
        ("clusters affected", "clusters_hit", max, "{:,.0f}"),
        ("useful share of the paid time, percent", "useful_percent", min, "{:.1f}"),
        ("useful share in the worst cluster, percent", "worst_cluster_percent", min, "{:.1f}"),
        ("chip-hours of repeated work", "repeated_chip_hours", max, "{:,.0f}"),
        ("chip-hours without work", "down_chip_hours", max, "{:,.0f}"),
        ("most chips without work at the same time", "most_chips_down", max, "{:,.0f}"),
    )
    rows = []
    for label, name, worst, form in columns:
        values = [getattr(day, name) for day in days]
        rows.append((label, form.format(median(values)), form.format(worst(values))))
    yield from _table(("", "median day", "worst day"), rows)
    share = 100 * days[0].blocks_ended / layout.clusters
    yield (
        f"The end of one block removes {layout.chips_per_block:,} chips, {100 / layout.clusters:.1f} percent. Every block ends at "
        f"11:30 UTC. If the ends are spread over {layout.assumptions.block_days} days, {share:.1f} percent of the blocks end together; if all blocks "
        "are bought on one day for the same time, they all end together."
    )
    yield ""


def _job_sizes(layout: Layout, seed: int) -> Iterator[str]:
    yield "## One job of different sizes"
    yield ""
    rows = [
        (
            size.nodes,
            size.chips,
            f"{size.failures_per_day:.2f}",
            f"{size.useful_percent:.1f}",
            "yes" if size.possible else "no",
        )
        for size in simulate_job_sizes(layout, seed=seed)
    ]
    yield from _table(
        ("nodes", "chips", "failures a day", "useful time, percent", "possible in one block"),
        rows,
    )
    yield (
        "A job that loses one node stops on all its nodes. Before you make one job larger, write checkpoints more often, restart "
        "faster, or run a separate job on each cluster."
    )
    yield ""


def _assumptions(layout: Layout) -> Iterator[str]:
    yield "## Assumptions"
    yield ""
    rows = [
        (f"`{name}`", f"{getattr(layout.assumptions, name):.4g}", basis.unit, basis.basis)
        for name, basis in ASSUMPTION_BASES.items()
    ]
    yield from _table(("assumption", "value", "unit", "basis"), rows)
