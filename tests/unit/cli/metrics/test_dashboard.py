"""`ultracluster dashboard` draws a recording."""

import sys
from pathlib import Path

import pytest
from tests.unit.cli.metrics.drawn_pages import Run
from tests.unit.runtime.metrics.recordings import day, recording

from ultracluster_runtime.metrics.recorded_metrics import Recording, write_recording


def kept(tmp_path: Path, recorded: Recording) -> str:
    path = tmp_path / "recording.json"
    write_recording(recorded, path)
    return str(path)


def test_draws_a_recording(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    outcome = run("dashboard", "--from", kept(tmp_path, day()), "--picture", str(page))
    assert outcome.code == 0
    assert "pretrain in us-east-2" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--from", "{recording}"], "UC9332"),
        (["--picture", "{page}"], "UC9332"),
        (["--from", "{recording}", "--cluster", "a", "--picture", "{page}"], "UC9332"),
        (["--from", "{page}", "--picture", "{page}"], "UC9330"),
        (["--from", "{empty}", "--picture", "{page}"], "UC9335"),
        (["--cluster", "a", "--region", "us-east-2", "--hours", "0", "--picture", "{page}"], "UC9333"),
        (["--cluster", "a", "--region", "us-east-2", "--hours", "10921", "--picture", "{page}"], "UC9333"),
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
    outcome = run("dashboard", "--from", kept(tmp_path, day()), "--picture", str(tmp_path / "page.html"))
    assert (outcome.code, "UC9209" in outcome.stderr) == (2, True)
