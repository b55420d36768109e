"""The page of a recording is self-contained, accessible, and drawn by a real browser."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtime.metrics.recordings import START, day, recording, series

from ultracluster_catalog.observability.panels import PANELS
from ultracluster_cli.metrics import metrics_page
from ultracluster_cli.metrics.charted_lines import charted_lines, node_hours
from ultracluster_cli.metrics.metrics_page import draw_page
from ultracluster_runtime.metrics.recorded_metrics import Recording, Series, write_recording

Run = Callable[..., Any]
BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")


def panel(title: str) -> Any:
    (found,) = (each for each in PANELS if each.title.startswith(title))
    return found


class Page(HTMLParser):
    """What a reader without eyes for charts finds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._silent = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent = tag in {"script", "style"}
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self._silent = self._silent and tag not in {"script", "style"}

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(data)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    draw_page(day(), path)
    return path


@pytest.fixture(scope="module")
def page(drawn: Path) -> Page:
    return Page(drawn.read_text("utf-8"))


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


def test_the_same_recording_gives_the_same_bytes(drawn: Path, tmp_path: Path) -> None:
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


def test_sums_of_a_period_are_shown_as_rates() -> None:
    # Five minutes of 16 nodes that report each minute; 300 s of 2 GB/s; 100 GiB free in each of five minutes.
    recorded = recording(
        series("NodesReporting", "Sum", [80.0]),
        series("EfaBytes", "Sum", [600e9]),
        series("FreeDataStorageCapacity", "Sum", [5 * 100 * 2.0**30]),
        series("SecondsToDrain", "Minimum", [5400.0]),
    )
    shown = {
        line.label: line.values
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


@pytest.mark.parametrize("ground", ["#ffffff", "#0d1117"])
def test_every_colour_stands_out_on_both_grounds(ground: str) -> None:
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


# The command


def kept(tmp_path: Path, recorded: Recording) -> str:
    path = tmp_path / "recording.json"
    write_recording(recorded, path)
    return str(path)


def test_draws_a_recording(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    outcome = run("dashboard", "--from", kept(tmp_path, day()), "--html", str(page))
    assert outcome.code == 0
    assert "pretrain in us-east-2" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--from", "{recording}"], "UC9332"),
        (["--html", "{page}"], "UC9332"),
        (["--from", "{recording}", "--cluster", "a", "--html", "{page}"], "UC9332"),
        (["--from", "{page}", "--html", "{page}"], "UC9330"),
        (["--from", "{empty}", "--html", "{page}"], "UC9335"),
        (["--cluster", "a", "--region", "us-east-2", "--hours", "0", "--html", "{page}"], "UC9333"),
        (["--cluster", "a", "--region", "us-east-2", "--hours", "10921", "--html", "{page}"], "UC9333"),
    ],
)
def test_rejects_invalid_requests(run: Run, tmp_path: Path, arguments: list[str], code: str) -> None:
    page = tmp_path / "page.html"
    empty = tmp_path / "empty.json"
    write_recording(recording(), empty)
    names = {"recording": kept(tmp_path, day()), "page": str(page), "empty": str(empty)}
    outcome = run("dashboard", *(each.format(**names) for each in arguments))
    assert outcome.code == 2
    assert code in outcome.stderr
    assert not page.exists()


def test_reports_that_plotly_is_missing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    outcome = run("dashboard", "--from", kept(tmp_path, day()), "--html", str(tmp_path / "page.html"))
    assert (outcome.code, "UC9331" in outcome.stderr) == (2, True)


def test_reports_errors_of_cloudwatch(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    arguments = (
        "dashboard",
        "--cluster",
        "a",
        "--region",
        "us-east-2",
        "--html",
        str(tmp_path / "page.html"),
    )
    outcome, named = run(*arguments), run(*arguments, "--profile", "nobody")
    assert (outcome.code, "UC9334" in outcome.stderr) == (2, True)
    assert (named.code, "UC9009" in named.stderr) == (2, True)


# A real browser


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
