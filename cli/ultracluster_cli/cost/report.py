"""`ultracluster cost report`: one page about what a Capacity Block gave for its money."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from ultracluster_catalog.machines.peak_flops import node_peak_tflops
from ultracluster_catalog.prices.prices import capacity_block_price
from ultracluster_cli import options
from ultracluster_cli._aws.target import time_there
from ultracluster_cli.cost.advise import node_hour_price, read_cluster_metrics
from ultracluster_cli.metrics.metrics_page import draw_events, page, read_events, table
from ultracluster_cli.output import echo, print_json
from ultracluster_cli.pictures.charts import Line, draw_chart
from ultracluster_runtime.metrics.block_report import (
    TRAINING,
    USES,
    BlockReport,
    Rates,
    number_text,
    percent_text,
    report_block,
    usd_text,
)
from ultracluster_runtime.metrics.recorded_metrics import Recording
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.instance_type import get_instance_type

_OTHER: Final = "p5.48xlarge"  # the usual alternative to Trainium
_OTHER_REGION: Final = "us-east-1"  # the first in the list of its prices
_PRECISION: Final = "bf16"

Section = tuple[str, list[tuple[str, str, str]]]
"""Title, and rows of a figure, its value, and how it comes about."""


def report(
    rollout: options.RolloutArgument,
    *,
    recording: options.RecordingOption = None,
    cluster: options.MetricsClusterOption = None,
    hours: Annotated[
        float | None,
        typer.Option(
            help="Hours of CloudWatch metrics to read. Default: since the start of the block, else 24."
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--page",
            metavar="FILE",
            help="Write the page to this .html or .md file. Default: print Markdown.",
        ),
    ] = None,
    price: options.NodeHourOption = None,
    paid: Annotated[
        float | None,
        typer.Option(
            metavar="USD",
            help="Paid for this time, as the ledger or the bill says. Default: node-hours at their price.",
        ),
    ] = None,
    epoch_tokens: Annotated[float | None, typer.Option(help="Tokens of an epoch, for its cost.")] = None,
    next_tokens: Annotated[
        float | None,
        typer.Option(
            help="Tokens to train in the next block. Default: an epoch, else as many as in this one."
        ),
    ] = None,
    reuses: Annotated[
        int | None,
        typer.Option(help="Times that a job reused all graphs that were compiled. Default: as recorded."),
    ] = None,
    profile: options.RolloutProfileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Report what a Capacity Block gave for its money: minutes by use, dollars per token, and the next block."""
    _check(
        file=file,
        numbers={
            "--paid": paid,
            "--epoch-tokens": epoch_tokens,
            "--next-tokens": next_tokens,
            "--reuses": reuses,
        },
    )

    def period(named: Cluster | None) -> tuple[float, datetime | None]:
        of_block = _period_of_block(named) if hours is None and named and recording is None else None
        return of_block or (24 if hours is None else hours, None)

    recorded, config = read_cluster_metrics(
        rollout, recording=recording, cluster=cluster, period=period, profile=profile
    )
    node_hour = node_hour_price(config, price)
    rates = _rates(config, None if node_hour.amount is None else float(node_hour.amount))
    found = report_block(recorded, rates, paid_usd=paid, reuses=reuses)
    if found is None:
        problem = f"no paid node of {recorded.cluster} was recorded: its block had not begun, or the watch of the cluster did not run"
        raise FindingsError.message(
            problem, remedy="Report on hours in which the block was active, and see `ultracluster status`"
        )
    next_tokens = next_tokens or epoch_tokens or found.tokens
    if as_json:
        shown = asdict(found) | {
            "paid_minutes": found.paid_minutes,
            "usd_by_use": {use: found.usd_of(use) for use in USES},
        }
        epoch = None if epoch_tokens is None else found.usd_for(epoch_tokens)
        following = None if next_tokens is None else found.usd_for(next_tokens)
        print_json(
            cluster=recorded.cluster,
            region=recorded.region,
            start=recorded.start,
            end=recorded.end,
            rates=asdict(rates),
            **shown,
            epoch_usd=epoch,
            next_block_usd=following,
        )
        return
    source = f"{node_hour.source}, {node_hour.dated}" if node_hour.amount is not None else node_hour.reason
    priced = (
        f"{paid:,.2f} USD were paid"
        if paid is not None
        else f"{node_hour.amount} USD for a node-hour ({source})"
    )
    sections = list(_sections(found, rates, config, epoch_tokens=epoch_tokens, next_tokens=next_tokens))
    title = f"{recorded.cluster} in {recorded.region}"
    lead = f"{recorded.start:%Y-%m-%d %H:%M} to {recorded.end:%Y-%m-%d %H:%M} UTC, {config.instance_type}; {priced}."
    if file is None or file.suffix == ".md":
        text = _markdown(title, lead, sections, recorded)
    else:
        text = _html(title, lead, sections, recorded)
    if file is None:
        typer.echo(text, nl=False)
    else:
        file.write_text(text, encoding="utf-8")
        echo(f"{file}: {recorded.cluster}, {len(sections)} tables")


