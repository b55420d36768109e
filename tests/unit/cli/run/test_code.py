"""The code of a run: what git would take, always the same bytes, without secrets."""

import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from ultracluster_cli.run import code as packing
from ultracluster_cli.run.code import pack
from ultracluster_rules.findings import FindingsError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))  # the tests may lie in a repository
    folder = tmp_path / "project"
    (folder / "data").mkdir(parents=True)
    (folder / "train.py").write_text("print('hello')\n")
    (folder / "data" / "words.txt").write_text("a b c\n")
    return folder


def names(archive: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        return [name for name in packed.getnames() if not name.startswith(".ultracluster/")]


def git(folder: Path, *words: str) -> str:
    own = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.com",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PATH": os.environ["PATH"],
    }
    return subprocess.run(
        ["git", *words], cwd=folder, env=own, check=True, capture_output=True, text=True
    ).stdout


def test_equal_files_give_equal_bytes_whatever_their_times_are(folder: Path) -> None:
    first = pack(folder, "train.py")
    os.utime(folder / "train.py", (1, 1))
    assert pack(folder, "train.py") == first
    (folder / "train.py").write_text("print('other')\n")
    assert pack(folder, "train.py").digest != first.digest
    assert (first.files, first.commit) == (2, None)


@pytest.mark.slow
def test_git_decides_which_files_are_packed_and_the_commit_is_recorded(folder: Path) -> None:
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("data/\n")
    (folder / "new.py").write_text("")
    git(folder, "add", "train.py", ".gitignore")
    git(folder, "commit", "-qm", "first")
    commit = git(folder, "rev-parse", "HEAD").strip()
    packed = pack(folder, "train.py")
    assert names(packed.archive) == [".gitignore", "new.py", "train.py"]
    assert packed.commit == f"{commit}-dirty"
    (folder / "new.py").unlink()
    assert pack(folder, "train.py").commit == commit
    with pytest.raises(FindingsError, match="git ignores it"):
        pack(folder, "data/words.txt")


def test_without_git_environments_and_caches_are_left_out(folder: Path) -> None:
    for name in (".venv/bin/x", "__pycache__/y.pyc", "node_modules/z.js"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    assert names(pack(folder, "train.py").archive) == ["data/words.txt", "train.py"]


def test_a_program_that_is_not_there_is_refused(folder: Path) -> None:
    with pytest.raises(FindingsError, match=r"UC6210.*'other.py' is not among the 2 files"):
        pack(folder, "other.py")
    with pytest.raises(FindingsError, match="UC6210"):
        pack(folder, "../train.py")


def test_secrets_and_large_folders_are_refused_before_anything_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text("HF_TOKEN=x\n")
    (folder / "server.pem").write_text("")
    (folder / "notes.txt").write_text("key: AKIA" + "A" * 16)
    monkeypatch.setattr(packing, "_MOST_FILES", 4)
    with pytest.raises(FindingsError) as refused:
        pack(folder, "train.py")
    problems = [str(finding) for finding in refused.value.findings]
    assert len(problems) == 4
    assert all("UC6210" in problem for problem in problems)
    assert ["AKIA" in problem for problem in problems] == [False] * 4
    assert "5 files of 0.0 MiB" in problems[0]
