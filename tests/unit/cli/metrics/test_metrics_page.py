"""The page of a recording draws its series; it is self-contained, accessible, and drawn by a real browser."""

import re
import shutil
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.metrics.drawn_pages import Page
from tests.unit.cli.pictures.elements import problems_of
from tests.unit.runtime.metrics.recordings import START, day, recording, series

from ultracluster_catalog.observability.panels import PANELS
from ultracluster_cli.metrics.metrics_page import charted_lines, draw_page, node_hours, read_events
from ultracluster_runtime.metrics.recorded_metrics import Series

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")


def test_every_chart_has_a_title_a_unit_and_its_values_as_tables(page: Page) -> None:
    charts = [attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("role") == "img"]
    assert len(charts) == len(PANELS)
    for each in PANELS:
        assert f"{each.title} in {each.unit}; its values are in the tables below it" in page.words
        assert f"{each.title} ({each.unit})" in page.words
    assert sum(tag == "details" for tag, _ in page.tags) == len(PANELS)
    assert sum(tag == "table" for tag, _ in page.tags) == 2 * len(PANELS) + 1
    assert {attributes.get("scope") for tag, attributes in page.tags if tag == "th"} == {"col", "row"}


def test_nothing_is_fetched(page: Page) -> None:
    named = [
        value for _, attributes in page.tags for name, value in attributes.items() if name in {"src", "href"}
    ]
    assert named == []
    (policy,) = (
        each["content"] for tag, each in page.tags if each.get("http-equiv") == "Content-Security-Policy"
    )
    assert str(policy).startswith("default-src 'none';")


