"""Results as JSON, as a table in Markdown and as a plot."""

import json
import math
from pathlib import Path
from typing import Any

from ultracluster_cli.pictures.drawing import DARK, MARGIN, Drawing

__all__ = ["fitted_exponent", "shows", "write_report"]

_BEGIN, _END = "<!-- figures: begin -->", "<!-- figures: end -->"


def write_report(results: dict[str, Any], directory: Path, *, docs: Path | None) -> list[Path]:
    """Write the results.

    Args:
        results: What was measured.
        directory: Folder for the results as JSON, tables and a plot.
        docs: Folder of performance.md, whose table of promises is replaced. None leaves it alone.

    Returns:
        What was written.
    """
    head = _head(results)
    written = [directory / "results.json", directory / "results.md", directory / "growth.svg"]
    written[0].write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    written[1].write_text(f"{head}\n{_tables(results)}", encoding="utf-8")
    _plot(results, written[2])
    if docs is not None:
        page = docs / "performance.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
        after = rest.partition(_END)[2]
        page.write_text(f"{before}{_BEGIN}\n\n{head}\n{_END}{after}", encoding="utf-8")
        written.append(page)
    return written


def fitted_exponent(points: list[tuple[float, float]]) -> float:
    """Return the slope of a straight line through the points on paper that is logarithmic both ways."""
    xs, ys = ([math.log(point[axis]) for point in points] for axis in (0, 1))
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    covariance = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return covariance / sum((x - x_mean) ** 2 for x in xs)


def shows(results: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
    """Return what is promised: the promise, what was measured, the bound, and whether it holds."""
    cases, scripts = results["cases"], results["scripts"]
    most = max(case["clusters"] for case in cases.values())
    growth = _growth(results)
    further = (growth[-1][1] - growth[0][1]) / (growth[-1][0] - growth[0][0])
    cpu = {name: case["cpu"] for name, case in cases.items()}
    rows = [
        ("One cluster without cache, relative to hello world", cpu["ours"] / cpu["hello"], 2.3, "x"),
        (f"Each additional cluster, up to {most}", further, 0.2, "s"),
        (f"Exponent of growth, up to {most} clusters", fitted_exponent(growth), 1.0, ""),
        (f"Memory of Node at {most} clusters, one process", cases[f"ours {most}"]["node_mib"], 500, "MiB"),
        (
            f"{most} clusters, one of them changed, relative to one without cache",
            cpu[f"ours {most} one changed"] / cpu["ours"],
            1.5,
            "x",
        ),
        ("`ultracluster --help`", cpu["help"], 0.25, "s"),
        ("Validation of a rollout of 90 clusters", scripts["validation of 90 clusters"][0], 0.5, "s"),
        (
            "Search of 30 Regions, relative to one Region",
            scripts["search"][0] / scripts["search"][1],
            2.0,
            "x",
        ),
    ]
    if "parallelcluster" in cases:
        theirs = cpu["parallelcluster"] / cases["parallelcluster"]["resources"]
        for name, what in (("ours", "without cache"), ("ours known", "unchanged")):
            each = cpu[name] / cases[name]["resources"]
            rows.append((f"Each resource, {what}, relative to ParallelCluster", each / theirs, 1.0, "x"))
    local = [(size, spent[0]) for size, spent in _local(results)]
    rows.append(("Exponent of deployment time on the local AWS", fitted_exponent(local), 1.1, ""))
    return [
        (what, f"{value:.3g} {unit}".strip(), f"{bound:g} {unit}".strip(), value <= bound)
        for what, value, bound, unit in rows
    ]


def _growth(results: dict[str, Any]) -> list[tuple[float, float]]:
    names = [name for name in results["cases"] if name.removeprefix("ours ").isdecimal()]
    points = [
        (results["cases"][name]["clusters"], results["cases"][name]["cpu"]) for name in ("ours", *names)
    ]
    return sorted(points)


def _local(results: dict[str, Any]) -> list[tuple[int, list[float]]]:
    found = [(name, spent) for name, spent in results["scripts"].items() if name.startswith("local AWS")]
    return [(int(name.rpartition(" ")[2]), spent) for name, spent in found]


def _head(results: dict[str, Any]) -> str:
    lines = [
        f"Measured on {results['date']}: {results['machine']}. All commands ran in turn, in {results['rounds']} rounds;",
        f"hello world, our quick start and the handwritten Python app ran {results['cases']['hello']['runs']} times in total;",
        f"figures are medians. {', '.join(f'{name} {version}' for name, version in results['versions'].items())}.",
        "",
        "| target | measured | bound | met |",
        "|---|---|---|---|",
        *(
            f"| {what} | {value} | {bound} | {'yes' if holds else '**no**'} |"
            for what, value, bound, holds in shows(results)
        ),
    ]
    by_hand = results["cases"]["ours"]["cpu"] / results["cases"]["by hand"]["cpu"]
    lines += [
        "",
        f"No target: one cluster without cache takes {by_hand:.3g} x the time of a handwritten Python app with the same resources.",
    ]
    lines += ["", *(f"Without {peer}: {reason}." for peer, reason in results["missing"].items())]
    return "\n".join(lines).rstrip() + "\n"


def _tables(results: dict[str, Any]) -> str:
    hello = results["cases"]["hello"]["cpu"]
    lines = [
        "Processor seconds count all processes, user and system.",
        "",
        "| what | CPU s | of hello world | of it Node | wall s | Python MiB | Node MiB | resources | CPU ms each |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for case in results["cases"].values():
        each = f"{case['cpu'] / case['resources'] * 1000:.1f}" if case["resources"] else ""
        cells = [
            case["what"],
            f"{case['cpu']:.2f}",
            f"{case['cpu'] / hello:.2f}",
            f"{case['node_cpu']:.2f}",
            f"{case['wall']:.2f}",
            f"{case['python_mib']:.0f}",
            f"{case['node_mib']:.0f}",
            str(case["resources"] or ""),
            each,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| local AWS | CPU s | stacks | CPU ms each |", "|---|---|---|---|"]
    for size, (spent, stacks) in _local(results):
        lines.append(f"| {size} clusters | {spent:.2f} | {stacks:.0f} | {spent / stacks * 1000:.0f} |")
    lines += ["", "![Growth over clusters, and one cluster beside its peers](growth.svg)"]
    return "\n".join(lines) + "\n"


def _plot(results: dict[str, Any], path: Path) -> None:
    """Draw the growth over clusters, and one cluster beside its peers, as bars of CPU seconds."""
    points = _growth(results)
    shown = [case for case in results["cases"].values() if case["resources"] and case["clusters"] <= 1]
    growth = f"Growth of a cold synthesis in one process: exponent {fitted_exponent(points):.2f}"
    charts = (
        (growth, [(f"{clusters:.0f} clusters", seconds) for clusters, seconds in points]),
        ("One cluster, and its peers", [(case["what"], case["cpu"]) for case in shown]),
    )
    drawing = Drawing("CPU seconds of synthesis")
    base = float(2 * MARGIN)
    for heading, bars in charts:
        base = drawing.heading(heading, base)
        scale = 480 / max(seconds for _, seconds in bars)
        for name, seconds in bars:
            drawing.text(name, MARGIN, base, room=300)
            drawing.rect(330, base - 11, seconds * scale, 14, fill=DARK["blue"])
            drawing.text(f"{seconds:.2f} CPU s", 340 + seconds * scale, base)
            base += 22
        base += 16
    path.write_text(drawing.svg(), encoding="utf-8")
