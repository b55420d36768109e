"""`ultracluster dashboard` draws a recording."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.runtime.metrics.recordings import SAMPLE, day, recording, sample

from ultracluster_cli.metrics import dashboard
from ultracluster_runtime.metrics.recorded_metrics import Recording
from ultracluster_runtime.metrics.recording_file import read_recording, write_recording


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
        (["--from", "{recording}"], "error: got "),
        (["--picture", "{page}"], "error: got "),
        (["--from", "{recording}", "--cluster", "a", "--picture", "{page}"], "error: got "),
        (["--from", "{page}", "--picture", "{page}"], "is not a recording of metrics"),
        (["--sample", "--from", "{recording}"], "error: got "),
        (["--from", "{recording}", "--picture", "page.svg"], "Allowed: FILE.html"),
        (["--from", "{empty}", "--picture", "{page}"], "has no metrics of"),
        (
            ["--cluster", "a", "--region", "us-east-2", "--hours", "0", "--picture", "{page}"],
            "error: --hours: got ",
        ),
        (
            ["--cluster", "a", "--region", "us-east-2", "--hours", "10921", "--picture", "{page}"],
            "error: --hours: got ",
        ),
    ],
)
def test_rejects_invalid_requests(
    run: Run, tmp_path: Path, arguments: list[str], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # outside of a project, whose cluster would be the source
    page = tmp_path / "page.html"
    empty = tmp_path / "empty.json"
    write_recording(recording(), empty)
    names = {"recording": kept(tmp_path, day()), "page": str(page), "empty": str(empty)}
    outcome = run("dashboard", *(each.format(**names) for each in arguments))
    assert outcome.code == 2
    assert code in outcome.stderr
    assert not page.exists()


def test_inside_a_project_its_only_cluster_is_the_source(
    run: Run, quickstart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def read(**source: Any) -> Recording:
        asked.append((source["cluster"], source["region"]))
        return day()

    monkeypatch.setattr(dashboard, "read_metrics", read)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cdk.json").write_text('{"context": {"rollout": "rollout.yaml"}}')
    (tmp_path / "rollout.yaml").write_text(quickstart.read_text())
    assert run("dashboard", "--save", "kept.json").code == 0
    assert asked == [("quickstart", "us-east-2")]

    (tmp_path / "rollout.yaml").write_text(quickstart.with_name("two-waves.yaml").read_text())
    outcome = run("dashboard", "--save", "kept.json")
    assert outcome.code == 2
    assert "got 3 clusters" in outcome.stderr


def test_draws_the_sample_and_says_that_it_is_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("dashboard", "--sample").code == 0
    text = (tmp_path / "dashboard.html").read_text("utf-8")
    assert "A sample, not a measurement: a seeded simulation" in text
    assert all(event in text for event in ("lost node", "extension by 24 hours", "checkpoints, each a mark"))
    assert " USD</dd>" in text


def test_the_sample_is_what_its_command_writes() -> None:
    assert read_recording(SAMPLE) == sample()
