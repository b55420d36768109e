"""A whole run of the bench with commands that take no time: what it prepares, measures, goes on with and writes."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import bench
import pytest
from cases import Case, Workshop, cases
from tests.unit.stacks.conftest import QUICKSTART, synthesize_rollout

pytestmark = pytest.mark.synth

MISSING = {"javascript": "not here", "parallelcluster": "not here"}


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A bench with one peer whose apps copy an assembly; the names of the cases that were run."""
    known = tmp_path / "known"
    done = synthesize_rollout(QUICKSTART, known)
    assert done.returncode == 0, done.stderr

    def quick_cases(shop: Workshop, missing: dict[str, str], *, quick: bool) -> list[Case]:
        return [
            replace(
                case,
                command=("cp", "-R", str(known), case.variables["CDK_OUTDIR"])
                if "CDK_OUTDIR" in case.variables
                else ("true",),
                fresh=(shop.output(case.name),),
            )
            for case in cases(shop, missing, quick=quick)
        ]

    ran: list[str] = []
    run = bench._run

    def noted(shop: Workshop, case: Case) -> dict[str, float]:
        ran.append(case.name)
        return run(shop, case)

    monkeypatch.setattr(bench, "_STATE", tmp_path / "bench")
    monkeypatch.setattr(bench, "set_up", lambda _: MISSING)
    monkeypatch.setattr(bench, "cases", quick_cases)
    monkeypatch.setattr(bench, "_run", noted)
    monkeypatch.setattr(bench, "_printed", lambda *_: [2.0, 1.0])
    monkeypatch.setattr(sys, "argv", ["bench.py", "--quick", "--rounds", "1"])
    return ran


def test_a_run_measures_every_case_once_and_writes_every_figure(
    commands: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.main() == 0

    measured = [
        line.split()[2] for line in capsys.readouterr().out.splitlines() if line.startswith("round 1/1")
    ]
    directory = tmp_path / "bench" / "quick"
    results: dict[str, Any] = json.loads((directory / "results.json").read_text())
    assert set(results["cases"]) == set(commands)
    assert len(measured) == len(results["cases"]) >= 10
    assert results["missing"] == MISSING
    assert results["equal"] == {"by hand": True}
    assert all(case["cpu"] >= 0 and case["runs"] == 1 for case in results["cases"].values())
    assert {path.suffix for path in directory.iterdir() if path.is_file()} >= {".json", ".jsonl", ".md"}


def test_an_app_by_hand_that_is_not_equal_stops_the_run(
    commands: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "differences", lambda *_: ["a bucket is missing"])

    with pytest.raises(SystemExit, match="by hand is not equal to ours:\na bucket is missing"):
        bench.main()
    assert commands[-1] == "by hand"
    assert "hello" in commands
