"""The code of a run: what git would take, always the same bytes, without secrets."""

import io
import os
import socket
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ultracluster_cli.main import main
from ultracluster_cli.run import code as packing
from ultracluster_cli.run.code import pack
from ultracluster_spec.findings import FindingsError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))  # the tests may lie in a repository
    folder = tmp_path / "project"
    (folder / "data").mkdir(parents=True)
    (folder / "train.py").write_text("print('hello')\n")
    (folder / "data" / "words.txt").write_text("a b c\n")
    return folder


def names(archive: bytes) -> list[str]:
    return [name for name, *_ in entries(archive)]


def entries(archive: bytes) -> Iterator[tuple[str, bytes, str, bool, bytes]]:
    """Return the name, type, link, executable bit and content of each entry that is no folder, in order."""
    options = {"encoding": "utf-8", "errors": "surrogateescape"}
    with tarfile.open(fileobj=io.BytesIO(archive), **options) as packed:  # type: ignore[call-overload]
        for entry in sorted(packed, key=lambda entry: str(entry.name)):
            if not entry.isdir() and not entry.name.startswith(".ultracluster/"):
                content = packed.extractfile(entry) if entry.isfile() else None
                yield (
                    entry.name,
                    entry.type,
                    entry.linkname,
                    entry.isfile() and bool(entry.mode & 0o100),
                    content.read() if content else b"",
                )


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
    with pytest.raises(FindingsError, match=r"Did you mean 'train\.py'\?"):
        pack(folder, "trian.py")
    with pytest.raises(FindingsError, match="UC6210"):
        pack(folder, "../train.py")


def test_a_program_in_a_project_of_init_is_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert main(["init", str(tmp_path / "first"), "--defaults"]) == 0
    (tmp_path / "first/train.py").write_text("")
    assert {"train.py", ".npmrc"} <= set(names(pack(tmp_path / "first", "train.py").archive))


def test_secrets_and_large_folders_are_refused_before_anything_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text("HF_TOKEN=x\n")
    (folder / "server.pem").write_text("")
    monkeypatch.setattr(packing, "_MOST_FILES", 3)
    monkeypatch.setattr(packing, "_read", None)
    with pytest.raises(FindingsError) as refused:
        pack(folder, "train.py")
    problems = [str(finding) for finding in refused.value.findings]
    assert ["UC6210" in problem for problem in problems] == [True] * 3
    assert "4 files of 0.0 MiB" in problems[0]
    assert [problem.split(": ")[1] for problem in problems[1:]] == [".env", "server.pem"]


def test_secrets_are_refused_with_file_and_line_and_allowed_by_name(folder: Path) -> None:
    key = "AKIA" + "A" * 16
    (folder / "notes.txt").write_text(f"one\nkey: {key}\n")
    (folder / "id_rsa").write_text("")
    with pytest.raises(FindingsError, match=r"^UC6210: id_rsa: .*--allow-file 'id_rsa'") as refused:
        pack(folder, "train.py")
    with pytest.raises(
        FindingsError, match=r"^UC6210: notes\.txt:2: this looks like an AWS access key id"
    ) as refused:
        pack(folder, "train.py", allowed=["id_rsa"])
    assert key not in str(refused.value)
    assert pack(folder, "train.py", allowed=["id_rsa", "notes.txt"]).files == 4
    with pytest.raises(FindingsError, match="--allow-file: 'other' is not among the 4 files"):
        pack(folder, "train.py", allowed=["other"])


@pytest.mark.parametrize(
    ("target", "inside"),
    [
        ("train.py", True),
        ("./data/words.txt", True),
        ("data", True),
        ("missing", True),
        ("data/../train.py", True),
        ("/etc/passwd", False),
        ("/proc/self/environ", False),
        ("..", False),
        ("../project/train.py", False),
        ("data/../../other", False),
    ],
)
def test_a_link_stays_a_link_and_must_not_lead_out(folder: Path, target: str, inside: bool) -> None:
    (folder / "link").symlink_to(target)
    if inside:
        found = {name: (kind, link) for name, kind, link, *_ in entries(pack(folder, "train.py").archive)}
        assert found["link"] == (tarfile.SYMTYPE, target)
    else:
        with pytest.raises(
            FindingsError, match=r"UC6210: --folder: the link 'link' leads to .*, out of the folder"
        ):
            pack(folder, "train.py")


