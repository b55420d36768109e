"""Draw recorded metrics as a self-contained HTML page."""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from ultracluster_catalog.observability.panels import PANELS, MetricLine, Panel
from ultracluster_cli.plot_extra import plot_extra
from ultracluster_runtime.metrics.recorded_metrics import Recording

# Okabe-Ito colours, darkened to a contrast of 3:1 on light and dark backgrounds. Lines also differ in their dashes.
_COLOURS = ("#0072b2", "#b87a00", "#008f68", "#c2649a", "#d55e00", "#2e93c4")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_GRID = "rgba(128, 128, 128, 0.3)"
_ROWS_OF_A_TABLE = 24

# The browser blocks all network requests of the page.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)

_STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --page: #ffffff; --line: #d0d7de; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9aa4af; --page: #0d1117; --line: #3d444d; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); margin: 0 auto; max-width: 90rem; padding: 1.5rem; }
h1 { margin: 0; } h2 { border-bottom: 1px solid var(--line); margin: 2rem 0 1rem; } h3 { font-size: 1rem; margin: 0; }
p.soft, figcaption { color: var(--soft); }
.panels { display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fill, minmax(min(28rem, 100%), 1fr)); }
figure { margin: 0; min-width: 0; } figcaption { font-size: 0.875rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } .scroll { overflow-x: auto; }
th, td { border-bottom: 1px solid var(--line); padding: 0.2rem 0.8rem 0.2rem 0; text-align: right; } th:first-child { text-align: left; }
summary { cursor: pointer; font-size: 0.875rem; }
/* The charts inherit text and background colours from the page. */
.js-plotly-plot .main-svg { background: transparent !important; }
.js-plotly-plot .main-svg :not(.hoverlayer *) > text { fill: var(--text) !important; }
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChartedLine:
    """One line of a chart, with its values in the unit of the axis; None is a gap in the recording."""

    label: str
    points: tuple[tuple[datetime, float | None], ...]

    @property
    def values(self) -> list[float]:
        """Values without gaps."""
        return [value for _, value in self.points if value is not None]


def draw_page(recording: Recording, path: Path) -> None:
    """Draw the panels that have values, each with a table of its figures. The output is deterministic."""
    with plot_extra():
        from plotly import io, offline  # noqa: PLC0415 - optional, and slow to import
    title = f"{recording.cluster} in {recording.region}"
    drawn = [(panel, lines) for panel in PANELS if (lines := charted_lines(recording, panel))]
    missing = [panel.title for panel in PANELS if not charted_lines(recording, panel)]
    sections = "".join(
        f'<section aria-labelledby="{name}"><h2 id="{name}">{name}</h2><div class="panels">'
        f"{''.join(_panel(recording, panel, lines, io.to_html) for panel, lines in group)}</div></section>\n"
        for name, group in groupby(drawn, key=lambda drawn_panel: drawn_panel[0].section)
    )
    path.write_text(
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}: metrics</title>\n<style>{_STYLE}</style>\n"
        f"<script>{offline.get_plotlyjs()}</script>\n</head>\n<body>\n<main>\n<h1>{html.escape(title)}</h1>\n"
        f'<p class="soft">{_time(recording.start)} to {_time(recording.end)} UTC, one value per '
        f"{_duration(recording.period)}</p>\n{_overview(recording)}{sections}{_not_recorded(missing)}"
        f"</main>\n</body>\n</html>\n",
        encoding="utf-8",
    )


def _overview(recording: Recording) -> str:
    hours = {
        "paid": node_hours(recording, "PaidNodes"),
        "running": node_hours(recording, "RunningNodes"),
        "paid without an instance": node_hours(recording, "UnusedNodes"),
    }
    rows = [[name, _figure(value)] for name, value in hours.items() if value is not None]
    return _table("Node-hours in this period", ["nodes", "node-hours"], rows) if rows else ""


def _not_recorded(titles: Sequence[str]) -> str:
    if not titles:
        return ""
    items = "".join(f"<li>{html.escape(title)}</li>" for title in titles)
    return f"<section><h2>Not recorded</h2><p>No values in this period:</p><ul>{items}</ul></section>\n"


