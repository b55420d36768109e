"""`ultracluster cost estimate`: what the clusters of a rollout will cost for a planned use."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Literal

import typer

from ultracluster_catalog.prices.billable_items import PricedThing, price_of
from ultracluster_catalog.prices.prices import Price
from ultracluster_cli._aws.selection import called, clusters_of
from ultracluster_cli._aws.targets import account
from ultracluster_cli.cost.chart import draw_costs
from ultracluster_cli.cost.output import cost_json, print_cost
from ultracluster_cli.options import ClusterOption, FallbackRegionOption, JsonOption, RolloutArgument
from ultracluster_cli.output import print_findings, print_json
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.costs.price_list import PRICE_LIST_REGION, listed_prices
from ultracluster_stacks.config import ClusterConfig, load_rollout
from ultracluster_stacks.cost import (
    HOURS_OF_A_MONTH,
    Alternative,
    Estimate,
    Footprint,
    Prices,
    Usage,
    catalogue_prices,
    compare_with,
    configured_footprint,
    estimate_cost,
    planned_hours,
)

__all__ = ["estimate"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plans:
    """The planned use; each field is an option of `ultracluster cost estimate`."""

    hours: float | None
    runs_per_month: int
    tokens_per_second: float | None
    savings_plan: float | None
    prices: tuple[str, ...]
    fallback_region: str | None
    use: Mapping[str, float | None]
    metrics: int
    compile_hours: float
    compile_reuse: int
    compare: str | None
    throughput_ratio: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _CostedCluster:
    """A cluster with its estimate.

    Attributes:
        estimate: What it will cost.
        hours_from: What says the hours of a run.
        rival: Another instance type beside it. None if none was asked for.
    """

    estimate: Estimate
    hours_from: Literal["--hours", "window of the capacity", "a month"]
    rival: Alternative | None


def estimate(
    rollout: RolloutArgument,
    *,
    cluster: ClusterOption = None,
    hours: Annotated[
        float | None,
        typer.Option(help="Hours of one run. Default: from start to end of the capacity, else 730, a month."),
    ] = None,
    runs_per_month: Annotated[int, typer.Option(help="Runs in a month.")] = 1,
    tokens_per_second: Annotated[
        float | None, typer.Option(help="What the whole cluster trains; gives the price of a million tokens.")
    ] = None,
    savings_plan: Annotated[
        float | None,
        typer.Option(metavar="USD", help="What a node-hour costs you under a Savings Plan; on-demand only."),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(metavar="LINE=USD", help="A price that you know, by the line's name; may be repeated."),
    ] = None,
    fallback_region: FallbackRegionOption = None,
    stored_gb: Annotated[float | None, typer.Option(help="GB in the buckets.")] = None,
    logs_gb: Annotated[float | None, typer.Option(help="GB of logs written in a month.")] = None,
    endpoint_gb: Annotated[float | None, typer.Option(help="GB through endpoints in a month.")] = None,
    nat_gb: Annotated[float | None, typer.Option(help="GB through the NAT gateway in a month.")] = None,
    transfer_gb: Annotated[float | None, typer.Option(help="GB to the internet in a month.")] = None,
    backup_gb: Annotated[float | None, typer.Option(help="GB of backups of the file system.")] = None,
    tiered_gb: Annotated[float | None, typer.Option(help="GB on Intelligent-Tiering.")] = None,
    metrics: Annotated[int, typer.Option(help="Custom metrics of your own.")] = 0,
    compile_hours: Annotated[float, typer.Option(help="Hours of compiling before the first run.")] = 0,
    compile_reuse: Annotated[int, typer.Option(help="Runs that use what was compiled.")] = 1,
    compare: Annotated[
        str | None,
        typer.Option(metavar="TYPE", help="Another instance type beside it, such as p5.48xlarge."),
    ] = None,
    throughput_ratio: Annotated[
        float | None,
        typer.Option(help="Tokens per second of a node of that type over those of a node of the cluster."),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Ask the AWS Price List API for prices of today.")
    ] = False,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE.html|png", help="Draw the bill into this file as well.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate what the clusters of a rollout will cost, line by line.

    Unknown prices are reported as unknown, never as 0.
    """
    plans = _Plans(
        hours=hours,
        runs_per_month=runs_per_month,
        tokens_per_second=tokens_per_second,
        savings_plan=savings_plan,
        prices=tuple(price or ()),
        fallback_region=fallback_region,
        use={
            "stored_gb": stored_gb,
            "logs_gb": logs_gb,
            "endpoint_gb": endpoint_gb,
            "nat_gb": nat_gb,
            "transfer_gb": transfer_gb,
            "backup_gb": backup_gb,
            "tiered_gb": tiered_gb,
        },
        metrics=metrics,
        compile_hours=compile_hours,
        compile_reuse=compile_reuse,
        compare=compare,
        throughput_ratio=throughput_ratio,
    )
    loaded = load_rollout(rollout)
    print_findings(loaded.warnings)
    clusters = called(clusters_of(loaded.config, None), [] if cluster is None else [cluster], rollout=rollout)
    footprints = [configured_footprint(each) for each in clusters]
    findings = [*_figure_findings(plans), *_savings_plan_findings(plans, footprints), *_chart_findings(chart)]
    if findings:
        raise FindingsError(findings)
    today = datetime.now(UTC).date()
    known = _prices_of_today(footprints, plans) if live else None
    prices = catalogue_prices(known=known, fallback_region=plans.fallback_region)
    given = _given_prices(plans, today)
    costed = [
        _costed(each, footprint, plans=plans, prices=prices, given=given, today=today)
        for each, footprint in zip(clusters, footprints, strict=True)
    ]
    _check_names(given, costed)
    if chart is not None:
        draw_costs([each.estimate for each in costed], chart)
    if as_json:
        print_json({"clusters": [cost_json(each.estimate, each.hours_from, each.rival) for each in costed]})
    else:
        for each in costed:
            print_cost(each.estimate, each.hours_from, each.rival)


