"""`ultracluster cost bake-off`: compare the candidates of a bake-off week by week."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final, Literal

import typer
from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_catalog.prices.prices import BillableItem, Price, price_of
from ultracluster_cli._aws.targets import account
from ultracluster_cli.options import JsonOption, wrong_option
from ultracluster_cli.output import print_json, print_note, print_table
from ultracluster_runtime.metrics import bake_off_report
from ultracluster_runtime.metrics.bake_off_report import find_figures, read_samples
from ultracluster_spec.findings import Finding, FindingsError, quote, reject

_MOST_WEEKS: Final = 65  # CloudWatch keeps metrics for 455 days
_NODES: Final = re.compile(r"([a-z][A-Za-z0-9_]*)=([1-9][0-9]{0,5})(?:x([a-z0-9.-]+))?")

_NodeCounts = Mapping[str, tuple[int, str | None]]


def bake_off(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Construct path of the BakeOff, such as Stack/BakeOff.")
    ],
    *,
    region: Annotated[str, typer.Option(help="Region of the BakeOff.")],
    weeks: Annotated[int, typer.Option(help="Number of weeks to report, including the current one.")] = 4,
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COUNT[xTYPE]",
            help="Nodes of a candidate, such as trn2=4xtrn2.48xlarge; the first is the baseline.",
        ),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=USD",
            help="Price of a node-hour. Default: Capacity Block price of the instance type.",
        ),
    ] = None,
    on_demand: Annotated[
        bool, typer.Option("--on-demand", help="Use on-demand instead of Capacity Block prices.")
    ] = False,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Metric to compare; repeatable. Default: all reported in the last two weeks."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the candidates of a bake-off by week and by performance per dollar."""
    today = datetime.now(UTC).date()
    node_counts, paid_prices = _parse_nodes_and_prices(nodes or (), price or (), weeks=weeks, today=today)
    mondays = bake_off_report.weeks_until(today, weeks)
    cloudwatch = account().client("cloudwatch", region)
    try:
        figures_found = find_figures(cloudwatch, bake_off=path)
        names = list(dict.fromkeys([*node_counts, *sorted(figures_found)]))
        figure_names = list(
            dict.fromkeys(
                figure or sorted({name for names_found in figures_found.values() for name in names_found})
            )
        )
        reports = (
            read_samples(cloudwatch, bake_off=path, candidates=names, figures=figure_names, mondays=mondays)
            if names and figure_names
            else {}
        )
    except (BotoCoreError, ClientError) as error:
        remedy = "Check the credentials, their permissions (cloudwatch:ListMetrics, cloudwatch:GetMetricData) and the Region"
        raise FindingsError.message(str(error), remedy=remedy) from error
    if not reports:
        problem = f"CloudWatch in {region} has no metrics of {quote(path)} since {mondays[0]}"
        remedy = (
            "Check the path and the Region; for metrics older than two weeks, specify --figure and --nodes"
        )
        raise FindingsError.message(problem, remedy=remedy)
    market: Literal["capacity-block", "on-demand"] = "on-demand" if on_demand else "capacity-block"
    sides = []
    for name in names:
        count, instance_type = node_counts.get(name, (None, None))
        node_hour = paid_prices.get(name)
        if node_hour is None and instance_type is not None:
            node_hour = price_of(BillableItem(kind=market, name=instance_type), region)
        sides.append(bake_off_report.Candidate(name=name, nodes=count, price=node_hour))
    report = bake_off_report.compare_weeks(
        reports, mondays=mondays, figures=figure_names, candidates=sides, today=today
    )
    if as_json:
        candidates = [_side_json(side) for side in sides]
        print_json(
            bake_off=path, region=region, candidates=candidates, weeks=[_week_json(week) for week in report]
        )
        return
    _print_weeks(path, region, sides, report)


