"""`ultracluster cost estimate`: estimate the costs of the clusters of a rollout."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import typer

from ultracluster_catalog.capacity.capacity_blocks import SHORTEST_BLOCK
from ultracluster_catalog.prices.prices import BillableItem, Price, price_of
from ultracluster_cli import options
from ultracluster_cli._aws.selection import load_clusters
from ultracluster_cli._aws.targets import account
from ultracluster_cli._cdk.workspace import ledger_place
from ultracluster_cli.cost.output import cost_json, print_cost, print_total, total_json
from ultracluster_cli.output import echo, print_findings, print_json
from ultracluster_cli.pictures.costs import draw_costs
from ultracluster_runtime.costs.price_list import PRICE_LIST_REGION, listed_prices
from ultracluster_runtime.purchasing.ledger import Ledger
from ultracluster_runtime.purchasing.orders import BlockOrder
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding, FindingsError, quote, reject
from ultracluster_spec.instance_type import INSTANCE_TYPE
from ultracluster_stacks import cost

_MOST_IN_DETAIL = 3  # clusters whose lines are printed; more have a line each
_AMOUNTS = ("stored_gb", "logs_gb", "endpoint_gb", "nat_gb", "transfer_gb", "backup_gb", "tiered_gb")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plans:
    """Options of `ultracluster cost estimate` that describe the planned use."""

    hours: Annotated[
        float | None,
        typer.Option(
            help="Hours of a run. Default: duration of the capacity or its order, else a day of a Capacity Block, or a month of "
            "730 hours."
        ),
    ] = None
    runs_per_month: Annotated[int, typer.Option(help="Runs per month.")] = 1
    tokens_per_second: Annotated[
        float | None,
        typer.Option(help="Training throughput of the cluster, to compute the cost per million tokens."),
    ] = None
    savings_plan: Annotated[
        float | None,
        typer.Option(metavar="USD", help="Price of an on-demand node-hour under a Savings Plan."),
    ] = None
    price: Annotated[
        list[str] | None,
        typer.Option(metavar="LINE=USD", help="Price of a line of the estimate; repeatable."),
    ] = None
    fallback_region: options.FallbackRegionOption = None
    ledger: options.LedgerOption = None
    ledger_region: options.LedgerRegionOption = None
    stored_gb: Annotated[float | None, typer.Option(help="GB stored in buckets.")] = None
    logs_gb: Annotated[float | None, typer.Option(help="GB of logs per month.")] = None
    endpoint_gb: Annotated[float | None, typer.Option(help="GB through VPC endpoints per month.")] = None
    nat_gb: Annotated[float | None, typer.Option(help="GB through the NAT gateway per month.")] = None
    transfer_gb: Annotated[float | None, typer.Option(help="GB to the internet per month.")] = None
    backup_gb: Annotated[float | None, typer.Option(help="GB of file system backups.")] = None
    tiered_gb: Annotated[float | None, typer.Option(help="GB of Intelligent-Tiering storage.")] = None
    metrics: Annotated[int, typer.Option(help="Number of additional custom metrics.")] = 0
    compile_hours: Annotated[float, typer.Option(help="Hours of compilation before the first run.")] = 0
    compile_reuse: Annotated[int, typer.Option(help="Runs that reuse the compiled artifacts.")] = 1
    compare: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Instance type to compare with, such as p5.48xlarge.")
    ] = None
    throughput_ratio: Annotated[
        float | None,
        typer.Option(help="Throughput of a node of that type relative to a node of the cluster."),
    ] = None

    @property
    def use(self) -> dict[str, float | None]:
        """Amounts that `Usage` takes under the same names."""
        return {name: getattr(self, name) for name in _AMOUNTS}


_ClusterEstimate = tuple[cost.Estimate, str, cost.Alternative | None]
"""Estimate of a cluster, the source of the hours of a run, and the comparison with another instance type, if any."""


def estimate(
    rollout: options.RolloutArgument,
    *,
    cluster: options.ClusterOption = None,
    plans: _Plans,
    live: Annotated[
        bool, typer.Option("--live", help="Use current prices of the AWS Price List API.")
    ] = False,
    picture: options.PictureOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Estimate the costs of the clusters of a rollout.

    Unknown prices are reported as unknown, never as 0.
    """
    _, clusters = load_clusters(rollout, names=[cluster] if cluster else [], deployable=False)
    footprints = [cost.configured_footprint(cluster_config) for cluster_config in clusters]
    findings = [*_figure_findings(plans), *_savings_plan_findings(plans, footprints)]
    findings += INSTANCE_TYPE.check(plans.compare, path="--compare") if plans.compare else ()
    reject(findings)
    today = datetime.now(UTC).date()
    listed = _prices_of_today(footprints, plans) if live else None
    prices = cost.catalogue_prices(known=listed, fallback_region=plans.fallback_region)
    own_prices = _own_prices(plans, today)
    ordered = _ordered_hours(clusters, plans)
    rows = [
        _estimate_cluster(
            footprint,
            _run_hours(cluster_config, plans.hours, ordered),
            plans=plans,
            prices=prices,
            own_prices=own_prices,
            today=today,
        )
        for cluster_config, footprint in zip(clusters, footprints, strict=True)
    ]
    estimates = [row[0] for row in rows]
    _check_names(own_prices, estimates)
    if picture is not None:
        picture.write_text(draw_costs(estimates).svg(), encoding="utf-8")
    if as_json:
        print_json(clusters=[cost_json(*row) for row in rows], total=total_json(estimates))
        return
    if len(rows) <= _MOST_IN_DETAIL:
        for row in rows:
            print_cost(*row)
    if len(rows) > 1:
        print_total(estimates)
    if len(rows) > _MOST_IN_DETAIL:
        echo("Use --cluster NAME for the lines of one cluster.")


