"""The project of a command and the rollout in its cdk.json."""

import os
from pathlib import Path

import pytest

from ultracluster_cli._cdk.workspace import (
    default_rollout,
    project_folder,
    project_ledger,
    rollout_file,
    run_directory,
    state_directory,
)
from ultracluster_spec.findings import FindingsError


def test_a_specified_rollout_overrides_cdk_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cdk.json").write_text('{"context": {"rollout": "a.yaml"}}')
    monkeypatch.chdir(tmp_path)

    assert default_rollout() == Path("a.yaml")
    assert rollout_file(Path("../b.yaml")) == tmp_path.parent / "b.yaml"


def test_a_folder_without_cdk_json_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FindingsError, match=r"^error: no cdk\.json in "):
        rollout_file(Path("rollout.yaml"))


def test_the_rollout_of_this_repository_exists(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(request.config.rootpath)
    assert default_rollout().is_file()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"context": {}}', '{"context": {"rollout": ""}}', '{"context": {"rollout": 1}}'],
)
def test_a_cdk_json_that_names_no_rollout_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "cdk.json").write_text(text)
    monkeypatch.chdir(tmp_path)

    with pytest.raises(FindingsError, match=r"^error: .*cdk\.json: .* Specify the rollout file"):
        default_rollout()


def test_a_project_is_found_from_any_folder_below_it_but_not_from_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cdk.json").write_text(
        '{"context": {"rollout": "a.yaml", "ledger": {"table": "t", "region": "r"}}}'
    )
    below, state = tmp_path / "src" / "train", tmp_path / ".ultracluster" / "tmp"
    for folder in (below, state):
        folder.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert project_folder() == tmp_path
    assert default_rollout() == Path("../../a.yaml")
    assert project_ledger() == {"table": "t", "region": "r"}

    monkeypatch.setattr(os, "getuid", lambda: -1)  # a cdk.json of another user, whose program would run
    assert project_folder() == below

    monkeypatch.undo()
    monkeypatch.chdir(state)
    assert project_folder() == state


def test_all_state_is_in_one_folder(tmp_path: Path) -> None:
    assert state_directory(tmp_path) == state_directory(tmp_path) == tmp_path / ".ultracluster"


def test_temporary_files_end_with_the_run(tmp_path: Path) -> None:
    with run_directory(tmp_path) as own:
        (own / "file").touch()

    assert list((tmp_path / "tmp").iterdir()) == []


def test_removes_temporary_files_of_killed_runs_but_not_of_running_ones(tmp_path: Path) -> None:
    killed = tmp_path / "tmp" / f"run-{2**22 + 1}"  # above the highest process id of Linux and macOS
    running = tmp_path / "tmp" / f"run-{os.getppid()}"
    others = [tmp_path / "tmp" / f"run-{name}" for name in ("", "x", "-1", "1.5")]
    huge = tmp_path / "tmp" / f"run-{10**30}"
    for folder in (killed, running, huge, *others):
        folder.mkdir(parents=True)

    with run_directory(tmp_path):
        assert not killed.exists()
        assert not huge.exists()
        assert running.exists()
        assert all(folder.exists() for folder in others)