def _prices_of_today(footprints: Sequence[Footprint], plans: _Plans) -> dict[tuple[PricedThing, str], Price]:
    wanted: list[tuple[PricedThing, str]] = []

    def noted(thing: PricedThing, region: str) -> Price:
        wanted.append((thing, region))
        return price_of(thing, region)

    for footprint in footprints:
        usage = Usage(hours=Decimal(1), compile_hours=_decimal(plans.compile_hours))
        estimate = estimate_cost(footprint, usage=usage, prices=noted)
        if plans.compare is not None:
            compare_with(plans.compare, estimate, prices=noted, throughput_ratio=None)
    with account() as target:
        found, findings = listed_prices(wanted, client=target.client("pricing", PRICE_LIST_REGION))
    print_findings(findings)
    return found


def _costed(
    cluster: ClusterConfig,
    footprint: Footprint,
    *,
    plans: _Plans,
    prices: Prices,
    given: Mapping[str, Price],
    today: date,
) -> _CostedCluster:
    window = planned_hours(cluster)
    hours_from: Literal["--hours", "window of the capacity", "a month"]
    if plans.hours is not None:
        hours, hours_from = _decimal(plans.hours), "--hours"
    elif window is not None:
        hours, hours_from = window, "window of the capacity"
    else:
        hours, hours_from = Decimal(HOURS_OF_A_MONTH), "a month"
    _check_month(hours, plans.runs_per_month)
    usage = Usage(
        hours=hours,
        runs_per_month=plans.runs_per_month,
        tokens_per_second=None if plans.tokens_per_second is None else _decimal(plans.tokens_per_second),
        savings_plan_rate=None
        if plans.savings_plan is None
        else _given_price(_decimal(plans.savings_plan), "--savings-plan", today),
        custom_metrics=plans.metrics,
        compile_hours=_decimal(plans.compile_hours),
        compile_reuse=plans.compile_reuse,
        **{name: None if each is None else _decimal(each) for name, each in plans.use.items()},
    )
    estimate = estimate_cost(footprint, usage=usage, prices=prices, given=given)
    ratio = None if plans.throughput_ratio is None else _decimal(plans.throughput_ratio)
    rival = (
        None
        if plans.compare is None
        else compare_with(plans.compare, estimate, prices=prices, throughput_ratio=ratio, given=given)
    )
    return _CostedCluster(estimate=estimate, hours_from=hours_from, rival=rival)


def _decimal(figure: float) -> Decimal:
    return Decimal(int(figure)) if figure == int(figure) else Decimal(str(figure))  # as it was typed


def _given_price(amount: Decimal, option: str, today: date) -> Price:
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
        allowed = "0 or more" if option in or_zero else "more than 0"
        yield Finding(code="UC9301", problem=f"got {quote(figure)}", allowed=allowed, path=option)
    if plans.throughput_ratio is not None and plans.compare is None:
        problem = "got --throughput-ratio, and no type that it is about"
        yield Finding(code="UC9305", problem=problem, remedy="Give --compare TYPE as well")


def _savings_plan_findings(plans: _Plans, footprints: Sequence[Footprint]) -> Iterator[Finding]:
    bought = {each.market for footprint in footprints for each in footprint.paid_supplies()}
    if plans.savings_plan is not None and "on-demand" not in bought:
        yield Finding(
            code="UC9304",
            problem=f"the nodes are bought as {', '.join(sorted(bought))}, where Savings Plans do not apply",
            remedy="Leave --savings-plan out, or name a cluster with on-demand nodes by --cluster",
        )


def _chart_findings(chart: Path | None) -> Iterator[Finding]:
    if chart is not None and chart.suffix not in {".html", ".png"}:
        yield Finding(code="UC9306", problem=f"got {quote(str(chart))}", allowed="FILE.html or FILE.png")


def _check_month(hours: Decimal, runs: int) -> None:
    if runs > 1 and hours * runs > HOURS_OF_A_MONTH:
        problem = f"{runs} runs of {hours} hours are {hours * runs} hours"
        allowed = f"{HOURS_OF_A_MONTH} hours in a month, since the runs share the nodes"
        raise FindingsError([Finding(code="UC9302", problem=problem, allowed=allowed)])


def _given_prices(plans: _Plans, today: date) -> dict[str, Price]:
    given: dict[str, Price] = {}
    findings: list[Finding] = []
    for text in plans.prices:
        line, equals, amount = text.rpartition("=")
        try:
            dollars = Decimal(amount)
        except InvalidOperation:
            dollars = Decimal(-1)
        if not equals or not line or not dollars.is_finite() or dollars < 0:
            allowed = "LINE=USD, such as 'file system=0.21'"
            findings.append(
                Finding(code="UC9303", problem=f"got {quote(text)}", allowed=allowed, path="--price")
            )
        else:
            given[line] = _given_price(dollars, "--price", today)
    if findings:
        raise FindingsError(findings)
    return given


def _check_names(given: Mapping[str, Price], costed: Sequence[_CostedCluster]) -> None:
    """Reject a price for a line that does not exist, which would silently change nothing."""
    lines = {line.name: None for each in costed for line in (*each.estimate.lines, *each.estimate.if_used)}
    findings = [
        Finding(
            code="UC9303",
            problem=f"no line of the bill is called {quote(name)}",
            allowed=", ".join(lines),
            path="--price",
        )
        for name in given
        if name not in lines
    ]
    if findings:
        raise FindingsError(findings)
