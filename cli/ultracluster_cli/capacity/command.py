"""`ultracluster capacity`: find, approve, buy at most once, extend, reserve and verify capacity."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli.capacity.approve import approve, extend, reserve
from ultracluster_cli.capacity.options import (
    DEFAULT_ULTRASERVER,
    BetweenOption,
    DaysOption,
    NodesOption,
    OrderArgument,
    PreferOption,
    RegionsOption,
    TypeOption,
    UltraServersOption,
    UltraServerTypeOption,
)
from ultracluster_cli.capacity.parsing import (
    accepted_hours,
    read_days,
    read_range,
    read_time,
    searched_regions,
)
from ultracluster_cli.capacity.place import place
from ultracluster_cli.capacity.resolve import resolve
from ultracluster_cli.options import JsonOption, LedgerOption, LedgerRegionOption, ProfileOption
from ultracluster_cli.output import print_json, print_table, say
from ultracluster_rules.findings import Finding, FindingsError, Severity

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Find Capacity Blocks, buy them at most once, and prove that they are used.",
)


def _now() -> datetime:
    return datetime.now(UTC)


@app.command()
def find(
    *,
    instance_type: TypeOption = None,
    nodes: NodesOption = None,
    ultraservers: UltraServersOption = None,
    ultraserver_type: UltraServerTypeOption = DEFAULT_ULTRASERVER,
    days: DaysOption,
    between: BetweenOption,
    regions: RegionsOption = "all",
    everywhere: Annotated[
        bool,
        typer.Option(
            "--everywhere", help="With --regions all: every Region, not only those known to sell it."
        ),
    ] = False,
    prefer: PreferOption = "total",
    plot: Annotated[Path | None, typer.Option(help="Draw price over start into this file.")] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look for Capacity Blocks in all Regions at once; buys nothing."""
    from ultracluster_catalog.places.zones import REGIONS  # noqa: PLC0415 - and the rest: boto3, not for the help
    from ultracluster_cli._aws.call_counts import CallCounts  # noqa: PLC0415
    from ultracluster_cli.capacity.find import plot_offerings, show_offerings  # noqa: PLC0415
    from ultracluster_runtime.purchasing.ec2_driver import session_clients  # noqa: PLC0415
    from ultracluster_runtime.purchasing.ec2_reads import Ec2Reads  # noqa: PLC0415
    from ultracluster_runtime.purchasing.offerings import RANKINGS, rank_offerings  # noqa: PLC0415
    from ultracluster_runtime.purchasing.search import Search, search_offerings  # noqa: PLC0415

    if (ultraservers is None) == (nodes is None) or (nodes is not None and instance_type is None):
        raise FindingsError(
            [
                Finding(
                    code="UC7010",
                    problem="it is not said what to look for",
                    allowed="--instance-type and --nodes, or --ultraservers",
                )
            ]
        )
    if prefer not in RANKINGS:
        raise FindingsError(
            [
                Finding(
                    code="UC7016",
                    path="--prefer",
                    problem=f"got {prefer!r}",
                    allowed=", ".join(sorted(RANKINGS)),
                )
            ]
        )
    wanted_type = instance_type if ultraservers is None else None
    wanted_ultraserver = ultraserver_type if ultraservers is not None else None
    where = (
        REGIONS
        if everywhere and regions == "all"
        else searched_regions(regions, instance_type=wanted_type, ultraserver_type=wanted_ultraserver)
    )
    hours = read_days(days)
    start_after, start_before = (read_time("--between", text) for text in between)
    start_after = max(start_after, _now())
    search = Search(
        regions=where,
        instance_type=wanted_type,
        ultraserver_type=wanted_ultraserver,
        counts=read_range("--ultraservers", ultraservers)
        if ultraservers
        else read_range("--nodes", str(nodes)),
        hours=hours,
        start_after=start_after,
        start_before=start_before,
        end_by=start_before + timedelta(hours=accepted_hours(hours)[1]),
    )
    calls = CallCounts()
    reads = Ec2Reads(calls.counted(session_clients(profile)))
    result = search_offerings(search, read=reads.perform)
    ranked = rank_offerings(result.offerings, by=prefer)
    unreadable = [Finding(code="UC7043", problem=text) for text in reads.unreadable]
    if plot is not None:
        plot_offerings(ranked, plot)
    show_offerings(
        ranked, [*result.findings, *unreadable], earliest=start_after, calls=calls.sent, as_json=as_json
    )
    refused = [finding for finding in result.findings if finding.severity is Severity.ERROR]
    if refused and not ranked:
        raise typer.Exit(2)


app.command()(approve)
app.command()(extend)
app.command()(reserve)
app.command()(resolve)
app.command()(place)


