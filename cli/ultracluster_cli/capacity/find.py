"""`ultracluster capacity find`: search for offerings, and show them as a table or JSON."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_DOWN, Decimal
from functools import partial
from typing import Annotated, Any

import typer

from ultracluster_catalog.machines.instance_types import MACHINES
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_catalog.prices.prices import capacity_block_price
from ultracluster_cli.capacity import options
from ultracluster_cli.capacity.options import block_search, read_size, searched_regions
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.options import JsonOption, ProfileOption
from ultracluster_cli.output import echo, echo_command, print_findings, print_json, print_table
from ultracluster_cli.progress import doing
from ultracluster_runtime.aws.aws_session import clients_of
from ultracluster_runtime.costs.price_comparison import compare_prices
from ultracluster_runtime.purchasing.ec2_reads import read_page
from ultracluster_runtime.purchasing.offerings import RANKINGS, Offering, rank_offerings
from ultracluster_runtime.purchasing.order_checks import check_ranking
from ultracluster_runtime.purchasing.search import Search, search_offerings
from ultracluster_runtime.records import RECORDS as PURCHASE_RECORDS
from ultracluster_spec.findings import reject
from ultracluster_spec.record import is_error

_SHOWN = ["rank", "offering", "region", "zone", "instances", "days", "start", "end", "total", "per_chip_hour"]


def find(
    *,
    instance_type: options.TypeOption = None,
    nodes: options.NodesOption = None,
    ultraservers: options.UltraServersOption = None,
    ultraserver_type: options.UltraServerTypeOption = options.DEFAULT_ULTRASERVER,
    days: options.DaysOption,
    between: options.BetweenOption,
    regions: options.RegionsOption = "all",
    everywhere: Annotated[
        bool,
        typer.Option(
            "--everywhere",
            help="With --regions all, search every Region, including those not known to sell the type.",
        ),
    ] = False,
    prefer: Annotated[
        str | None,
        typer.Option(
            help="Rank offerings by total, chip-hour, core-hour, start or node-hours. Default: total, and chip-hour for a range of days.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, help="Number of offerings to list, best first. --json lists all.")
    ] = 10,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search Regions for Capacity Block offerings."""
    block_type, block_ultraserver, counts = read_size(
        instance_type=instance_type, nodes=nodes, ultraservers=ultraservers, ultraserver_type=ultraserver_type
    )
    # The total would always prefer the shortest block of a range.
    prefer = prefer or ("total" if days.isdecimal() else "chip-hour")
    reject(check_ranking("--prefer", prefer))
    search_regions = (
        REGIONS
        if everywhere and regions == "all"
        else searched_regions(regions, instance_type=block_type, ultraserver_type=block_ultraserver)
    )
    search = block_search(
        regions=search_regions,
        instance_type=block_type,
        ultraserver_type=block_ultraserver,
        counts=counts,
        days=days,
        between=between,
    )
    clients = clients_of(profile)
    with doing(f"Searching {len(search_regions)} Regions"):
        result = search_offerings(search, read=partial(read_page, clients))
    ranked = rank_offerings(result.offerings, by=prefer)
    _show_offerings(
        ranked,
        result.findings,
        earliest=search.start_after,
        calls=clients.sent,
        not_sold=result.not_sold,
        local_zones=MACHINES[block_type].block_local_zones if block_type else (),
        limit=None if as_json else limit,
        prefer=prefer,
    )
    if ranked and not as_json:
        _show_next(ranked[0], search, prefer=prefer, days=days, between=between)
    if not ranked and any(is_error(finding, PURCHASE_RECORDS) for finding in result.findings):
        raise typer.Exit(ExitCode.FINDINGS)
    if not ranked and result.findings:
        raise typer.Exit(ExitCode.UNKNOWN)


def _rounded(amount: Decimal | None, places: str = "0.0001") -> str | None:
    return None if amount is None else str(amount.quantize(Decimal(places)))


def offering_row(offering: Offering, *, earliest: datetime) -> dict[str, Any]:
    """Return an offering as a row of the table and of the JSON. ``gap_hours`` counts from ``earliest``."""
    return {
        "offering": offering.offering_id,
        "region": offering.region,
        "zone": ", ".join(offering.zone_ids) or offering.zone,
        "instance_type": offering.instance_type or offering.ultraserver_type,
        "instances": offering.instance_count,
        "ultraservers": offering.ultraserver_count or None,
        "segments": len(offering.segments) or None,
        "start": offering.start,
        "end": offering.end,
        "gap_hours": round((offering.start - earliest) / timedelta(hours=1), 1),
        "hours": round(offering.duration / timedelta(hours=1), 2),
        "usable_hours": round(offering.window.usable / timedelta(hours=1), 2),
        "total": str(offering.fee),
        "currency": offering.currency,
        "per_node_hour": _rounded(offering.fee_per_node_hour),
        "per_chip_hour": _rounded(offering.fee_per_chip_hour),
        "per_core_hour": _rounded(offering.fee_per_core_hour),
        "usable_node_hours_per_unit": _rounded(offering.usable_node_hours_per_unit, "0.000001"),
    }


