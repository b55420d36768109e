"""`ultracluster validate` says what a rollout holds, or everything that is wrong with it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_a_right_rollout_is_shown_as_a_table(run: Run, quickstart: Path) -> None:
    outcome = run("validate", str(quickstart))

    assert outcome.code == 0
    assert "quickstart" in outcome.stdout
    assert "trn2.48xlarge" in outcome.stdout
    assert "cr-0123456789abcdef0" in outcome.stdout


def test_json_has_stable_keys(run: Run, quickstart: Path) -> None:
    told = json.loads(run("validate", str(quickstart), "--json").stdout)

    assert list(told) == ["clusters", "warnings"]
    (cluster,) = told["clusters"]
    assert list(cluster) == [
        "wave",
        "cluster",
        "region",
        "zone_id",
        "instance_type",
        "nodes",
        "market_type",
        "reservation_id",
        "jobs",
    ]
    assert cluster["nodes"] == 4
    assert cluster["market_type"] == "capacity-block"


def test_every_mistake_is_shown_with_its_line_and_nothing_else(
    run: Run, quickstart: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(
        quickstart.read_text()
        .replace("nodes: 4 # the", "nodes: 0 # the")
        .replace("us-east-2\n", "us-esat-2\n")
    )

    outcome = run("validate", str(wrong))

    lines = outcome.stderr.splitlines()
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert len(lines) >= 2
    assert all(line.startswith("UC") and "wrong.yaml:" in line for line in lines)


def test_a_file_that_is_not_there_is_a_finding(run: Run, tmp_path: Path) -> None:
    outcome = run("validate", str(tmp_path / "none.yaml"))

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC1")


def test_a_warning_is_shown_and_the_command_succeeds(run: Run, quickstart: Path, tmp_path: Path) -> None:
    warned = tmp_path / "warned.yaml"
    warned.write_text(quickstart.read_text().replace("training:2026-11-20", "training:latest"))

    outcome = run("validate", str(warned), "--json")

    assert outcome.code == 0
    assert "warning: UC6107" in outcome.stderr
    assert any("UC6107" in line for line in json.loads(outcome.stdout)["warnings"])
