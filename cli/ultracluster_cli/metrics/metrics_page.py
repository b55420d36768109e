"""Draw recorded metrics as a self-contained HTML page."""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from string import ascii_uppercase
from typing import Final

from ultracluster_catalog.observability.panels import PANELS, MetricLine, Panel
from ultracluster_cli.pictures.charts import Event, Line, draw_chart, short
from ultracluster_runtime.metrics.recorded_metrics import Recording
from ultracluster_spec.alarms import Alarms

_ROWS_OF_A_TABLE = 24

# The browser blocks all network requests of the page.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_THRESHOLDS: Final = Alarms()
_ALARMS: Final[tuple[tuple[str, str, str, Callable[[float], bool]], ...]] = (
    ("unused nodes", "UnusedNodes", "Average", lambda nodes: nodes > 0),
    ("idle nodes", "CoreUtilization", "Minimum", lambda percent: percent < _THRESHOLDS.idle_percent),
    ("drain is near", "SecondsToDrain", "Minimum", lambda left: left < _THRESHOLDS.drain_minutes * 60),
    ("a job waits", "WaitSeconds", "Maximum", lambda wait: wait > _THRESHOLDS.wait_minutes * 60),
    ("uncorrected ECC errors", "EccUncorrected", "Sum", lambda count: count > 0),
    ("missing Neuron devices", "NeuronDevicesMissing", "Maximum", lambda count: count > 0),
    ("missing EFA devices", "EfaDevicesMissing", "Maximum", lambda count: count > 0),
    ("TCP instead of EFA", "TcpFallback", "Maximum", lambda nodes: nodes > 0),
)
"""Default alarms that the last value of a metric tells of."""

_STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --page: #ffffff; --line: #d0d7de; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9aa4af; --page: #0d1117; --line: #3d444d; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); margin: 0 auto; max-width: 90rem; padding: 1.5rem; }
h1 { margin: 0; } h2 { border-bottom: 1px solid var(--line); margin: 2rem 0 1rem; } h3 { font-size: 1rem; margin: 0; }
p.soft, figcaption { color: var(--soft); }
.panels { display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fill, minmax(min(28rem, 100%), 1fr)); }
figure { margin: 0; min-width: 0; } figcaption { font-size: 0.875rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } .scroll { overflow-x: auto; }
th, td { border-bottom: 1px solid var(--line); padding: 0.2rem 0.8rem 0.2rem 0; text-align: right; } th:first-child, caption, .events th, .events td { text-align: left; }
summary { cursor: pointer; font-size: 0.875rem; }
svg { background: #fff; border-radius: 6px; height: auto; max-width: 100%; width: 100%; }
.tiles { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(11rem, 45%), 1fr)); margin: 1.5rem 0; padding: 0; }
.tiles div { border: 1px solid var(--line); border-radius: 6px; padding: 0.6rem 0.8rem; }
.tiles dt, .tiles small { color: var(--soft); font-size: 0.875rem; } .tiles dd { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; } .tiles small { display: block; }
@media print { details { display: none; } figure { break-inside: avoid; } }
"""


def draw_page(recording: Recording, path: Path, *, node_hour: Decimal | None = None, note: str = "") -> None:
    """Draw the panels that have values, each with a table of its figures. The output is deterministic.

    Args:
        recording: What to draw.
        path: The page.
        node_hour: Price of a node-hour in USD, for the costs.
        note: A sentence below the title.
    """
    title = f"{recording.cluster} in {recording.region}"
    events = list(read_events(recording))
    panels = [(panel, charted_lines(recording, panel)) for panel in PANELS]
    missing = [panel.title for panel, lines in panels if not lines]
    sections = "".join(
        f'<section aria-labelledby="{name}"><h2 id="{name}">{name}</h2><div class="panels">'
        f"{''.join(_panel(recording, panel, lines, events) for panel, lines in group)}</div></section>\n"
        for name, group in groupby(filter(itemgetter(1), panels), key=lambda drawn: drawn[0].section)
    )
    lead = (
        f"{_time(recording.start)} to {_time(recording.end)} UTC, one value per {_duration(recording.period)}. "
        f"{html.escape(note)}"
    )
    body = f"{_tiles(recording, node_hour)}{draw_events(events)}{sections}{_not_recorded(missing)}"
    path.write_text(page(title, lead, body, what="metrics"), encoding="utf-8")


def page(title: str, lead: str, body: str, *, what: str) -> str:
    """Return a self-contained page; lead and body are HTML."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}: {what}</title>\n<style>{_STYLE}</style>\n"
        f"</head>\n<body>\n<main>\n<h1>{html.escape(title)}</h1>\n"
        f'<p class="soft">{lead}</p>\n{body}</main>\n</body>\n</html>\n'
    )