def test_the_same_recording_produces_the_same_bytes(drawn: Path, tmp_path: Path) -> None:
    draw_page(day(), tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == drawn.read_bytes()


def test_names_cannot_bring_markup_into_the_page(tmp_path: Path) -> None:
    name = "</script><script>alert(1)</script>"
    recorded = recording(series("Loss", "Average", [1.0], job=name))
    draw_page(recorded, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "<script>alert(1)" not in text
    assert f"{name}: loss" in Page(text).words


def test_missing_metrics_are_listed_and_not_drawn(tmp_path: Path) -> None:
    draw_page(recording(series("PaidNodes", "Average", [4.0])), tmp_path / "page.html")
    read = Page((tmp_path / "page.html").read_text("utf-8"))
    assert sum(attributes.get("role") == "img" for _, attributes in read.tags) == 1
    assert "Loss" in read.words


def test_charts_can_be_read(page: Page, drawn: Path) -> None:
    charts = re.findall(r"<svg.*?</svg>", drawn.read_text("utf-8"), re.DOTALL)
    assert page.words
    assert len(charts) == len(PANELS)
    assert [problem for chart in charts for problem in problems_of(chart)] == []


def test_the_page_is_small_without_a_script(drawn: Path) -> None:
    assert drawn.stat().st_size < 1_000_000
    assert "<script" not in drawn.read_text("utf-8")


def test_tiles_show_the_headlines(tmp_path: Path) -> None:
    draw_page(day(), tmp_path / "page.html", node_hour=Decimal(10), note="A note.")
    words = Page((tmp_path / "page.html").read_text("utf-8")).words
    tiles = dict(zip(words[words.index("tokens/s") :], words[words.index("tokens/s") + 1 :], strict=False))
    assert tiles["MFU"] == "36.9%"
    assert tiles["cost so far"] == "3,840 USD"  # 16 nodes for 24 hours
    assert tiles["paid and unused"] == "4 node-hours"
    assert tiles["time to drain"] == "6.1 hours"
    assert tiles["alarms"] == "2"
    assert "unused nodes, a job waits" in words
    assert any("A note." in word for word in words)


def test_tiles_without_values_say_so(tmp_path: Path) -> None:
    draw_page(recording(series("PaidNodes", "Average", [4.0] * 12)), tmp_path / "page.html")
    words = Page((tmp_path / "page.html").read_text("utf-8")).words
    assert words.count("not recorded") == 4
    assert "4 node-hours" in words


def test_events_are_marked_on_all_charts(page: Page, drawn: Path) -> None:
    assert {"lost node", "2026-11-20 20:00 UTC"} <= set(page.words)
    assert "24 checkpoints, each a mark below the axes." in page.words
    assert drawn.read_text("utf-8").count(">A</text>") == len(PANELS)


def test_drain_extension_and_lost_nodes_are_events() -> None:
    left = [7200.0, 3600.0, 3600.0 + 86_400, 300.0, 0.0, 0.0]
    events = read_events(
        recording(
            series("SecondsToDrain", "Minimum", left),
            series("RunningNodes", "Average", [16.0, 16.0, 15.0, 12.0, 12.0, 0.0]),
            hours=0.5,
        )
    )
    # Nodes that end after the drain are not lost.
    assert [(event.letter, event.what) for event in events] == [
        ("A", "extension by 24 hours"),
        ("B", "lost node"),
        ("C", "3 lost nodes"),
        ("D", "drain"),
    ]


def browse(page: Path, folder: Path, *arguments: str) -> tuple[str, list[str]]:
    """Open a page in headless Chromium; give the document as it is in the end, and what its console says."""
    assert BROWSER
    command = [
        BROWSER,
        "--headless=new",
        "--no-sandbox",
        "--no-zygote",  # or the page gets a third of the processor
        "--disable-gpu",
        f"--user-data-dir={folder}",
        *arguments,
    ]
    done = subprocess.run(
        [*command, "--virtual-time-budget=5000", "--enable-logging=stderr", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


browser = pytest.mark.skipif(BROWSER is None, reason="needs Chromium: apt-get install chromium")


@browser
@pytest.mark.slow
def test_a_browser_draws_every_line_without_a_word_in_its_console(drawn: Path, tmp_path: Path) -> None:
    document, console = browse(drawn, tmp_path, "--window-size=1400,1000")
    assert console == []
    charts = re.findall(r"<svg.*?</svg>", document, re.DOTALL)
    for each, chart in zip(PANELS, charts, strict=True):
        assert all(line.label in chart for line in charted_lines(day(), each)), each.title


@browser
@pytest.mark.slow
def test_the_console_of_a_page_that_reaches_out_is_not_empty(drawn: Path, tmp_path: Path) -> None:
    text = drawn.read_text("utf-8")
    assert "Content-Security-Policy" in text
    text = text.replace("</main>", '<img src="https://example.com/x.png" alt=""></main>')
    reaching = tmp_path / "reaching.html"
    reaching.write_text(text, encoding="utf-8")
    _, console = browse(reaching, tmp_path / "profile")
    assert any("Content Security Policy" in line for line in console)


def panel(title: str) -> Any:
    (found,) = (each for each in PANELS if each.title.startswith(title))
    return found


def test_sums_of_a_period_are_shown_as_rates() -> None:
    # Five minutes of 16 nodes that report each minute; 300 s of 2 GB/s; 100 GiB free in each of five minutes.
    recorded = recording(
        series("NodesReporting", "Sum", [80.0]),
        series("EfaBytes", "Sum", [600e9]),
        series("FreeDataStorageCapacity", "Sum", [5 * 100 * 2.0**30]),
        series("SecondsToDrain", "Minimum", [5400.0]),
    )
    shown = {
        line.label: [value for _, value in line.points if value is not None]
        for title in ("Nodes:", "Traffic", "Free space", "Time left")
        for line in charted_lines(recorded, panel(title))
    }
    assert shown == {
        "reporting": [pytest.approx(16)],
        "EFA": [pytest.approx(2)],
        "free": [pytest.approx(100)],
        "until the drain": [pytest.approx(1.5)],
    }


def test_a_line_has_a_gap_where_values_are_missing() -> None:
    period = recording().period
    points = ((START, 1.0), (START + period, 2.0), (START + 4 * period, 3.0))
    recorded = recording(Series(metric="Loss", statistic="Average", job="train", points=points))
    (line,) = charted_lines(recorded, panel("Loss"))
    assert [value for _, value in line.points] == [1, 2, None, 3]


def test_node_hours_are_added_up() -> None:
    recorded = recording(series("PaidNodes", "Average", [16.0] * 12))
    assert node_hours(recorded, "PaidNodes") == pytest.approx(16)
    assert node_hours(recorded, "UnusedNodes") is None
