"""The files of a new project come from this repository."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement
from tests.unit.cli.conftest import Run
from tests.unit.cli.project.checked_projects import ROOT, check_project

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
    assert outcome.stderr.startswith("error: unknown example")
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
    "a wheel of a server": (
        {"url": "https://example.com/u.whl", "archive_info": {"hashes": {"sha256": "a" * 64}}},
        f" @ https://example.com/u.whl#sha256={'a' * 64}",
    ),
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_project_requires_ultracluster_from_where_it_was_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str
) -> None:
    origin, requirement = SOURCES[source]
    install(monkeypatch, origin)

    lines = [*project_files._requirements(tmp_path, None)]

    assert lines == [f"ultracluster[local,toolchain]{requirement}", f"ultracluster-local{requirement}"]
    assert [Requirement(line).name for line in lines] == ["ultracluster", "ultracluster-local"]


def install(monkeypatch: pytest.MonkeyPatch, origin: object) -> None:
    installed = SimpleNamespace(version="1.2.3", read_text=lambda _: origin and json.dumps(origin))
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: installed)


WHEELS = ["ultracluster-1.2.3-py3-none-any.whl", "ultracluster_local-1.2.3-py3-none-any.whl"]


@pytest.mark.parametrize("given", [False, True])
def test_wheels_of_this_machine_are_copied_into_the_project(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: bool
) -> None:
    built, project = tmp_path / "built", tmp_path / "p"
    for folder in (built, project):
        folder.mkdir()
    for wheel in WHEELS:
        (built / wheel).write_text(wheel)
    install(monkeypatch, None if given else {"url": f"{built.as_uri()}/{WHEELS[0]}", "archive_info": {}})

    lines = [*project_files._requirements(project, str(built) if given else None)]

    assert lines == [f"./wheels/{WHEELS[0]}[local,toolchain]", f"./wheels/{WHEELS[1]}"]
    assert sorted(path.name for path in (project / "wheels").iterdir()) == WHEELS


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("index", ["ultracluster[local,toolchain]==1.2.3", "ultracluster-local==1.2.3"]),
        (
            "git+https://example.com/u.git@v1",
            [
                "ultracluster[local,toolchain] @ git+https://example.com/u.git@v1",
                "ultracluster-local @ git+https://example.com/u.git@v1#subdirectory=localaws",
            ],
        ),
        (None, [f"./wheels/{WHEELS[0]}[local,toolchain]", f"./wheels/{WHEELS[1]}"]),
    ],
)
def test_a_project_made_from_a_checkout_names_no_path_of_this_machine(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    source: str | None,
    lines: list[str],
) -> None:
    install(monkeypatch, {"url": "file:///srv/u", "dir_info": {"editable": True}})

    assert [*project_files._requirements(tmp_path, source)] == lines
    assert ("pip wheel" in capsys.readouterr().err) is (source is None)