def _tiles(recording: Recording, node_hour: Decimal | None) -> str:
    """Return the headline figures, as they are at the end of the recording."""

    def last(metric: str, statistic: str) -> float | None:
        values = recording.values(metric, statistic)
        return values[-1] if values else None

    def of_jobs(metric: str) -> list[float]:
        """Return the last values of the jobs that still report."""
        points = [recording.points(metric, "Average", job=job)[-1:] for job in recording.jobs]
        newest = max((point[0] for (point,) in filter(None, points)), default=None)
        return [point[1] for (point,) in filter(None, points) if point[0] == newest]

    def usd(hours: float | None) -> str:
        return "" if hours is None or node_hour is None else f"{Decimal(str(hours)) * node_hour:,.0f} USD"

    paid, unused = node_hours(recording, "PaidNodes"), node_hours(recording, "UnusedNodes")
    tokens, mfu, drain = of_jobs("TokensPerSecond"), of_jobs("Mfu"), last("SecondsToDrain", "Minimum")
    alarms = [
        name
        for name, metric, statistic, fires in _ALARMS
        if (value := last(metric, statistic)) is not None and fires(value)
    ]
    per_hour = f"{short(paid)} node-hours at {node_hour} USD" if node_hour else "see --node-hour"
    tiles = (
        ("tokens/s", short(sum(tokens)) if tokens else "", "last value of all jobs"),
        ("MFU", f"{fmean(mfu):.1%}" if mfu else "", "last value, mean of the jobs"),
        ("cost so far", "" if paid is None else usd(paid) or f"{short(paid)} node-hours", per_hour),
        ("paid and unused", f"{short(unused)} node-hours" if unused is not None else "", usd(unused)),
        ("time to drain", "" if drain is None else f"{max(drain, 0) / 3600:.1f} hours", ""),
        ("alarms", str(len(alarms)), ", ".join(alarms) or "no default threshold is crossed"),
    )
    items = (
        f"<div><dt>{name}</dt><dd>{html.escape(value) or 'not recorded'}</dd><small>{html.escape(more)}</small></div>"
        for name, value, more in tiles
    )
    return f'<dl class="tiles">{"".join(items)}</dl>\n'


def draw_events(events: Sequence[Event]) -> str:
    """Return the table of events with a letter, and the number of checkpoints."""
    saves = sum(not event.letter for event in events)
    rows = [[event.letter, event.what, f"{_time(event.at)} UTC"] for event in events if event.letter]
    text = f'<p class="soft">{saves} checkpoints, each a mark below the axes.</p>\n' if saves else ""
    listed = table("Events, marked on all charts", ["", "event", "time"], rows) if rows else ""
    return f'<div class="events">{listed}</div>{text}'


def _not_recorded(titles: Sequence[str]) -> str:
    if not titles:
        return ""
    items = "".join(f"<li>{html.escape(title)}</li>" for title in titles)
    return f"<section><h2>Not recorded</h2><p>No values in this period:</p><ul>{items}</ul></section>\n"


def _panel(recording: Recording, panel: Panel, lines: Sequence[Line], events: Sequence[Event]) -> str:
    number = PANELS.index(panel)
    title = html.escape(panel.title)
    words = f"{panel.title} in {panel.unit}; its values are in the tables below it"
    chart = draw_chart(words, lines, start=recording.start, end=recording.end, events=events)
    figures = [[line.label, *_figures(line)] for line in lines]
    return (
        f'<figure aria-labelledby="panel-{number}"><h3 id="panel-{number}">{title} ({html.escape(panel.unit)})</h3>\n'
        f"{chart.svg()}"
        f'<figcaption><div class="scroll">{table("", ["", "minimum", "mean", "maximum", "last"], figures)}</div></figcaption>\n'
        f'<details><summary>Values of "{title}" over time</summary><div class="scroll">{_values(recording, panel, lines)}'
        f"</div></details></figure>\n"
    )