@app.command()
def buy(
    order: OrderArgument,
    *,
    token: Annotated[str | None, typer.Option(help="The order's token: buys without asking.")] = None,
    write: Annotated[
        Path | None, typer.Option("--write", help="Write what a rollout needs to this file.")
    ] = None,
    parameter: Annotated[
        bool, typer.Option("--parameter", help="Write it to an SSM parameter in the block's Region too.")
    ] = False,
    profile: ProfileOption = None,
    ledger: LedgerOption = None,
    ledger_region: LedgerRegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Buy what an order approves, at most once, however often this runs."""
    from botocore.config import Config  # noqa: PLC0415 - boto3; not for the help

    from ultracluster_cli.capacity.outputs import write_fragment, write_parameter  # noqa: PLC0415
    from ultracluster_cli.capacity.session import fresh_nonce, open_session, show_outcome  # noqa: PLC0415
    from ultracluster_runtime.purchasing.purchase import buy as buy_order  # noqa: PLC0415

    session = open_session(profile=profile, ledger=ledger, ledger_region=ledger_region, token=token)
    outcome = session.run(buy_order(order, nonce=fresh_nonce()))
    record = outcome.record
    if record.reservation_ids and write is not None:
        write_fragment(record, write)
    if record.reservation_ids and parameter and record.region:
        say(f"Wrote {write_parameter(record, session.make_client('ssm', record.region, Config()))}.")
    show_outcome(outcome, as_json=as_json)


@app.command()
def status(
    order: Annotated[str | None, typer.Argument(metavar="[ORDER]", help="One order. Default: all.")] = None,
    *,
    profile: ProfileOption = None,
    ledger: LedgerOption = None,
    ledger_region: LedgerRegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show orders as the ledger holds them."""
    from ultracluster_cli.capacity.session import open_session, show_records  # noqa: PLC0415 - boto3; not for the help

    records = open_session(profile=profile, ledger=ledger, ledger_region=ledger_region).ledger.orders()
    if order is not None:
        records = [record for record in records if record.order.name == order]
        if not records:
            raise FindingsError([Finding(code="UC7020", problem=f"the ledger holds no order {order!r}")])
    show_records(records, as_json=as_json)


@app.command()
def reconcile(
    order: OrderArgument,
    *,
    nothing_bought: Annotated[
        bool,
        typer.Option(
            "--nothing-bought", help="Close an UNKNOWN order: you have evidence that it bought nothing."
        ),
    ] = False,
    evidence: Annotated[str, typer.Option(help="With --nothing-bought: what you looked at.")] = "",
    profile: ProfileOption = None,
    ledger: LedgerOption = None,
    ledger_region: LedgerRegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring an order up to what EC2 shows; reads EC2 only."""
    from ultracluster_cli.capacity.session import open_session, show_outcome  # noqa: PLC0415 - boto3; not for the help
    from ultracluster_runtime.purchasing.operator_actions import close  # noqa: PLC0415
    from ultracluster_runtime.purchasing.reconcile import reconcile as reconcile_order  # noqa: PLC0415

    session = open_session(profile=profile, ledger=ledger, ledger_region=ledger_region)
    steps = close(order, evidence=evidence) if nothing_bought else reconcile_order(order)
    show_outcome(session.run(steps), as_json=as_json)


@app.command()
def history(
    order: OrderArgument,
    *,
    profile: ProfileOption = None,
    ledger: LedgerOption = None,
    ledger_region: LedgerRegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show every change of an order."""
    from ultracluster_cli.capacity.session import open_session  # noqa: PLC0415 - boto3; not for the help

    events = open_session(profile=profile, ledger=ledger, ledger_region=ledger_region).ledger.history(order)
    if not events:
        raise FindingsError([Finding(code="UC7020", problem=f"the ledger holds no order {order!r}")])
    rows = [
        {
            "version": event.version,
            "state": event.state.value,
            "at": event.at.isoformat(timespec="seconds"),
            "reason": event.reason,
        }
        for event in events
    ]
    if as_json:
        print_json({"order": order, "events": rows})
    else:
        print_table(columns=list(rows[0]), rows=rows)


@app.command()
def cancel(
    order: OrderArgument,
    *,
    profile: ProfileOption = None,
    ledger: LedgerOption = None,
    ledger_region: LedgerRegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take an approval back, or give an On-Demand Capacity Reservation back. A Capacity Block cannot be."""
    from ultracluster_cli.capacity.session import open_session, show_outcome  # noqa: PLC0415 - boto3; not for the help
    from ultracluster_runtime.purchasing.operator_actions import cancel as cancel_order  # noqa: PLC0415

    session = open_session(profile=profile, ledger=ledger, ledger_region=ledger_region)
    show_outcome(session.run(cancel_order(order)), as_json=as_json)


@app.command()
def verify(
    reservation: Annotated[
        list[str], typer.Argument(metavar="RESERVATION...", help="The reservations: cr-….")
    ],
    *,
    region: Annotated[str, typer.Option(help="Region of the reservations.")],
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", help="key=value of the instances. Default: all of the same type."),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Prove that instances run in the capacity that was paid for; loud when they do not."""
    from ultracluster_cli.capacity.verify import prove, show_proof  # noqa: PLC0415 - boto3; not for the help

    show_proof(
        prove(tuple(reservation), region=region, tags=tuple(tag or ()), profile=profile), as_json=as_json
    )
