"""Metrics that a run prints arrive in a recording, through log events and CloudWatch on the local AWS."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ultracluster_cli.main import main
from ultracluster_local import LocalAws
from ultracluster_runtime.metrics.metric_reads import recording_period
from ultracluster_runtime.metrics.recording_file import read_recording
from ultracluster_runtime.training_metrics import TrainingMetrics

REGION = "us-east-2"
NOW = datetime(2026, 11, 21, tzinfo=UTC)
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("back", "minutes"),
    [
        (timedelta(hours=1), 1),
        (DAY, 1),
        (DAY + MINUTE, 2),
        (15 * DAY, 15),
        (15 * DAY + MINUTE, 20),  # a whole number of five minutes
        (63 * DAY, 65),
        (63 * DAY + MINUTE, 120),  # a whole number of hours
    ],
)
def test_the_period_is_one_that_cloudwatch_keeps_and_a_chart_can_show(back: timedelta, minutes: int) -> None:
    period = recording_period(NOW - back, NOW, now=NOW)
    assert period == minutes * MINUTE
    assert back / period <= 1440


@pytest.mark.parametrize(
    ("age", "minutes"),
    [(15 * DAY, 1), (15 * DAY + MINUTE, 5), (63 * DAY, 5), (63 * DAY + MINUTE, 60)],
)
def test_the_age_of_a_record_decides_and_not_its_length(age: timedelta, minutes: int) -> None:
    assert recording_period(NOW - age, NOW - age + timedelta(hours=1), now=NOW) == minutes * MINUTE


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What the first processes of two jobs of the cluster, and of one of another, print."""
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.setenv("UC_PEAK_TFLOPS", "bf16:10672")
    for cluster, job, seconds in (
        ("pretrain", "train", 2.0),
        ("pretrain", "eval", 8.0),
        ("other", "train", 99.0),
    ):
        monkeypatch.setenv("UC_CLUSTER", cluster)
        monkeypatch.setenv("UC_JOB", job)
        metrics = TrainingMetrics(flops_per_token=6 * 70e9, min_interval_seconds=0)
        metrics.step(seconds, tokens=16_384, loss=2.5, collective_seconds=seconds / 4)
        metrics.compiled(90, cache_hits=3, cache_misses=1)
    return capsys.readouterr().out.splitlines()


def test_metrics_of_a_run_become_series_of_its_job(
    local_aws: LocalAws, printed: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    logs = local_aws.client("logs", REGION)
    logs.create_log_group(logGroupName="jobs")
    logs.create_log_stream(logGroupName="jobs", logStreamName="train/1")
    moment = int(time.time() * 1000)
    logs.put_log_events(
        logGroupName="jobs",
        logStreamName="train/1",
        logEvents=[{"timestamp": moment, "message": line} for line in ("Compiler status PASS", *printed)],
    )
    for name, value in local_aws.environment(REGION).items():
        monkeypatch.setenv(name, value)
    kept = tmp_path / "recording.json"

    arguments = ("--cluster", "pretrain", "--region", REGION, "--hours", "1", "--save", str(kept))
    assert main(["dashboard", *arguments]) == 0

    recorded = read_recording(kept)
    assert (recorded.cluster, recorded.region, recorded.period) == ("pretrain", REGION, MINUTE)
    assert recorded.jobs == ("eval", "train")
    assert recorded.values("StepSeconds", "Average", job="train") == [2]
    assert recorded.values("StepSeconds", "Average", job="eval") == [8]
    assert recorded.values("TokensPerSecond", "Average", job="train") == [8192]
    assert recorded.values("CollectiveShare", "Average", job="train") == [0.25]
    assert recorded.values("CacheMisses", "Sum", job="train") == [1]
    assert recorded.values("Mfu", "Average", job="train") == [pytest.approx(8192 * 420e9 / 10_672e12)]


def test_cluster_without_metrics_has_no_series(
    local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name, value in local_aws.environment(REGION).items():
        monkeypatch.setenv(name, value)
    code = main(["dashboard", "--cluster", "none", "--region", REGION, "--save", str(tmp_path / "none.json")])
    assert code == 2
    assert "has no metrics of" in capsys.readouterr().err
    assert not (tmp_path / "none.json").exists()
