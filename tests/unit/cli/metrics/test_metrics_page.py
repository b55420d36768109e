"""The page of a recording is self-contained, accessible, and drawn by a real browser."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unit.cli.metrics.drawn_pages import Page
from tests.unit.runtime.metrics.recordings import day, recording, series

from ultracluster_catalog.observability.panels import PANELS
from ultracluster_cli.metrics import metrics_page
from ultracluster_cli.metrics.metrics_page import charted_lines, draw_page

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")


def test_every_chart_has_a_title_a_unit_and_its_values_as_tables(page: Page) -> None:
    charts = [attributes for tag, attributes in page.tags if tag == "div" and attributes.get("role") == "img"]
    assert len(charts) == len(PANELS)
    for each, chart in zip(PANELS, charts, strict=True):
        assert f"{each.title} in {each.unit}" in str(chart["aria-label"])
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


@pytest.mark.parametrize("ground", ["#ffffff", "#0d1117"])
def test_every_colour_has_contrast_on_both_backgrounds(ground: str) -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    assert ground in metrics_page._STYLE
    for colour in metrics_page._COLOURS:
        low, high = sorted((luminance(colour), luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= 3, colour  # WCAG 2.2, 1.4.11


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
@pytest.mark.process
def test_a_browser_draws_every_line_without_a_word_in_its_console(drawn: Path, tmp_path: Path) -> None:
    document, console = browse(drawn, tmp_path, "--window-size=1400,1000")
    assert console == []
    for number, each in enumerate(PANELS):
        (chart,) = re.findall(rf'<div id="chart-{number}".*?</figure>', document, re.DOTALL)
        assert chart.count('class="trace scatter') == len(charted_lines(day(), each)), each.title
        assert chart.count('class="legendtext"') == len(charted_lines(day(), each)), each.title


@browser
@pytest.mark.process
def test_the_console_of_a_page_that_reaches_out_is_not_empty(drawn: Path, tmp_path: Path) -> None:
    text = re.sub(
        r"<script.*?</script>", "", drawn.read_text("utf-8"), flags=re.DOTALL
    )  # charts take seconds
    assert "Content-Security-Policy" in text
    text = text.replace("</main>", '<img src="https://example.com/x.png" alt=""></main>')
    reaching = tmp_path / "reaching.html"
    reaching.write_text(text, encoding="utf-8")
    _, console = browse(reaching, tmp_path / "profile")
    assert any("Content Security Policy" in line for line in console)
