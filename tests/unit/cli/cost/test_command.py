"""`ultracluster cost` estimates a rollout unless another of its commands is named."""

from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.cli.cost.cost_answers import QUICKSTART


def test_a_rollout_without_a_command_is_estimated(run: Run) -> None:
    named, short = run("cost", "estimate", QUICKSTART, "--json"), run("cost", QUICKSTART, "--json")

    assert (named.code, short.code) == (0, 0)
    assert named.stdout == short.stdout


def test_in_a_project_cost_alone_is_an_estimate_and_elsewhere_help(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("cost").stdout == run("cost", QUICKSTART).stdout

    monkeypatch.chdir(tmp_path)
    outcome = run("cost")
    assert outcome.code == 2
    assert "bake-off" in outcome.stderr + outcome.stdout