def _check(*, file: Path | None, numbers: dict[str, float | None]) -> None:
    """Refuse a page of another kind, and numbers that are not above zero."""
    if file is not None and file.suffix not in {".html", ".md"}:
        raise FindingsError([options.wrong_option("--page", str(file), allowed="FILE.html or FILE.md")])
    for name, number in numbers.items():
        if number is not None and not 0 < number < float("inf"):
            raise FindingsError([options.wrong_option(name, number, allowed="more than 0")])


def _period_of_block(cluster: Cluster) -> tuple[float, datetime] | None:
    """Return the hours since the block of a cluster started and their end, None if the rollout does not say when; it must have begun."""
    now, start = time_there(), cluster.capacity.start
    if start is not None and start >= now:
        problem = f"the block of {cluster.name} begins at {start:%Y-%m-%d %H:%M} UTC"
        raise FindingsError.message(
            problem,
            remedy="Report on it after its start; `ultracluster cost estimate` says what it will cost",
        )
    until = min(now, cluster.capacity.end or now)
    return None if start is None else ((until - start) / timedelta(hours=1), until)


def _rates(cluster: Cluster, node_hour: float | None) -> Rates:
    other = capacity_block_price(_OTHER, _OTHER_REGION).amount
    own = node_peak_tflops(cluster.node_type).get(_PRECISION)
    peak = node_peak_tflops(get_instance_type(_OTHER))[_PRECISION]
    return Rates(
        usd=node_hour,
        other_usd=None if other is None else float(other),
        peak_ratio=peak / own if own else None,
    )


def _sections(
    found: BlockReport,
    rates: Rates,
    cluster: Cluster,
    *,
    epoch_tokens: float | None,
    next_tokens: float | None,
) -> Iterator[Section]:
    paid = found.paid_minutes
    yield (
        "What a dollar bought",
        [
            ("paid", usd_text(found.usd), f"{paid / 60:,.1f} node-hours"),
            ("tokens", number_text(found.tokens), "speed of the jobs, without compilation and checkpoints"),
            ("a million tokens", usd_text(found.usd_per_million_tokens), "all that was paid, by all tokens"),
            (
                "… without losses",
                usd_text(found.usd_per_million_tokens_without_losses),
                "if all paid minutes had been training",
            ),
            (
                "an epoch",
                usd_text(epoch_tokens and found.usd_for(epoch_tokens)),
                "see --epoch-tokens" if epoch_tokens is None else f"{epoch_tokens:,.0f} tokens",
            ),
            ("MFU", percent_text(found.mfu), "mean while jobs train"),
        ],
    )
    yield (
        "Paid minutes by use",
        [
            (
                use,
                f"{found.minutes[use]:,.0f} ({found.minutes[use] / paid:.1%})",
                f"{usd_text(found.usd_of(use))}; {meaning}",
            )
            for use, meaning in USES.items()
        ],
    )
    p5_price = (
        "no price is known"
        if rates.other_usd is None
        else f"{rates.other_usd} USD for a node-hour in {_OTHER_REGION}"
    )
    yield (
        f"Against {_OTHER}, at list price",
        [
            (
                "a million tokens",
                usd_text(found.usd_per_million_tokens_other),
                f"with the same MFU ({_PRECISION}) and losses; {p5_price}",
            ),
            (
                "MFU of the same cost",
                percent_text(found.other_mfu_of_same_cost),
                f"above it, {_OTHER} is cheaper",
            ),
        ],
    )
    yield "Against the plan", list(_plan(found, rates, cluster))
    yield "Compile cache", list(_compile_cache(found))
    yield "Next block", list(_next_block(found, cluster, next_tokens))