def listed_today(
    estimate: Callable[[cost.Prices], object], pricing: Any
) -> tuple[dict[tuple[BillableItem, str], Price], list[Finding]]:
    """Return the current prices of all items that an estimate looks up, and findings about those without one."""
    items: list[tuple[BillableItem, str]] = []

    def note(item: BillableItem, region: str) -> Price:
        items.append((item, region))
        return price_of(item, region)

    estimate(note)
    return listed_prices(items, client=pricing)


def _prices_of_today(
    footprints: Sequence[cost.Footprint], plans: _Plans
) -> dict[tuple[BillableItem, str], Price]:
    usage = cost.Usage(hours=Decimal(1), compile_hours=_decimal(plans.compile_hours))

    def estimate_all(prices: cost.Prices) -> None:
        for footprint in footprints:
            estimate = cost.estimate_cost(footprint, usage=usage, prices=prices)
            if plans.compare is not None:
                cost.compare_with(plans.compare, estimate, prices=prices, throughput_ratio=None)

    prices, findings = listed_today(estimate_all, account().client("pricing", PRICE_LIST_REGION))
    print_findings(findings)
    return prices


def _ordered_hours(clusters: Sequence[Cluster], plans: _Plans) -> dict[str | None, Decimal]:
    """Return the hours of the orders that clusters name; none without a ledger, or while it does not answer."""
    names = {cluster.capacity.order for cluster in clusters if cost.planned_hours(cluster) is None} - {None}
    place = ledger_place(plans.ledger, plans.ledger_region) if names else None
    if place is None:
        return {}
    try:
        records = Ledger(account().client("dynamodb", place[1]), place[0]).orders()
    except FindingsError as error:
        print_findings(error.findings)
        return {}
    return {
        record.order.name: Decimal(max(record.order.request_hours))
        if record.start is None or record.end is None
        else Decimal((record.end - record.start) // timedelta(minutes=1)) / 60
        for record in records
        if record.order.name in names and isinstance(record.order, BlockOrder)
    }


def _run_hours(
    cluster: Cluster, given: float | None, ordered: Mapping[str | None, Decimal]
) -> tuple[Decimal, str]:
    """Return the hours of a run and where they come from. A block is never priced as a month, which AWS does not sell."""
    window = cost.planned_hours(cluster)
    order = cluster.capacity.order
    if given is not None:
        return _decimal(given), "--hours"
    if window is not None:
        return window, "window of the capacity"
    if order in ordered:
        return ordered[order], f"order {order}"
    if cluster.capacity.market_type == "capacity-block":
        return Decimal(SHORTEST_BLOCK // timedelta(hours=1)), "a day, as the block's hours are not known"
    return Decimal(cost.HOURS_OF_A_MONTH), "a month"


def _estimate_cluster(
    footprint: cost.Footprint,
    run_hours: tuple[Decimal, str],
    *,
    plans: _Plans,
    prices: cost.Prices,
    own_prices: Mapping[str, Price],
    today: date,
) -> _ClusterEstimate:
    hours, hours_from = run_hours
    _check_month(hours, plans.runs_per_month)
    usage = cost.Usage(
        hours=hours,
        runs_per_month=plans.runs_per_month,
        tokens_per_second=_decimal_or_none(plans.tokens_per_second),
        savings_plan_rate=None
        if plans.savings_plan is None
        else _own_price(_decimal(plans.savings_plan), "--savings-plan", today),
        custom_metrics=plans.metrics,
        compile_hours=_decimal(plans.compile_hours),
        compile_reuse=plans.compile_reuse,
        **{name: _decimal_or_none(value) for name, value in plans.use.items()},
    )
    estimate = cost.estimate_cost(footprint, usage=usage, prices=prices, given=own_prices)
    if plans.compare is None:
        return estimate, hours_from, None
    ratio = _decimal_or_none(plans.throughput_ratio)
    alternative = cost.compare_with(
        plans.compare, estimate, prices=prices, throughput_ratio=ratio, given=own_prices
    )
    return estimate, hours_from, alternative


def _decimal(figure: float) -> Decimal:
    return Decimal(int(figure)) if figure == int(figure) else Decimal(str(figure))  # exact decimal value


def _decimal_or_none(figure: float | None) -> Decimal | None:
    return None if figure is None else _decimal(figure)


def _own_price(amount: Decimal, option: str, today: date) -> Price:
    return Price(amount=amount, unit="instance-hour", source=f"given by {option}", dated=today)


def _figure_findings(plans: _Plans) -> Iterator[Finding]:
    positive = {
        "--hours": plans.hours,
        "--runs-per-month": plans.runs_per_month,
        "--tokens-per-second": plans.tokens_per_second,
        "--savings-plan": plans.savings_plan,
        "--compile-reuse": plans.compile_reuse,
        "--throughput-ratio": plans.throughput_ratio,
    }
    or_zero = {"--compile-hours": plans.compile_hours, "--metrics": plans.metrics} | {
        f"--{name.replace('_', '-')}": figure for name, figure in plans.use.items()
    }
    for option, figure in (positive | or_zero).items():
        least = 0 if option in or_zero else None
        if figure is None or 0 < figure < float("inf") or figure == least:
            continue
        yield options.wrong_option(
            option, figure, allowed="0 or more" if option in or_zero else "more than 0"
        )
    if plans.throughput_ratio is not None and plans.compare is None:
        problem = "got --throughput-ratio without --compare"
        yield Finding.message(problem, remedy="Specify --compare TYPE")


def _savings_plan_findings(plans: _Plans, footprints: Sequence[cost.Footprint]) -> Iterator[Finding]:
    markets = {supply.market for footprint in footprints for supply in footprint.paid_supplies()}
    if plans.savings_plan is not None and "on-demand" not in markets:
        problem = f"Savings Plans do not apply to {', '.join(sorted(markets))} nodes"
        remedy = "Omit --savings-plan, or select a cluster with on-demand nodes with --cluster"
        yield Finding.message(problem, remedy=remedy)


def _check_month(hours: Decimal, runs: int) -> None:
    if runs > 1 and hours * runs > cost.HOURS_OF_A_MONTH:
        problem = f"{runs} runs of {hours} hours are {hours * runs} hours"
        allowed = f"{cost.HOURS_OF_A_MONTH} hours per month, since runs share the nodes"
        raise FindingsError.message(problem, allowed=allowed)


def _own_prices(plans: _Plans, today: date) -> dict[str, Price]:
    prices: dict[str, Price] = {}
    findings: list[Finding] = []
    for text in plans.price or ():
        line, equals, amount = text.rpartition("=")
        try:
            dollars = Decimal(amount)
        except InvalidOperation:
            dollars = Decimal(-1)
        if not equals or not line or not dollars.is_finite() or dollars < 0:
            allowed = "LINE=USD, such as 'file system=0.21'"
            findings.append(options.wrong_option("--price", text, allowed=allowed))
        else:
            prices[line] = _own_price(dollars, "--price", today)
    reject(findings)
    return prices


def _check_names(own_prices: Mapping[str, Price], estimates: Sequence[cost.Estimate]) -> None:
    """Reject prices for unknown lines, which would have no effect."""
    lines = dict.fromkeys(
        line.name for estimate in estimates for line in (*estimate.lines, *estimate.if_used)
    )
    findings = [
        Finding.message(f"unknown line {quote(name)}", allowed=", ".join(lines), path="--price")
        for name in own_prices
        if name not in lines
    ]
    reject(findings)
