"""Lines of a training run, read as CloudWatch Logs reads them: by the embedded metric format."""

import ast
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ultracluster_runtime import training_metrics
from ultracluster_runtime.training_metrics import TrainingMetrics

JOB = {
    "UC_CLUSTER": "pretrain",
    "UC_JOB": "train",
    "UC_PEAK_TFLOPS": "fp8:20784,bf16:10672,fp32:2896",
    "AWS_BATCH_JOB_NUM_NODES": "2",
    "AWS_BATCH_JOB_ID": "5f2d",
    "RANK": "0",
}
Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def job(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*JOB, "JAX_PROCESS_ID", "NODE_RANK"):
        monkeypatch.delenv(name, raising=False)
    for name, value in JOB.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    def read() -> list[dict[str, Any]]:
        return [_metrics(line) for line in capsys.readouterr().out.splitlines()]

    return read


def _metrics(line: str) -> dict[str, Any]:
    """Take the metrics out of an event as the specification says: each that is named must be there, as a number."""
    document = json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    (directive,) = document["_aws"]["CloudWatchMetrics"]
    assert isinstance(document["_aws"]["Timestamp"], int)
    assert directive["Namespace"] == "UltraCluster"
    assert directive["Dimensions"] == [["Cluster"], ["Cluster", "Job"]]
    assert (document["Cluster"], document["Job"]) == ("pretrain", "train")
    assert len(directive["Metrics"]) <= 100
    values = {metric["Name"]: document[metric["Name"]] for metric in directive["Metrics"]}
    assert all(isinstance(value, float) for value in values.values())
    return values


def test_a_step_becomes_one_line_with_the_figures_that_follow_from_it(lines: Lines) -> None:
    metrics = TrainingMetrics(flops_per_token=6 * 70e9, min_interval_seconds=0)
    metrics.step(2.0, tokens=16_384, loss=-1.5, collective_seconds=0.5)
    assert lines() == [
        {
            "Steps": 1,
            "StepSeconds": 2,
            "TokensPerSecond": 8192,
            "Loss": -1.5,
            "CollectiveShare": 0.25,
            # 8192 tokens/s * 420e9 FLOPs each, of 2 nodes * 10,672e12 FLOPS.
            "Mfu": pytest.approx(8192 * 420e9 / 21_344e12),
        }
    ]


def test_the_precision_decides_the_peak(lines: Lines) -> None:
    metrics = TrainingMetrics(flops_per_token=1e12, precision="fp8", min_interval_seconds=0)
    metrics.step(1, tokens=20_784)
    assert lines()[0]["Mfu"] == pytest.approx(0.5)


@pytest.mark.parametrize("peaks", ["", "fp8:20784", "bf16:many"])
def test_without_a_peak_no_utilisation_is_reported(
    monkeypatch: pytest.MonkeyPatch, lines: Lines, peaks: str
) -> None:
    monkeypatch.setenv("UC_PEAK_TFLOPS", peaks)
    TrainingMetrics(flops_per_token=1e12, min_interval_seconds=0).step(1, tokens=1)
    assert "Mfu" not in lines()[0]


def test_steps_between_two_lines_are_summed_up(monkeypatch: pytest.MonkeyPatch, lines: Lines) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    metrics = TrainingMetrics(min_interval_seconds=10)
    for seconds, loss in ((1, 3.0), (3, 2.0)):
        now[0] += 4.99
        metrics.step(seconds, tokens=100, loss=loss)
    assert lines() == []
    now[0] = 110.0
    metrics.step(2, tokens=100, loss=1.0)
    assert lines() == [{"Steps": 3, "StepSeconds": 2, "TokensPerSecond": 50, "Loss": 1}]
    now[0] = 115.0
    metrics.step(7)
    assert lines() == []
    metrics.flush()
    metrics.flush()
    assert lines() == [{"Steps": 1, "StepSeconds": 7}]


def test_the_end_of_a_run_prints_what_is_left(lines: Lines) -> None:
    with TrainingMetrics() as metrics:
        metrics.step(1)
    assert lines() == [{"Steps": 1, "StepSeconds": 1}]


def test_a_step_without_a_time_counts_and_makes_no_other_faster(lines: Lines) -> None:
    with TrainingMetrics() as metrics:
        metrics.step(2)
        metrics.step(float("nan"))
    assert lines() == [{"Steps": 2, "StepSeconds": 2}]


def test_compilations_and_checkpoints_are_separate_lines(lines: Lines) -> None:
    metrics = TrainingMetrics()
    metrics.compiled(90, cache_hits=4, cache_misses=1)
    metrics.checkpoint(12.5)
    assert lines() == [
        {"CompileSeconds": 90, "CacheHits": 4, "CacheMisses": 1},
        {"CheckpointSeconds": 12.5},
    ]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0])
def test_invalid_values_are_dropped(lines: Lines, bad: float) -> None:
    metrics = TrainingMetrics(min_interval_seconds=0)
    metrics.step(1, tokens=bad, collective_seconds=bad, loss=float("nan"))
    metrics.step(bad, tokens=5)
    metrics.checkpoint(bad)
    assert lines() == [{"Steps": 1, "StepSeconds": 1}, {"Steps": 1}]


@pytest.mark.parametrize(
    "change", [{"UC_CLUSTER": ""}, {"UC_JOB": ""}, {"RANK": "1"}, {"RANK": None, "JAX_PROCESS_ID": "3"}]
)
def test_other_processes_print_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], change: dict[str, str | None]
) -> None:
    for name, value in change.items():
        if value is None:
            monkeypatch.delenv(name)
        else:
            monkeypatch.setenv(name, value)
    with TrainingMetrics() as metrics:
        metrics.step(1)
    assert capsys.readouterr().out == ""


def test_refuses_a_precision_that_has_no_peak() -> None:
    with pytest.raises(ValueError, match="bf-16"):
        TrainingMetrics(precision="bf-16")


def test_the_file_can_be_copied_into_an_image() -> None:
    tree = ast.parse(Path(training_metrics.__file__).read_text("utf-8"))
    imported = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported <= sys.stdlib_module_names