def _compile_cache(found: BlockReport) -> Iterator[tuple[str, str, str]]:
    how = (
        "no graph was compiled"
        if found.seconds_per_graph is None
        else f"{found.seconds_per_graph:,.1f} s for each graph"
    )
    yield "graphs found", f"{found.graphs:,.0f}", how
    saved = "not recorded" if found.cache_minutes is None else f"{found.cache_minutes:,.0f} node-minutes"
    yield "saved", saved, usd_text(found.cache_usd)


def _next_block(found: BlockReport, cluster: Cluster, tokens: float | None) -> Iterator[tuple[str, str, str]]:
    hours = None if tokens is None else found.node_hours_for(tokens)
    cost = None if tokens is None else found.usd_for(tokens)
    without_losses = None if cost is None else cost * found.minutes[TRAINING] / found.paid_minutes
    yield "tokens", number_text(tokens), "see --next-tokens"
    days = "" if hours is None else f"{hours / cluster.nodes / 24:,.1f} days of {cluster.nodes} nodes"
    yield "node-hours", number_text(hours), days
    yield "cost", usd_text(cost), "with the price, speed and losses of this block"
    yield "… without losses", usd_text(without_losses), "if all paid minutes were training"


def _plan(found: BlockReport, rates: Rates, cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    start, end = cluster.capacity.start, cluster.capacity.end
    if start is None or end is None:
        yield "node-hours", "not known", "the rollout does not say start and end of the block"
        return
    planned = (end - start) / timedelta(hours=1) * cluster.nodes
    list_price = None if rates.usd is None else rates.usd * planned
    yield (
        "planned",
        f"{planned:,.1f} node-hours",
        f"{cluster.nodes} nodes from {start:%Y-%m-%d} to {end:%Y-%m-%d}: {usd_text(list_price)}",
    )
    share = found.paid_minutes / 60 / planned
    yield (
        "paid",
        f"{found.paid_minutes / 60:,.1f} node-hours",
        f"{share:.1%} of the plan, {usd_text(found.usd)}",
    )
    yield "tokens at the end", number_text(found.tokens and found.tokens / share), "if it goes on like this"


def _markdown(title: str, lead: str, sections: Sequence[Section], recorded: Recording) -> str:
    parts = [f"# {title}\n\n{lead}\n"]
    for heading, rows in sections:
        lines = [f"| {' | '.join(row)} |" for row in rows]
        parts.append("\n".join([f"## {heading}\n", "| | | |", "|---|--:|---|", *lines, ""]))
    events = [
        f"- {event.at:%Y-%m-%d %H:%M} UTC: {event.what}" for event in read_events(recorded) if event.letter
    ]
    parts.append(
        "\n".join(
            ["## Timeline\n", *(events or ["- no node was lost, and no drain or extension was seen"]), ""]
        )
    )
    return "\n".join(parts)


def _html(title: str, lead: str, sections: Sequence[Section], recorded: Recording) -> str:
    events = list(read_events(recorded))
    lines = [
        Line(label=label, points=tuple(points))
        for label, metric in (
            ("paid nodes", "PaidNodes"),
            ("paid and unused", "UnusedNodes"),
            ("running jobs", "RunningJobs"),
        )
        if (points := recorded.points(metric, "Average"))
    ]
    chart = draw_chart(
        "Timeline of nodes and jobs", lines, start=recorded.start, end=recorded.end, events=events
    )
    body = "".join(
        f"<section><h2>{html.escape(heading)}</h2>{table('', ['', 'value', 'how'], rows)}</section>\n"
        for heading, rows in sections
    )
    body += f"<section><h2>Timeline</h2>{chart.svg()}{draw_events(events)}</section>\n"
    return page(title, html.escape(lead), body, what="report")
