"""`ultracluster capacity place`: choose Regions for the clusters of a wave from current offerings."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from ultracluster_cli.capacity.options import (
    BetweenOption,
    DaysOption,
    MaxFeeOption,
    PreferOption,
)
from ultracluster_cli.capacity.parsing import accepted_hours, read_days, read_fee, read_regions, read_time
from ultracluster_cli.options import JsonOption, ProfileOption, RolloutArgument, WriteOption
from ultracluster_cli.output import print_findings, print_json, print_table, say
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.purchasing.ec2_driver import session_clients
from ultracluster_runtime.purchasing.ec2_reads import Ec2Reads
from ultracluster_runtime.purchasing.offerings import Offering
from ultracluster_runtime.purchasing.order_checks import check_ranking
from ultracluster_runtime.purchasing.placement import Need, PlacementRules
from ultracluster_runtime.purchasing.placement import place as choose
from ultracluster_runtime.purchasing.search import Search, search_offerings
from ultracluster_stacks.config.editing.order_references import (
    OrderedCapacity,
    cluster_places,
    ordered_capacity,
)
from ultracluster_stacks.config.loading.loader import rollout_findings
from ultracluster_stacks.config.reading.source_file import read_source_file
from ultracluster_stacks.config.reading.yaml_edit import set_values

__all__ = ["place"]


def place(
    rollout: RolloutArgument,
    *,
    wave: Annotated[str, typer.Option(help="Wave whose clusters are placed.")],
    regions: Annotated[
        str, typer.Option(metavar="A,B", help="Regions where they may be, such as where the data may be.")
    ],
    days: DaysOption,
    between: BetweenOption,
    max_fee: MaxFeeOption,
    most_per_region: Annotated[
        int | None, typer.Option(min=1, help="Most clusters to place in one Region. Default: no limit.")
    ] = None,
    prefer: PreferOption = "total",
    write: WriteOption = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Choose Regions for the clusters of a wave whose orders have no reservation yet. Buys nothing."""
    if findings := list(check_ranking("--prefer", prefer)):
        raise FindingsError(findings)

    wanted = [each for each in ordered_capacity(rollout) if each.wave == wave and each.gives_zone]
    if not wanted:
        raise _nothing_to_place(wave)
    moved = {(each.cluster, each.region) for each in wanted}
    chosen = choose(
        [Need(cluster=each.cluster, instance_type=each.instance_type, nodes=each.nodes) for each in wanted],
        _offered(wanted, read_regions(regions, known=()), days, between, profile),
        rules=PlacementRules(
            regions=read_regions(regions, known=()),
            max_fee=read_fee("--max-fee", max_fee),
            most_per_region=most_per_region,
            prefer=prefer,
        ),
        taken=[each for each in cluster_places(rollout) if each not in moved],
    )
    if missing := [each for each, found in zip(wanted, chosen, strict=True) if found is None]:
        raise FindingsError(_without_place(each) for each in missing)
    rows = [_row(each, found) for each, found in zip(wanted, chosen, strict=True) if found is not None]
    if write:
        values = {
            (*each.loc[:-1], name): row[name]
            for each, row in zip(wanted, rows, strict=True)
            for name in ("region", "zone_id")
        }
        rollout.write_text(set_values(read_source_file(rollout), values), encoding="utf-8", newline="")
        print_findings(rollout_findings(rollout))
    if as_json:
        print_json({"clusters": rows, "written": write})
        return
    print_table(columns=list(rows[0]), rows=rows)
    say(f"{rollout} is written" if write else "Nothing is written; --write puts it into the rollout")
    say("An offering is not held. Next: capacity approve, buy and resolve for each order, then ami resolve.")


def _offered(
    wanted: Sequence[OrderedCapacity],
    regions: tuple[str, ...],
    days: str,
    between: tuple[str, str],
    profile: str | None,
) -> list[Offering]:
    """Search once for each type and size."""
    hours = read_days(days)
    start_after, start_before = (read_time("--between", text) for text in between)
    reads = Ec2Reads(session_clients(profile))
    offered: list[Offering] = []
    for instance_type, nodes in sorted({(each.instance_type, each.nodes) for each in wanted}):
        search = Search(
            regions=regions,
            instance_type=instance_type,
            counts=(nodes,),
            hours=hours,
            start_after=max(start_after, datetime.now(UTC)),
            start_before=start_before,
            end_by=start_before + timedelta(hours=accepted_hours(hours)[1]),
        )
        result = search_offerings(search, read=reads.perform)
        print_findings(result.findings)
        offered += result.offerings
    print_findings(Finding(code="UC7043", problem=text) for text in reads.unreadable)
    return offered


def _row(wanted: OrderedCapacity, offering: Offering) -> dict[str, Any]:
    return {
        "cluster": wanted.cluster,
        "order": wanted.order,
        "region_now": wanted.region,
        "region": offering.region,
        "zone_id": offering.zone_ids[0],
        "nodes": wanted.nodes,
        "start": offering.start.isoformat(),
        "end": offering.end.isoformat(),
        "total": str(offering.fee),
        "currency": offering.currency,
        "offering": offering.offering_id,
    }


def _nothing_to_place(wave: str) -> FindingsError:
    return FindingsError(
        [
            Finding(
                code="UC9661",
                problem=f"no cluster of the wave {quote(wave)} has capacity that names an order without a reservation",
                remedy="Give `capacity: {order: NAME}`; what has a reservation stays where it is",
            )
        ]
    )


def _without_place(wanted: OrderedCapacity) -> Finding:
    return Finding(
        code="UC9660",
        path=wanted.cluster,
        problem=f"nothing is left for {wanted.nodes} {wanted.instance_type} that keeps the constraints",
        remedy="Allow more Regions, other days, a later start or a higher fee; nothing was written",
    )