def _figures(line: Line) -> list[str]:
    values = [value for _, value in line.points if value is not None]
    return [short(value) for value in (min(values), fmean(values), max(values), values[-1])]


def _values(recording: Recording, panel: Panel, lines: Sequence[Line]) -> str:
    span = (recording.end - recording.start) / _ROWS_OF_A_TABLE
    columns = [_by_row(line, recording.start, span) for line in lines]
    rows = [
        [_time(recording.start + row * span), *(short(column.get(row)) for column in columns)]
        for row in range(_ROWS_OF_A_TABLE)
    ]
    return table(
        f"Mean per {_duration(span)} in {panel.unit}", ["from (UTC)", *(line.label for line in lines)], rows
    )


def _by_row(line: Line, start: datetime, span: timedelta) -> Mapping[int, float]:
    points = ((int((moment - start) / span), value) for moment, value in line.points if value is not None)
    grouped = groupby(points, key=lambda point: point[0])
    return {row: fmean(value for _, value in group) for row, group in grouped}


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table, whose first column has headings."""
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in columns)
    body = "".join(
        f'<tr><th scope="row">{html.escape(first)}</th>{"".join(f"<td>{html.escape(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    caption_html = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{caption_html}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>\n"


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _duration(span: timedelta) -> str:
    minutes = span.total_seconds() / 60
    return f"{minutes:g} minutes" if minutes != 1 else "minute"


def charted_lines(recording: Recording, panel: Panel) -> list[Line]:
    """Return the lines of a panel that have a value."""
    lines = [
        Line(label=label, points=tuple(_with_gaps(recording, line, job)))
        for line in panel.lines
        for job, label in _labels(recording, line)
    ]
    return [line for line in lines if line.points]


def _labels(recording: Recording, line: MetricLine) -> Iterator[tuple[str | None, str]]:
    if not line.by_job:
        yield None, line.label
        return
    for job in recording.jobs:
        yield job, f"{job}: {line.label}"


def _with_gaps(
    recording: Recording, line: MetricLine, job: str | None
) -> Iterator[tuple[datetime, float | None]]:
    factor = line.scale
    if line.per_seconds is not None:
        factor *= line.per_seconds / recording.period.total_seconds()
    previous: datetime | None = None
    for moment, value in recording.points(line.metric, line.statistic, job=job):
        if previous is not None and moment - previous > recording.period:
            yield previous + recording.period, None
        yield moment, value * factor
        previous = moment


def node_hours(recording: Recording, metric: str) -> float | None:
    """Sum the node-hours of a metric that counts nodes; None if it is not in the recording."""
    values = recording.values(metric, "Average")
    return sum(values) * (recording.period / timedelta(hours=1)) if values else None


def read_events(recording: Recording) -> Iterator[Event]:
    """Yield the events that the metrics tell of, in chronological order: lost nodes, drain, extension, checkpoints."""
    nodes = recording.points("RunningNodes", "Average")
    left = recording.points("SecondsToDrain", "Minimum")
    drained = [moment for moment, seconds in left if seconds <= 0][:1]
    events = [
        (moment, "lost node" if before - after < 1.5 else f"{before - after:.0f} lost nodes")  # noqa: PLR2004 - nodes
        for (_, before), (moment, after) in pairwise(nodes)
        if after <= before - 1 and not (drained and moment >= drained[0])
    ]
    events += [
        (moment, f"extension by {(after - before) / 3600:.0f} hours")
        for (_, before), (moment, after) in pairwise(left)
        if after > before + 3600
    ]
    events += [(moment, "drain") for moment in drained]
    saves = {
        moment
        for job in recording.jobs
        for moment, seconds in recording.points("CheckpointSeconds", "Sum", job=job)
        if seconds > 0
    }
    letters = iter(ascii_uppercase)
    lettered = [Event(at=moment, what=what, letter=next(letters, "+")) for moment, what in sorted(events)]
    yield from sorted(
        (*lettered, *(Event(at=moment, what="checkpoint") for moment in saves)), key=lambda event: event.at
    )