def _parse_nodes_and_prices(
    nodes: Sequence[str], prices: Sequence[str], *, weeks: int, today: date
) -> tuple[_NodeCounts, Mapping[str, Price]]:
    findings: list[Finding] = []
    if not 1 <= weeks <= _MOST_WEEKS:
        allowed = f"1 to {_MOST_WEEKS}; CloudWatch keeps metrics for 455 days"
        findings.append(wrong_option("--weeks", weeks, allowed=allowed))
    node_counts: dict[str, tuple[int, str | None]] = {}
    for text in nodes:
        if match := _NODES.fullmatch(text):
            node_counts[match[1]] = (int(match[2]), match[3])
        else:
            allowed = "NAME=COUNT or NAME=COUNTxTYPE, such as trn2=4xtrn2.48xlarge"
            findings.append(wrong_option("--nodes", text, allowed=allowed))
    paid_prices: dict[str, Price] = {}
    for text in prices:
        name, _, amount = text.partition("=")
        try:
            dollars = Decimal(amount)
        except InvalidOperation:
            dollars = Decimal(0)
        if not dollars.is_finite() or dollars <= 0 or name not in node_counts:
            allowed = "NAME=USD, more than 0, for a candidate in --nodes, such as trn2=35.76"
            findings.append(wrong_option("--price", text, allowed=allowed))
        paid_prices[name] = Price(
            amount=dollars, unit="instance-hour", source="given by --price", dated=today
        )
    reject(findings)
    return node_counts, paid_prices


def _side_json(side: bake_off_report.Candidate) -> dict[str, Any]:
    price = side.price
    return {
        "name": side.name,
        "nodes": side.nodes,
        "node_hour_usd": None if price is None or price.amount is None else str(price.amount),
        "source": price and price.source,
        "dated": price and price.dated,
        "reason": _unknown_price_reason(side),
    }


def _unknown_price_reason(side: bake_off_report.Candidate) -> str:
    return "no instance type or price specified" if side.price is None else side.price.reason


def _week_json(week: bake_off_report.Week) -> dict[str, Any]:
    return {
        "first": week.first,
        "last": week.last,
        "over": week.over,
        "figures": [
            {
                "figure": figure.name,
                "candidates": {
                    name: None if mean is None else _reached_json(mean)
                    for name, mean in figure.reached.items()
                },
            }
            for figure in week.figures
        ],
    }


def _reached_json(reached: bake_off_report.Result) -> dict[str, Any]:
    return {
        "mean": reached.mean,
        "reports": int(reached.count),
        "ratio": reached.ratio,
        "for_a_dollar": reached.per_dollar,
        "ratio_for_a_dollar": reached.ratio_per_dollar,
    }


def _print_weeks(
    path: str, region: str, sides: Sequence[bake_off_report.Candidate], weeks: Sequence[bake_off_report.Week]
) -> None:
    first, *others = [side.name for side in sides]
    ratios = {name: f"{name} / {first}" for name in others}
    rows = [row for week in weeks for figure in week.figures for row in _figure_rows(week, figure, ratios)]
    print_table(rows, title=f"{path} in {region}, means of reported values")
    for side in sides:
        hourly = side.usd_per_hour
        if side.price is None or hourly is None:
            rate = f"unknown: {_unknown_price_reason(side)}"
        else:
            rate = f"{hourly:,} USD for {side.nodes} nodes ({side.price.source}, {side.price.dated})"
        print_note(f"{side.name} per hour: {rate}")


def _figure_rows(
    week: bake_off_report.Week, figure: bake_off_report.Figure, ratios: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    period = f"{week.first} to {week.last}" if week.over else f"{week.first} to date"
    lines = [(figure.name, "mean", "ratio")]
    if figure.name.endswith(bake_off_report.PER_SECOND):
        per_dollar = f"{figure.name.removesuffix(bake_off_report.PER_SECOND)} per dollar"
        lines.append((per_dollar, "per_dollar", "ratio_per_dollar"))
    for name, value, ratio in lines:
        values = {
            candidate: "none" if result is None else _text(getattr(result, value))
            for candidate, result in figure.reached.items()
        }
        compared = {
            heading: _text(getattr(figure.reached.get(candidate), ratio, None))
            for candidate, heading in ratios.items()
        }
        yield {"week": period, "figure": name, **values, **compared}


def _text(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.6g}"
