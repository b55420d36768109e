"""Draw estimates as bars, into a PNG file or a self-contained HTML page."""

import html
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from ultracluster_cli.plot_extra import plot_extra
from ultracluster_rules.findings import Finding, quote
from ultracluster_stacks.cost import Estimate

_WIDTH, _HEIGHT_OF_A_BAR, _HEIGHT_BESIDE = 10.0, 0.32, 1.3


def draw_costs(estimates: Sequence[Estimate], path: Path) -> None:
    """Draw the cost of a run by line as ``.html`` or ``.png``: a panel per cluster, ranges to their upper end."""
    with plot_extra():
        from matplotlib import figure, rcParams  # noqa: PLC0415 - optional dependency; takes a second
    rcParams["svg.hashsalt"] = "ultracluster"  # deterministic output
    rcParams["svg.fonttype"] = "none"

    bars = [[line for line in estimate.lines if line.run(estimate.usage).is_known] for estimate in estimates]
    heights = [_HEIGHT_BESIDE + _HEIGHT_OF_A_BAR * len(lines) for lines in bars]
    drawing = figure.Figure(figsize=(_WIDTH, sum(heights)), layout="constrained")
    panels = drawing.subplots(len(estimates), 1, squeeze=False, height_ratios=heights)
    for (panel,), estimate, lines in zip(panels, estimates, bars, strict=True):
        amounts = [line.run(estimate.usage) for line in lines]
        drawn = panel.barh([line.name for line in lines], [float(estimate.high) for estimate in amounts])
        panel.bar_label(drawn, [estimate.text() for estimate in amounts], padding=4)
        panel.invert_yaxis()
        panel.set_xscale("symlog", linthresh=1)  # nodes cost thousands of times as much as an alarm
        panel.set_xlabel("USD per run (log scale)")
        panel.margins(x=0.2)
        panel.set_title(_title(estimate), loc="left", fontsize=10)
    if path.suffix == ".png":
        drawing.savefig(path, format="png", dpi=120, metadata={"Software": ""})
        return
    svg = io.StringIO()
    drawing.savefig(svg, format="svg", metadata={"Date": None})
    names = ", ".join(estimate.footprint.cluster for estimate in estimates)
    path.write_text(
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{html.escape(names)}: cost</title></head>\n'
        f"<body>\n{svg.getvalue()[svg.getvalue().index('<svg') :]}</body>\n</html>\n",
        encoding="utf-8",
    )


def check_chart(path: Path | None) -> Iterator[Finding]:
    """Yield UC9306 for a file that `draw_costs` cannot write; None is no chart."""
    if path is not None and path.suffix not in {".html", ".png"}:
        yield Finding(code="UC9306", problem=f"got {quote(str(path))}", allowed="FILE.html or FILE.png")


def _title(estimate: Estimate) -> str:
    without = estimate.run.without
    left_out = f", without {', '.join(without)}" if without else ""
    name = f"{estimate.footprint.cluster} in {estimate.footprint.region}"
    return f"{name}: {estimate.run.text()} USD for {estimate.usage.hours:,} hours{left_out}"