def test_a_link_within_a_folder_is_followed_from_there(folder: Path) -> None:
    (folder / "data" / "up").symlink_to("../train.py")
    assert "data/up" in names(pack(folder, "train.py").archive)
    (folder / "data" / "out").symlink_to("../../train.py")
    with pytest.raises(FindingsError, match="the link 'data/out'"):
        pack(folder, "train.py")


def test_a_link_through_a_link_must_not_lead_out(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "a" / "here").symlink_to("..")
    (folder / "b").symlink_to("a/here/../secret")  # by its letters inside, but a/here is the folder itself
    with pytest.raises(FindingsError, match="the link 'b'"):
        pack(folder, "train.py")


def _write(name: str, text: str = "x\n", mode: int = 0o644) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(mode)

    return write


def _write_bytes(name: bytes) -> Callable[[Path], None]:
    return lambda folder: Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("x\n") and None


def _link(name: str, target: str) -> Callable[[Path], None]:
    def link(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return link


def _ignored(folder: Path) -> None:
    (folder / ".gitignore").write_text("*.log\nout/\n!keep.log\n")
    for name in ("a.log", "keep.log", "out/b"):
        _write(name)(folder)


def _ignored_by_info(folder: Path) -> None:
    (folder / ".git" / "info" / "exclude").write_text("private\n")
    _write("private")(folder)


def _ignored_though_tracked(folder: Path) -> None:
    (folder / ".gitignore").write_text("data/\n")


def _deleted(folder: Path) -> None:
    (folder / "data" / "words.txt").unlink()


def _file_instead_of_folder(folder: Path) -> None:
    _deleted(folder)
    (folder / "data").rmdir()
    (folder / "data").write_text("x\n")


def _link_instead_of_folder(folder: Path) -> None:
    (folder / "data").rename(folder / "other")
    (folder / "data").symlink_to("other")


def _folder_instead_of_file(folder: Path) -> None:
    (folder / "train.sh").unlink()
    _write("train.sh/inside")(folder)


def _staged(folder: Path) -> None:
    _write("staged")(folder)
    git(folder, "add", "staged")
    (folder / "staged").write_text("later\n")


def _unstaged(folder: Path) -> None:
    _write("gone")(folder)
    git(folder, "add", "gone")
    (folder / "gone").unlink()


def _intended(folder: Path) -> None:
    _write("intended")(folder)
    git(folder, "add", "-N", "intended")


def _renamed(folder: Path) -> None:
    git(folder, "mv", "train.sh", "start.sh")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")


def _socket(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        before = Path.cwd()
        os.chdir(folder)  # the path of a socket is short
        try:
            made.bind("socket")
        finally:
            os.chdir(before)


def _hard_link(folder: Path) -> None:
    (folder / "same.py").hardlink_to(folder / "train.py")


def _submodule(folder: Path) -> None:
    _repository(folder / "module")
    git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./module", "module")


def _repository(folder: Path) -> None:
    folder.mkdir()
    git(folder, "init", "-q")
    _write("inside")(folder)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "inside")


def _nested(folder: Path) -> None:
    _repository(folder / "nested")


def _no_bit(folder: Path) -> None:
    (folder / "train.sh").chmod(0o644)


CASES: dict[str, tuple[Callable[[Path], None], list[str]]] = {
    "nothing changed": (lambda _: None, []),
    "a new file": (_write("new"), []),
    "a new file in a new folder": (_write("a/b/c"), []),
    "an empty file": (_write("empty", ""), []),
    "an empty folder": (lambda folder: (folder / "empty").mkdir(), []),
    "an executable file": (_write("start", mode=0o755), []),
    "a file that others may execute": (_write("start", mode=0o645), []),
    "a file that is no longer executable": (_no_bit, []),
    "ignored files": (_ignored, []),
    "a file that is ignored in .git": (_ignored_by_info, []),
    "a tracked file that is ignored": (_ignored_though_tracked, []),
    "a deleted file": (_deleted, []),
    "a changed file": (_write("train.py", "print('changed')\n"), []),
    "a file that was staged and changed": (_staged, []),
    "a file that was staged and deleted": (_unstaged, []),
    "a file that will be added": (_intended, []),
    "a renamed file": (_renamed, []),
    "a file instead of a folder": (_file_instead_of_folder, []),
    "a folder instead of a file": (_folder_instead_of_file, []),
    "a link instead of a folder": (_link_instead_of_folder, []),
    "a link instead of a file": (_link("train.sh", "train.py"), []),
    "a link to a file": (_link("link", "train.py"), []),
    "a link to a folder": (_link("link", "data"), []),
    "a link from a folder": (_link("deep/link", "../train.py"), []),
    "a link to nothing": (_link("link", "nothing"), []),
    "a link to itself": (_link("link", "link"), []),
    "a link whose name is not ASCII": (_link("Verknüpfung", "train.py"), []),
    "a hard link": (_hard_link, []),
    "a pipe": (_pipe, []),
    "a socket": (_socket, []),
    "spaces and quotes": (_write("a 'b' \"c\" $d"), []),
    "a name of two lines": (_write("two\nlines"), []),
    "a name that begins with a hyphen": (_write("--output"), []),
    "a name that is not ASCII": (_write("Größe.txt"), []),
    "a name that is not UTF-8": (_write_bytes(b"gr\xf6\xdfe.txt"), []),
    "a long name": (_write("/".join(["d" * 100] * 3)), []),
    "a submodule": (_submodule, ["module"]),
    "a repository in the folder": (_nested, ["nested"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_holds_what_git_archive_would_hold(case: str, folder: Path) -> None:
    change, left_out = CASES[case]
    if sys.platform == "darwin" and "UTF-8" in case:
        pytest.skip("macOS has no such names")
    _write("train.sh", mode=0o755)(folder)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    change(folder)
    packed = pack(folder, "train.py")
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "what Git stores", "--allow-empty")
    git(folder, "archive", "--output", str(folder.parent / "git.tar"), "HEAD")
    assert [*entries(packed.archive)] == [*entries((folder.parent / "git.tar").read_bytes())]
    assert [*packed.left_out] == left_out


@pytest.mark.slow
def test_git_runs_no_program_that_the_folder_names(folder: Path) -> None:
    git(folder, "init", "-q")
    (folder / ".gitattributes").write_text("*.py filter=own diff=own\n*.txt filter=long\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    mark = folder.parent / "ran"
    program = folder.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    program.chmod(0o755)
    hooks = folder.parent / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "fsmonitor-watchman", "pre-commit"):
        (hooks / hook).symlink_to(program)
        (folder / ".git" / "hooks" / hook).unlink(missing_ok=True)
        (folder / ".git" / "hooks" / hook).symlink_to(program)
    for name, value in {
        "core.fsmonitor": program,
        "core.hooksPath": hooks,
        "filter.own.clean": program,
        "filter.own.required": "true",
        "filter.long.process": program,
        "diff.own.textconv": program,
        "diff.external": program,
        "core.pager": program,
    }.items():
        git(folder, "config", name, str(value))
    (folder / "train.py").write_text("print('changed')\n")
    os.utime(folder / "data" / "words.txt", (1, 1))
    commit = pack(folder, "train.py").commit
    assert commit is not None
    assert commit.endswith("-dirty")
    assert not mark.exists()


@pytest.mark.slow
def test_a_repository_in_which_git_fails_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(folder, "init", "-q")
    (folder / ".git" / "config").write_text("[core\n")
    with pytest.raises(
        FindingsError, match=r"UC6210: --folder: git cannot say which files belong to .*: .*config"
    ):
        pack(folder, "train.py")
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(FindingsError, match="git does not start or does not answer"):
        pack(folder, "train.py")


@pytest.mark.slow
def test_names_the_files_that_a_sparse_checkout_lacks(folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    git(folder, "sparse-checkout", "set", "--no-cone", "/train.py")
    packed = pack(folder, "train.py")
    assert names(packed.archive) == ["train.py"]
    assert packed.left_out == ("data/words.txt",)


@pytest.mark.slow
def test_a_repository_without_a_commit_has_no_commit(folder: Path) -> None:
    git(folder, "init", "-q")
    assert pack(folder, "train.py").commit is None


def test_a_file_that_cannot_be_read_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", read)
    with pytest.raises(
        FindingsError, match=r"UC6210: --folder: 'data/words\.txt' cannot be read: Permission denied"
    ):
        pack(folder, "train.py")