def _panel(
    recording: Recording, panel: Panel, lines: Sequence[ChartedLine], to_html: Callable[..., str]
) -> str:
    number = PANELS.index(panel)
    title = html.escape(panel.title)
    figures = [[line.label, *_figures(line)] for line in lines]
    return (
        f'<figure aria-labelledby="panel-{number}"><h3 id="panel-{number}">{title} ({html.escape(panel.unit)})</h3>\n'
        f'<div role="img" aria-label="Chart: {title} in {html.escape(panel.unit)}; its values are in the tables below it">'
        f"{_chart(recording, panel, lines, to_html)}</div>\n"
        f'<figcaption><div class="scroll">{_table("", ["", "minimum", "mean", "maximum", "last"], figures)}</div></figcaption>\n'
        f'<details><summary>Values of "{title}" over time</summary><div class="scroll">{_values(recording, panel, lines)}'
        f"</div></details></figure>\n"
    )


def _figures(line: ChartedLine) -> list[str]:
    values = line.values
    return [_figure(value) for value in (min(values), fmean(values), max(values), values[-1])]


def _values(recording: Recording, panel: Panel, lines: Sequence[ChartedLine]) -> str:
    span = (recording.end - recording.start) / _ROWS_OF_A_TABLE
    columns = [_by_row(line, recording.start, span) for line in lines]
    rows = [
        [_time(recording.start + row * span), *(_figure(column.get(row)) for column in columns)]
        for row in range(_ROWS_OF_A_TABLE)
    ]
    return _table(
        f"Mean per {_duration(span)} in {panel.unit}", ["from (UTC)", *(line.label for line in lines)], rows
    )


def _by_row(line: ChartedLine, start: datetime, span: timedelta) -> Mapping[int, float]:
    points = ((int((moment - start) / span), value) for moment, value in line.points if value is not None)
    grouped = groupby(points, key=lambda point: point[0])
    return {row: fmean(value for _, value in group) for row, group in grouped}


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in columns)
    body = "".join(
        f'<tr><th scope="row">{html.escape(first)}</th>{"".join(f"<td>{html.escape(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    caption_html = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{caption_html}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>\n"


def _chart(
    recording: Recording, panel: Panel, lines: Sequence[ChartedLine], to_html: Callable[..., str]
) -> str:
    figure = {
        "data": [
            {
                "type": "scatter",
                "x": list(times),
                "y": list(values),
                "name": line.label,
                "mode": "lines+markers",
                **style,
            }
            for line, style in zip(lines, _line_styles(len(lines)), strict=True)
            for times, values in [zip(*line.points, strict=True)]
        ],
        "layout": {
            "template": "none",
            "height": 300,
            "margin": {"l": 60, "r": 20, "t": 20, "b": 40},
            "paper_bgcolor": "rgba(0, 0, 0, 0)",
            "plot_bgcolor": "rgba(0, 0, 0, 0)",
            "showlegend": True,
            "legend": {"orientation": "h", "y": -0.2},
            "hovermode": "x",
            "hoverlabel": {"font": {"color": "#ffffff"}, "bgcolor": "#24292f"},
            "xaxis": {"type": "date", "gridcolor": _GRID, "range": [recording.start, recording.end]},
            "yaxis": {"gridcolor": _GRID, "rangemode": "tozero", "title": {"text": panel.unit}},
        },
    }
    return to_html(
        figure,
        full_html=False,
        include_plotlyjs=False,
        div_id=f"chart-{PANELS.index(panel)}",
        config={"displayModeBar": False, "responsive": True},
    )


def _line_styles(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        colour = _COLOURS[number % len(_COLOURS)]
        dash = _DASHES[number % len(_DASHES)]
        yield {"line": {"color": colour, "dash": dash, "width": 2}, "marker": {"color": colour, "size": 3}}


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"  # noqa: PLR2004 - four digits


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _duration(span: timedelta) -> str:
    minutes = span.total_seconds() / 60
    return f"{minutes:g} minutes" if minutes != 1 else "minute"


def charted_lines(recording: Recording, panel: Panel) -> list[ChartedLine]:
    """Return the lines of a panel that have a value."""
    lines = [
        ChartedLine(label=label, points=tuple(_with_gaps(recording, line, job)))
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