def _show_offerings(
    offerings: Sequence[Offering],
    findings: Sequence[Any],
    *,
    earliest: datetime,
    calls: Mapping[str, int],
    not_sold: Sequence[str],
    local_zones: Sequence[str],
    limit: int | None,
    prefer: str,
) -> None:
    """Print offerings, reference prices, findings and the number of requests, without a limit as JSON."""
    rows = [offering_row(offering, earliest=earliest) for offering in offerings]
    kinds = {(offering.catalog_type.name, offering.region) for offering in offerings if offering.catalog_type}
    comparisons = {
        comparison.label: comparison
        for instance_type, region in sorted(kinds)
        for comparison in compare_prices(instance_type, region)
    }
    prices = [
        {
            "price": comparison.label,
            "per_node_hour": _rounded(comparison.price.amount),
            "per_chip_hour": _rounded(comparison.per_chip_hour),
            "currency": comparison.price.currency,
            "dated": comparison.price.dated,
            "source": comparison.price.reason or comparison.price.source,
        }
        for comparison in comparisons.values()
    ]
    if limit is None:
        print_json(offerings=rows, prices=prices, findings=findings, calls=calls)
        return
    if rows:
        value = RANKINGS[prefer]
        ties = [value(offering) == value(offerings[0]) for offering in offerings]
        shown = [
            {
                **row,
                "rank": "1 best" if number == 1 else f"{number} tie" if tie else str(number),
                "days": round(row["hours"] / 24, 1),
                "total": f"{Decimal(row['total']):,}",
            }
            for number, (row, tie) in enumerate(zip(rows, ties, strict=True), 1)
        ]
        print_table(shown[:limit], columns=_SHOWN, title=_title(offerings))
        price_columns = ["price", "per_node_hour", "per_chip_hour", "dated"]
        print_table(prices, columns=price_columns, title="Reference prices")
        if len(rows) > limit:
            echo(
                f"{len(rows) - limit} more offerings: --limit {len(rows)} lists them, --json has every figure."
            )
    elif findings:
        echo("No offerings found, but not every Region could be read.")
    else:
        sold = f" {', '.join(not_sold)} do not sell it." if not_sold else ""
        echo(f"No offerings found.{sold} Try another time (--between), duration (--days) or more Regions.")
    if local_zones:
        echo(f"AWS also sells it in {', '.join(local_zones)}, a Local Zone that the account must opt in to.")
    print_findings(findings)
    echo(f"{sum(calls.values())} read-only API calls")


def _title(offerings: Sequence[Offering]) -> str:
    kinds = dict.fromkeys(
        f"{offering.ultraserver_count} x {offering.ultraserver_type}"
        if offering.ultraserver_count
        else f"{offering.instance_count} x {offering.instance_type}"
        for offering in offerings
    )
    return f"{len(offerings)} offerings of {', '.join(kinds)}, in {offerings[0].currency}"


def _is_below_list(offering: Offering, hours: int) -> bool:
    """Whether an offering costs less than the list price of the hours that were asked for, as the rest of a day does."""
    price = capacity_block_price(str(offering.instance_type), offering.region).amount
    least = price and (price * offering.instance_count * hours).quantize(Decimal("0.01"), ROUND_DOWN)
    return least is not None and offering.fee < least


def _show_next(best: Offering, search: Search, *, prefer: str, days: str, between: tuple[str, str]) -> None:
    """Print the command that approves the purchase of the best offering."""
    what = (
        ["--ultraservers", str(best.ultraserver_count), "--ultraserver-type", str(search.ultraserver_type)]
        if search.ultraserver_type
        else ["--instance-type", str(best.instance_type), "--nodes", str(best.instance_count)]
    )
    echo(
        f"Offering {best.offering_id} is the best by {prefer}. Nothing is held for you. To approve its purchase:"
    )
    echo_command(
        [
            *("ultracluster", "capacity", "approve", "ORDER", "--cluster", "CLUSTER", *what),
            *("--days", days, "--between", *between, "--regions", best.region),
            *([] if prefer == "total" else ["--prefer", prefer]),
            *(["--below-list"] if _is_below_list(best, min(search.hours)) else []),
            *("--max-fee", str(best.fee), "--month-cap", str(best.fee), "--approver", "YOU"),
        ]
    )
