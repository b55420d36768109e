"""The files of a new project come from this repository."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement
from tests.unit.cli.project.checked_projects import ROOT, Run, check_project

from ultracluster_cli.project import project_files
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


def test_a_rollout_file_names_the_schema_beside_it(run: Run, tmp_path: Path) -> None:
    assert run("init", str(tmp_path / "p")).code == 0

    first = (tmp_path / "p" / "rollout.yaml").read_text().splitlines()[0]
    named = first.rpartition("$schema=")[2]
    assert json.loads((tmp_path / "p" / named).read_text())["title"]


SOURCES = {
    "an index": (None, "==1.2.3"),
    "a commit": (
        {"url": "https://example.com/u.git", "vcs_info": {"vcs": "git", "commit_id": "c" * 40}},
        f" @ git+https://example.com/u.git@{'c' * 40}",
    ),
    "a folder of a commit": (
        {
            "url": "https://example.com/u.git",
            "vcs_info": {"vcs": "git", "commit_id": "c" * 40},
            "subdirectory": "localaws",
        },
        f" @ git+https://example.com/u.git@{'c' * 40}#subdirectory=localaws",
    ),
    "a file": (
        {"url": "file:///u.whl", "archive_info": {"hashes": {"sha256": "a" * 64}}},
        f" @ file:///u.whl#sha256={'a' * 64}",
    ),
    "a checkout": ({"url": "file:///u", "dir_info": {"editable": True}}, " @ file:///u"),
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_project_requires_ultracluster_from_where_it_was_installed(
    monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    origin, requirement = SOURCES[source]
    installed = SimpleNamespace(version="1.2.3", read_text=lambda _: origin and json.dumps(origin))
    monkeypatch.setattr(project_files.importlib.metadata, "distribution", lambda _: installed)

    lines = [*project_files._requirements()]

    assert lines == [f"ultracluster[local,toolchain]{requirement}", f"ultracluster-local{requirement}"]
    assert [Requirement(line).name for line in lines] == ["ultracluster", "ultracluster-local"]
