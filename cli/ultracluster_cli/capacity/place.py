"""`ultracluster capacity place`: choose Regions for the clusters of a wave from current offerings."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import typer

from ultracluster_cli.capacity import options
from ultracluster_cli.capacity.options import block_search, read_regions
from ultracluster_cli.options import JsonOption, ProfileOption, RolloutArgument, WriteOption
from ultracluster_cli.output import echo, print_findings, print_json, print_table
from ultracluster_runtime.aws.aws_session import clients_of
from ultracluster_runtime.purchasing.ec2_reads import read_page
from ultracluster_runtime.purchasing.offerings import Offering
from ultracluster_runtime.purchasing.order_checks import check_ranking, parse_amount
from ultracluster_runtime.purchasing.placement import PlacementRequest, PlacementRules
from ultracluster_runtime.purchasing.placement import place as choose
from ultracluster_runtime.purchasing.search import Search, search_offerings
from ultracluster_spec.findings import Finding, FindingsError, quote, reject
from ultracluster_stacks.config.editing import (
    OrderedCapacity,
    load_editable,
    ordered_capacity,
    update_rollout,
)


def place(
    rollout: RolloutArgument,
    *,
    wave: Annotated[str, typer.Option(help="Wave to place.")],
    regions: Annotated[str, typer.Option(metavar="A,B", help="Comma-separated Regions to consider.")],
    days: options.DaysOption,
    between: options.BetweenOption,
    max_fee: options.MaxFeeOption,
    most_per_region: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of clusters in one Region. Default: no limit.")
    ] = None,
    prefer: options.PreferOption = "total",
    write: WriteOption = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Choose Regions for the clusters of a wave that have no reservation yet."""
    reject(check_ranking("--prefer", prefer))
    config = load_editable(rollout)
    unplaced = [capacity for capacity in ordered_capacity(config, wave=wave) if capacity.gives_zone]
    if not unplaced:
        problem = f"no cluster of wave {quote(wave)} has an order without a reservation"
        remedy = "Specify `capacity: {order: NAME}`; clusters with a reservation are not moved"
        raise FindingsError.message(problem, remedy=remedy)
    moving = [capacity.cluster for capacity in unplaced]
    known_regions = read_regions(regions, known=())
    search = block_search(regions=known_regions, days=days, between=between)
    offerings = choose(
        [
            PlacementRequest(
                cluster=capacity.cluster.name,
                instance_type=capacity.cluster.instance_type,
                nodes=capacity.nodes,
            )
            for capacity in unplaced
        ],
        _search_offerings(unplaced, search, profile),
        rules=PlacementRules(
            regions=known_regions,
            max_fee=parse_amount("--max-fee", max_fee),
            max_per_region=most_per_region,
            prefer=prefer,
        ),
        taken=[(each.name, each.region) for each in config.clusters() if each not in moving],
    )
    pairs = list(zip(unplaced, offerings, strict=True))
    reject(_unplaced_finding(capacity) for capacity, offering in pairs if offering is None)
    rows = [_row(capacity, offering) for capacity, offering in pairs if offering is not None]
    if write:
        values = {
            (*capacity.loc[:-1], name): row[name]
            for capacity, row in zip(unplaced, rows, strict=True)
            for name in ("region", "zone_id")
        }
        print_findings(update_rollout(rollout, values))
    if as_json:
        print_json(clusters=rows, written=write)
        return
    print_table(rows)
    echo(f"Updated {rollout}." if write else "Nothing written; use --write to update the rollout.")
    echo(
        "Offerings are not held for you. Next: capacity approve, buy and resolve for each order, then ami resolve."
    )


def _search_offerings(
    capacities: Sequence[OrderedCapacity], search: Search, profile: str | None
) -> list[Offering]:
    """Search once for each combination of instance type and node count."""
    read = partial(read_page, clients_of(profile))
    offerings: list[Offering] = []
    sizes = {(capacity.cluster.instance_type, capacity.nodes) for capacity in capacities}
    for instance_type, nodes in sorted(sizes):
        result = search_offerings(replace(search, instance_type=instance_type, counts=(nodes,)), read=read)
        print_findings(result.findings)
        offerings += result.offerings
    return offerings


def _row(capacity: OrderedCapacity, offering: Offering) -> dict[str, Any]:
    return {
        "cluster": capacity.cluster.name,
        "order": capacity.order,
        "region_now": capacity.cluster.region,
        "region": offering.region,
        "zone_id": offering.zone_ids[0],
        "nodes": capacity.nodes,
        "start": offering.start,
        "end": offering.end,
        "total": str(offering.fee),
        "currency": offering.currency,
        "offering": offering.offering_id,
    }


def _unplaced_finding(capacity: OrderedCapacity) -> Finding:
    problem = f"no offering of {capacity.nodes} x {capacity.cluster.instance_type} meets the constraints"
    remedy = "Allow more Regions, other durations, a later start or a higher fee; nothing was written"
    return Finding.message(problem, path=capacity.cluster.name, remedy=remedy)
