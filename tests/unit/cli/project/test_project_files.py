"""The files of a new project come from this repository."""

from pathlib import Path

import pytest
from tests.unit.cli.project.checked_projects import ROOT, Run, check_project

from ultracluster_cli.project.project_files import example_names


@pytest.mark.parametrize("example", example_names())
def test_copies_every_example(run: Run, tmp_path: Path, example: str) -> None:
    assert run("init", str(tmp_path / "p"), "--example", example).code == 0

    assert "rollout" not in check_project(tmp_path / "p")
    assert (tmp_path / "p" / "app.py").read_text() == (ROOT / "examples" / example / "app.py").read_text()


def test_names_the_examples_and_refuses_others(run: Run, tmp_path: Path) -> None:
    outcome = run("init", str(tmp_path / "p"), "--example", "none")

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC9208")
    assert "own-app" in outcome.stderr
    assert "own-app" in run("init", str(tmp_path / "p"), "--example", "list").stdout
    assert not (tmp_path / "p").exists()
