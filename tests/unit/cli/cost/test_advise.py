"""`ultracluster cost advise` with a rollout and a recording."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.runtime.metrics.recordings import recording, series

from ultracluster_cli.cost import advise as advising
from ultracluster_runtime.metrics.recording_file import read_recording, write_recording


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """An hour of the quick start, in which one of four nodes is not there and the job hardly computes."""
    path = tmp_path / "recording.json"
    made = recording(
        series("PaidNodes", "Average", [4.0] * 12),
        series("UnusedNodes", "Average", [1.0] * 12),
        series("Mfu", "Average", [0.1] * 12, job="train"),
        hours=1,
    )
    write_recording(replace(made, cluster="quickstart"), path)
    return path


@pytest.fixture
def asked(run: Run, quickstart: Path, recorded: Path) -> Callable[..., Any]:
    """Ask for advice on a recording that was changed."""

    def ask(change: dict[str, str], *arguments: str) -> Any:
        recorded.write_text(json.dumps(json.loads(recorded.read_text()) | change))
        return run("cost", "advise", str(quickstart), "--from", str(recorded), *arguments)

    return ask


def test_savings_use_the_list_price_of_the_cluster(run: Run, quickstart: Path, recorded: Path) -> None:
    outcome = run("cost", "advise", str(quickstart), "--from", str(recorded), "--json")
    assert outcome.code == 0
    told = json.loads(outcome.stdout)
    assert (told["cluster"], told["region"], told["hours"]) == ("quickstart", "us-east-2", 1)
    assert told["node_hour_usd"] == 35.7608
    first = told["advice"][0]
    assert (first["rule"], first["usd_per_month"]) == ("unused-nodes", 26_105)  # 35.7608 * 730
    assert {each["rule"] for each in told["not_judged"]} >= {"idle-nodes", "oversize-file-system"}


def test_the_only_cluster_of_the_rollout_is_the_source(
    run: Run, quickstart: Path, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def read(**source: Any) -> Any:
        asked.append((source["cluster"], source["region"]))
        return read_recording(recorded)

    monkeypatch.setattr(advising, "read_metrics", read)
    assert run("cost", "advise", str(quickstart)).code == 0
    assert asked == [("quickstart", "us-east-2")]


def test_a_specified_price_overrides_the_list_price(run: Run, quickstart: Path, recorded: Path) -> None:
    outcome = run("cost", "advise", str(quickstart), "--from", str(recorded), "--node-hour", "20")
    assert outcome.code == 0
    assert "unused-nodes: 14,600 USD per month" in outcome.stdout
    assert "node-hour: 20.0 USD (--node-hour" in outcome.stdout
    assert "Not assessed:" in outcome.stdout


def test_reports_that_it_has_no_advice(run: Run, quickstart: Path, tmp_path: Path) -> None:
    path = tmp_path / "good.json"
    made = recording(
        series("PaidNodes", "Average", [4.0]), series("UnusedNodes", "Average", [0.0]), hours=0.5
    )
    write_recording(replace(made, cluster="quickstart"), path)
    outcome = run("cost", "advise", str(quickstart), "--from", str(path))
    assert "No advice." in outcome.stdout
    assert "less than an hour" in outcome.stderr


@pytest.mark.parametrize(
    ("change", "arguments", "code"),
    [
        ({"cluster": "another"}, (), "unknown cluster '"),
        ({"region": "eu-north-1"}, (), "unknown cluster '"),
        ({}, ("--node-hour", "0"), "error: --node-hour: got 0"),
        ({}, ("--cluster", "quickstart"), "error: got "),
    ],
)
def test_rejects_inconsistent_input(
    asked: Callable[..., Any], change: dict[str, str], arguments: tuple[str, ...], code: str
) -> None:
    outcome = asked(change, *arguments)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert code in outcome.stderr


def test_refuses_a_cluster_of_another_rollout_before_it_calls_cloudwatch(run: Run, quickstart: Path) -> None:
    outcome = run("cost", "advise", str(quickstart), "--cluster", "another")
    assert (outcome.code, "unknown cluster '" in outcome.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "profile"), [((), "the-clusters-own"), (("--profile", "another"), "another")]
)
def test_cloudwatch_is_read_with_the_specified_profile_or_that_of_the_cluster(
    run: Run, quickstart: Path, tmp_path: Path, arguments: tuple[str, ...], profile: str
) -> None:
    rollout = tmp_path / "rollout.yaml"
    named = "- name: quickstart\n"
    text = quickstart.read_text()
    assert named in text
    rollout.write_text(text.replace(named, f"{named}        profile: the-clusters-own\n"))
    outcome = run("cost", "advise", str(rollout), "--cluster", "quickstart", *arguments)
    assert (outcome.code, "UC9009" in outcome.stderr) == (2, True)
    assert f"({profile}) could not be found" in outcome.stderr
