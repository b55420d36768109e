"""`ultracluster capacity approve`, `extend` and `reserve`: record the terms of a purchase."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from ultracluster_catalog.capacity.capacity_blocks import LONGEST_BLOCK
from ultracluster_cli.capacity import options
from ultracluster_cli.capacity.options import accepted_hours, read_regions, read_size, searched_regions
from ultracluster_cli.capacity.session import accept, echo_rehearsals, open_session, record_row
from ultracluster_cli.options import JsonOption
from ultracluster_cli.output import echo, print_findings, print_json, short_time
from ultracluster_cli.progress import doing
from ultracluster_runtime.purchasing import order_checks
from ultracluster_runtime.purchasing.clock import check_clock
from ultracluster_runtime.purchasing.ec2_objects import ExtensionOffering
from ultracluster_runtime.purchasing.ec2_reads import read_all
from ultracluster_runtime.purchasing.effects import DescribeExtensionOfferings
from ultracluster_runtime.purchasing.orders import BlockOrder, ExtensionOrder, OnDemandOrder, Order
from ultracluster_runtime.purchasing.overlaps import overlapping, refuse_overlaps
from ultracluster_runtime.records import RECORDS as PURCHASE_RECORDS
from ultracluster_spec.findings import FindingsError, reject
from ultracluster_spec.record import is_error

_ASKED = {
    "cluster": "Cluster to buy for",
    "max_fee": "Maximum fee",
    "month_cap": "Maximum total of fees in this month",
    "approver": "Name or email address of the approver",
}
"""Options of an extension that are asked for, with their questions."""


def _now() -> datetime:
    return datetime.now(UTC)


def _approve(
    order_type: Callable[..., Order],
    name: str,
    approval: options.ApprovalOptions,
    ledger: options.LedgerOptions,
    *,
    as_json: bool,
    below_list: bool = True,
    **terms: Any,
) -> None:
    """Approve an order. `terms` are the fields of the order that its command has parsed."""
    session = open_session(ledger)
    order = order_type(
        name=name,
        account=session.account(),
        cluster=approval.cluster,
        currency=approval.currency,
        max_fee=order_checks.parse_amount("--max-fee", approval.max_fee),
        month_cap=order_checks.parse_amount("--month-cap", approval.month_cap),
        approver=approval.approver,
        expires_at=(_now() + timedelta(hours=approval.expires_in_hours)).replace(microsecond=0),
        **terms,
    )
    findings = order_checks.check_order(order, now=_now())
    reject([finding for finding in findings if is_error(finding, PURCHASE_RECORDS)])
    if isinstance(order, BlockOrder) and not below_list:
        reject(order_checks.check_list_price(order))
    print_findings(findings)
    echo_rehearsals(order, session, approval.rollout)
    session.run(check_clock())
    others = overlapping(order, session.ledger.orders(), now=_now())
    if others and not accept(order, others, approval.besides or ()):
        raise refuse_overlaps(order, others)
    record = session.ledger.approve(order, now=_now())
    if as_json:
        print_json(order=record_row(record))
    else:
        echo(
            f"Approved order {order.name} until {order.expires_at:%Y-%m-%d %H:%M} UTC, token {record.token}."
        )
        echo(f"Nothing is bought yet. To buy: ultracluster capacity buy {order.name}")
        if isinstance(order, BlockOrder):
            echo(
                f"Or when an offering appears: ultracluster capacity buy {order.name} --wait --token {record.token}"
            )


def approve(
    order: options.OrderArgument,
    *,
    approval: options.ApprovalOptions,
    instance_type: options.TypeOption = None,
    nodes: Annotated[str | None, typer.Option("--nodes", metavar="INTEGER", help="Number of nodes.")] = None,
    ultraservers: Annotated[
        str | None,
        typer.Option("--ultraservers", metavar="INTEGER", help="Number of UltraServers, instead of nodes."),
    ] = None,
    ultraserver_type: options.UltraServerTypeOption = options.DEFAULT_ULTRASERVER,
    at_least: Annotated[
        str | None,
        typer.Option(
            "--at-least",
            metavar="INTEGER",
            help="Fewest nodes or UltraServers to accept: the largest block on offer is bought. Default: the exact number.",
        ),
    ] = None,
    days: options.DaysOption,
    between: options.BetweenOption,
    end_by: Annotated[str | None, typer.Option("--end-by", help="Latest end: a day or a UTC time.")] = None,
    regions: options.RegionsOption,
    zone_ids: Annotated[
        str, typer.Option("--zone-ids", help="Comma-separated zone IDs to accept. Default: all.")
    ] = "",
    platform: options.PlatformOption = "Linux/UNIX",
    prefer: options.PreferOption = "total",
    below_list: Annotated[
        bool, typer.Option("--below-list", help="Accept a --max-fee below the list price of what is ordered.")
    ] = False,
    ledger: options.LedgerOptions,
    as_json: JsonOption = False,
) -> None:
    """Approve the purchase of a Capacity Block without buying it."""
    for option, number in (("--nodes", nodes), ("--ultraservers", ultraservers), ("--at-least", at_least)):
        if number is not None:
            order_checks.parse_count(option, number)
    block_type, block_ultraserver, (count,) = read_size(
        instance_type=instance_type, nodes=nodes, ultraservers=ultraservers, ultraserver_type=ultraserver_type
    )
    hours = order_checks.parse_days("--days", days)
    shortest, longest = accepted_hours(hours)
    _approve(
        BlockOrder,
        order,
        approval,
        ledger,
        as_json=as_json,
        below_list=below_list,
        regions=searched_regions(regions, instance_type=block_type, ultraserver_type=block_ultraserver),
        instance_type=block_type,
        ultraserver_type=block_ultraserver,
        count=count,
        min_count=None if at_least is None else int(at_least),
        platform=platform,
        zone_ids=read_regions(zone_ids, known=()),
        start_after=order_checks.parse_time("--between", between[0]),
        start_before=order_checks.parse_time("--between", between[1]),
        end_by=order_checks.parse_time("--end-by", end_by) if end_by else None,
        request_hours=hours,
        min_hours=shortest,
        max_hours=longest,
        prefer=prefer,
    )


def extend(
    order: options.OrderArgument,
    *,
    approval: options.ExtensionApprovalOptions,
    reservation: Annotated[str, typer.Option("--reservation-id", help="Reservation to extend: cr-….")],
    region: Annotated[str, typer.Option(help="Region of the reservation.")],
    expected_end: Annotated[
        str | None,
        typer.Option(
            "--expected-end",
            help="Current end of the reservation; a different end cancels the purchase. Default: the end that EC2 reports.",
        ),
    ] = None,
    days: Annotated[str, typer.Option("--days", metavar="INTEGER", help="Days to extend by.")],
    ledger: options.LedgerOptions,
    as_json: JsonOption = False,
) -> None:
    """Approve the extension of a Capacity Block without buying it.

    Shows the price of the extension first, and prompts for missing options.
    """
    hours = order_checks.parse_count("--days", days, limit=LONGEST_BLOCK.days) * 24
    missing = [name for name in _ASKED if not getattr(approval, name)]
    if missing or expected_end is None:
        quote = _quote_extension(reservation, region=region, hours=hours, ledger=ledger)
        expected_end = expected_end or quote.start.isoformat()
        approval = _ask(approval, missing, quote, order=order)
    _approve(
        ExtensionOrder,
        order,
        approval,
        ledger,
        as_json=as_json,
        region=region,
        reservation_id=reservation,
        expected_end=order_checks.parse_time("--expected-end", expected_end),
        extension_hours=hours,
    )


def _quote_extension(
    reservation: str, *, region: str, hours: int, ledger: options.LedgerOptions
) -> ExtensionOffering:
    """Print what an extension costs now, and return the cheapest offering."""
    with doing("Reading the offerings"):
        offerings: list[ExtensionOffering] = read_all(
            open_session(ledger).clients,
            lambda page: DescribeExtensionOfferings(
                region=region, reservation_id=reservation, hours=hours, page=page
            ),
            "the extension offerings",
        )
    if not offerings:
        problem = f"EC2 offers no extension of {reservation} by {hours // 24} days in {region} now"
        raise FindingsError.message(problem, remedy="Try another number of --days, or buy a new block")
    quote = min(offerings, key=lambda offering: offering.fee)
    echo(f"Extending {reservation} by {quote.hours // 24} days costs {quote.fee:,} {quote.currency} now:")
    echo(f"from {short_time(quote.start)} to {short_time(quote.end)}. A quote is not held for you.")
    return quote


def _ask(
    approval: options.ExtensionApprovalOptions,
    missing: Sequence[str],
    quote: ExtensionOffering,
    *,
    order: str,
) -> options.ExtensionApprovalOptions:
    """Ask for what is missing, with the quoted fee as the proposed limit."""
    if missing and not sys.stdin.isatty():
        missing_options = ", ".join(f"--{name.replace('_', '-')}" for name in missing)
        example = f"--cluster CLUSTER --max-fee {quote.fee} --month-cap {quote.fee} --approver YOU"
        raise typer.BadParameter(f"order {order} needs {missing_options}, such as {example}")
    answers: dict[str, Any] = {}
    for name in missing:
        proposed = answers.get("max_fee") or approval.max_fee or str(quote.fee)
        default = proposed if name in {"max_fee", "month_cap"} else None
        answers[name] = typer.prompt(_ASKED[name], default=default, err=True)
    return replace(approval, **answers)


def reserve(
    order: options.OrderArgument,
    *,
    approval: options.ApprovalOptions,
    instance_type: Annotated[
        str, typer.Option("--instance-type", help="Instance type, such as trn2.48xlarge.")
    ],
    nodes: Annotated[str, typer.Option("--nodes", metavar="INTEGER", help="Number of nodes.")],
    region: Annotated[str, typer.Option(help="Region to reserve in.")],
    zone_id: Annotated[str, typer.Option("--zone-id", help="Zone ID, such as use2-az3.")],
    end: Annotated[str, typer.Option("--end", help="End of the reservation: a day or a UTC time.")],
    hourly_price: Annotated[
        str, typer.Option("--hourly-price", help="Price of one instance-hour, which EC2 does not quote.")
    ],
    placement_group_arn: Annotated[
        str | None, typer.Option("--placement-group-arn", help="Cluster placement group of the reservation.")
    ] = None,
    platform: options.PlatformOption = "Linux/UNIX",
    ledger: options.LedgerOptions,
    as_json: JsonOption = False,
) -> None:
    """Approve an On-Demand Capacity Reservation without creating it."""
    _approve(
        OnDemandOrder,
        order,
        approval,
        ledger,
        as_json=as_json,
        region=region,
        instance_type=instance_type,
        count=order_checks.parse_count("--nodes", nodes, limit=order_checks.MAX_INSTANCES_RESERVED),
        platform=platform,
        zone_id=zone_id,
        end=order_checks.parse_time("--end", end),
        hourly_price=order_checks.parse_amount(
            "--hourly-price", hourly_price, decimals=order_checks.PRICE_DECIMALS
        ),
        placement_group_arn=placement_group_arn,
    )
