"""`ultracluster cost report`: its figures for the sample, computed a second time from the raw recording, and its refusals."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.runtime.metrics.recordings import SAMPLE, recording, series

from ultracluster_cli.metrics import metric_source
from ultracluster_runtime.metrics.recorded_metrics import Recording
from ultracluster_runtime.metrics.recording_file import write_recording

EPOCH = 10_000_000_000


@pytest.fixture
def sample(run: Run, quickstart: Path) -> Callable[..., Any]:
    """Report on the sample, whose cluster is the one of 16 trn2.48xlarge in us-east-2."""
    rollout = str(quickstart.with_name("two-waves.yaml"))
    return lambda *options: run("cost", "report", rollout, "--from", str(SAMPLE), *options)


def recomputed() -> dict[str, Any]:
    """The figures of the sample with the list prices of 2026-07-22, in another way: seconds of one node, one by one metric."""
    raw = json.loads(SAMPLE.read_text())
    values = {(row["metric"], row["statistic"]): dict(row["points"]) for row in raw["series"]}
    step = raw["period_seconds"]
    rate = values["TokensPerSecond", "Average"]
    node_seconds = {
        "training": 0.0,
        "checkpoints": 0.0,
        "compilation": 0.0,
        "start of jobs": 0.0,
        "no node": 0.0,
    }
    tokens = 0.0
    for time, paid in values["PaidNodes", "Average"].items():
        absent = values["UnusedNodes", "Average"][time]
        compiling = values["CompileSeconds", "Sum"].get(time, 0)
        saving = values["CheckpointSeconds", "Sum"].get(time, 0)
        node_seconds["no node"] += absent * step
        node_seconds["compilation"] += (paid - absent) * compiling
        node_seconds["checkpoints"] += (paid - absent) * saving
        rest = step - compiling - saving
        node_seconds["training" if time in rate else "start of jobs"] += (paid - absent) * rest
        tokens += rate.get(time, 0) * rest
    hours = sum(node_seconds.values()) / 3600
    usd = hours * 35.7608
    mfu = sum(values["Mfu", "Average"].values()) / len(rate)
    # Peaks in BF16 of eight H100 and sixteen Trainium2.
    p5_usd = hours * 41.528 / tokens / (8 * 989.4 / (16 * 667)) * 1e6
    cost = usd / tokens * 1e6
    compiled = sum(values["CompileSeconds", "Sum"].values())
    saved = 11 * compiled / 36 / 60 * 16  # 11 graphs were found and 36 compiled, on 16 nodes
    return {
        "minutes": {use: seconds / 60 for use, seconds in node_seconds.items()},
        "tokens": tokens,
        "mfu": mfu,
        "usd": usd,
        "usd_per_million_tokens": cost,
        "usd_per_million_tokens_without_losses": cost * node_seconds["training"] / 3600 / hours,
        "usd_per_million_tokens_other": p5_usd,
        "other_mfu_of_same_cost": mfu * p5_usd / cost,
        "seconds_per_graph": compiled / 36,
        "graphs": 11,
        "cache_minutes": saved,
        "cache_usd": saved / 60 * 35.7608,
        "paid_minutes": hours * 60,
        "usd_by_use": {use: seconds / 3600 * 35.7608 for use, seconds in node_seconds.items()},
        "epoch_usd": cost * EPOCH / 1e6,
        "next_block_usd": cost * 2 * EPOCH / 1e6,
    }


def test_every_figure_of_the_sample_is_what_the_raw_recording_says(sample: Callable[..., Any]) -> None:
    outcome = sample("--json", "--epoch-tokens", str(EPOCH), "--next-tokens", str(2 * EPOCH))

    assert outcome.code == 0
    told = json.loads(outcome.stdout)
    expected = recomputed()
    assert set(told) == {*expected, "cluster", "region", "start", "end", "rates"}
    for name, value in expected.items():
        of_uses = isinstance(value, dict)
        given = {use: told[name][use] for use in value} if of_uses else told[name]
        assert given == pytest.approx(value, rel=1e-9), name
        if of_uses:  # the other uses have no minutes
            assert sum(told[name].values()) == pytest.approx(sum(value.values()))


def test_page_and_markdown_show_the_same_figures(sample: Callable[..., Any], tmp_path: Path) -> None:
    printed = sample("--epoch-tokens", str(EPOCH)).stdout
    for kind in ("md", "html"):
        assert sample("--epoch-tokens", str(EPOCH), "--page", str(tmp_path / f"report.{kind}")).code == 0

    assert (tmp_path / "report.md").read_text() == printed
    page = (tmp_path / "report.html").read_text()
    rows = [
        line.strip("| ").split(" | ")
        for line in printed.splitlines()
        if line.startswith("| ") and line != "| | | |"
    ]
    assert len(rows) > 20
    for name, value, _ in rows:
        assert f">{name}</th><td>{value}</td>" in page
    assert "lost node" in printed
    assert "lost node" in page
    assert "<svg" in page
    assert "http" not in page.partition("<body>")[2].replace("http://www.w3.org", "")  # it needs no network


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--page", "report.pdf"], "--page: got 'report.pdf'. Allowed: FILE.html or FILE.md"),
        (["--epoch-tokens", "0"], "--epoch-tokens: got 0"),
        (["--reuses", "-1"], "--reuses: got -1"),
        (["--cluster", "pretrain"], "one of them"),  # a recording and CloudWatch
    ],
)
def test_a_wrong_option_is_one_line(sample: Callable[..., Any], options: list[str], said: str) -> None:
    outcome = sample(*options)

    assert (outcome.code, outcome.stdout) == (2, "")
    assert said in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_no_hours_are_not_taken_for_a_day(run: Run, quickstart: Path) -> None:
    outcome = run("cost", "report", str(quickstart), "--hours", "0")

    assert (outcome.code, outcome.stdout) == (2, "")
    assert "--hours: got 0.0. Allowed: more than 0" in outcome.stderr


@pytest.mark.parametrize(
    ("paid", "said"),
    [([0.0] * 12, "no paid node of quickstart was recorded"), ([], "has no metrics of quickstart")],
)
def test_a_block_that_has_not_begun_is_one_line(
    run: Run, quickstart: Path, tmp_path: Path, paid: list[float], said: str
) -> None:
    made = recording(series("PaidNodes", "Average", paid), hours=1)
    write_recording(made, tmp_path / "recording.json")
    text = (tmp_path / "recording.json").read_text().replace('"pretrain"', '"quickstart"')
    (tmp_path / "recording.json").write_text(text)

    outcome = run("cost", "report", str(quickstart), "--from", str(tmp_path / "recording.json"))

    assert (outcome.code, outcome.stdout, outcome.stderr.count("\n")) == (2, "", 1)
    assert said in outcome.stderr


@pytest.mark.parametrize("later", [timedelta(hours=1), timedelta(days=30)])
def test_a_block_of_the_future_is_not_asked_about(
    run: Run, quickstart: Path, tmp_path: Path, later: timedelta
) -> None:
    start = (datetime.now(UTC) + later).replace(microsecond=0)
    text = quickstart.read_text()
    target = "          reservation_id:"
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text(text.replace(target, f'          start: "{start:%Y-%m-%dT%H:%M:%SZ}"\n{target}', 1))

    outcome = run("cost", "report", str(rollout))

    assert (outcome.code, outcome.stdout) == (2, "")
    assert f"the block of quickstart begins at {start:%Y-%m-%d %H:%M} UTC" in outcome.stderr


@pytest.mark.parametrize("ago", [timedelta(0), timedelta(days=3)])
def test_a_block_that_has_ended_is_read_from_its_start_to_its_end(
    run: Run, quickstart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ago: timedelta
) -> None:
    end = datetime.now(UTC).replace(second=0, microsecond=0) - ago
    start = end - timedelta(days=2)
    text, target = quickstart.read_text(), "          reservation_id:"
    times = "".join(
        f'          {name}: "{at:%Y-%m-%dT%H:%M:%SZ}"\n' for name, at in (("start", start), ("end", end))
    )
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text(text.replace(target, times + target, 1))
    asked: list[datetime] = []

    def record(_: object, *, start: datetime, end: datetime, **__: object) -> Recording:
        asked[:] = [start, end]
        return replace(recording(series("PaidNodes", "Average", [4.0] * 12), hours=1), cluster="quickstart")

    monkeypatch.setattr(metric_source, "record_metrics", record)
    monkeypatch.setattr(
        metric_source,
        "clients_of",
        lambda _: lambda *_: SimpleNamespace(meta=SimpleNamespace(region_name="us-east-2")),
    )

    assert run("cost", "report", str(rollout)).code == 0
    assert asked == [start, end]


def test_the_plan_is_the_window_of_the_rollout(run: Run, quickstart: Path, tmp_path: Path) -> None:
    text = quickstart.with_name("two-waves.yaml").read_text()
    block = '          start: "2026-11-20T00:00:00Z"\n          end: "2026-11-22T11:30:00Z"\n'
    place = text.index("reservation_id:", text.index("- name: pretrain"))
    line = text.rindex("\n", 0, place) + 1
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text(text[:line] + block + text[line:])

    printed = run("cost", "report", str(rollout), "--from", str(SAMPLE)).stdout

    assert "| planned | 952.0 node-hours |" in printed  # 59.5 hours of 16 nodes
    assert "| paid | 384.0 node-hours | 40.3% of the plan, 13,732.15 USD |" in printed
