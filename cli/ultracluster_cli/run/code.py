"""Pack the code of a run: the files that Git would store, within limits, without secrets, always to the same bytes.

Git stores a link as a link, and of a repository in the folder the commit only. Contents are those of the folder: Git's
filters, such as that of Git LFS, are programs that the folder chooses, so none of them runs, nor does a hook or a monitor.
"""

import gzip
import hashlib
import io
import os
import stat
import subprocess
import tarfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Final

from ultracluster_spec.credentials import find_credentials, is_secret_file
from ultracluster_spec.did_you_mean import suggestion
from ultracluster_spec.findings import Finding, FindingsError, printable, quote, reject
from ultracluster_spec.record import RuleRecord

_MOST_BYTES = 20 * 2**20
_MOST_FILES = 2_000
_SKIPPED = frozenset(
    [".git", ".venv", "venv", "node_modules", "__pycache__", ".ultracluster", "cdk.out", ".mypy_cache"]
)
# Importable by programs of a run, as if the package were installed in the image.
_RUNTIME = ("__init__.py", "checkpoints.py", "training_metrics.py")
_REPOSITORY = "160000"  # mode of a submodule: gitformat-index(5)


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """Packed code, with the number of the user's files and the commit: ``-dirty`` if files differ, None without git.

    Attributes:
        left_out: Submodules, nested repositories and files of a sparse checkout, which are not in the archive.
    """

    archive: bytes
    digest: str
    files: int
    commit: str | None
    left_out: tuple[str, ...]


def pack(folder: Path, program: str, *, allowed: Collection[str] = ()) -> Code:
    """Pack a folder. UC6210 has all problems: no such program, too many or too large files, links out of it, or secrets.

    Args:
        folder: The folder.
        program: A file of it.
        allowed: Names of files that contain no secret, whatever they look like.
    """
    listed = _list(folder)
    stored, left_out = (sorted(_paths_of_folder(folder)), ()) if listed is None else listed
    # Not by Path.readlink, which leaves out the ./ that Git keeps.
    links = {name: os.readlink(folder / name) for name in stored if (folder / name).is_symlink()}  # noqa: PTH115
    paths = {name: folder / name for name in stored if name not in links}
    findings = [*_check_program(program, paths, folder), *_check_sizes(paths), *_check_links(links, folder)]
    others = {name: path for name, path in sorted(paths.items()) if name not in allowed}
    findings += [*_check_allowed(allowed, paths), *_check_names(others)]
    reject(findings)
    contents = {name: _read(path, name) for name, path in paths.items()}
    reject(_check_contents({name: content for name, content in contents.items() if name not in allowed}))
    runtime = resources.files("ultracluster_runtime")
    contents |= {
        f".ultracluster/ultracluster_runtime/{name}": runtime.joinpath(name).read_bytes() for name in _RUNTIME
    }
    executable = {name for name, path in paths.items() if path.stat().st_mode & stat.S_IXUSR}
    archive = _archive(contents, executable, links)
    return Code(
        archive=archive,
        digest=hashlib.sha256(archive).hexdigest(),
        files=len(stored),
        commit=None if listed is None else _commit(folder),
        left_out=left_out,
    )


def _list(folder: Path) -> tuple[list[str], tuple[str, ...]] | None:
    """Return the files and links that Git would store, and what it would not; None if the folder is in no repository."""
    if _git(folder, "rev-parse", "--git-dir") is None:
        return None
    # Each entry is a letter, mode, object and stage, a tab and the name.
    tracked = _entries(_git(folder, "ls-files", "-z", "-t", "--stage"))
    modes = {name: start.split()[:2] for start, _, name in (entry.partition("\t") for entry in tracked)}
    others = _entries(_git(folder, "ls-files", "-z", "--others", "--exclude-standard"))
    left_out = [name for name, (_, mode) in modes.items() if mode == _REPOSITORY]
    left_out += [name.rstrip("/") for name in others if name.endswith("/")]
    left_out += [
        name for name, (letter, _) in modes.items() if letter == "S" and not os.path.lexists(folder / name)
    ]
    stored = {name for name in (*modes, *others) if name not in left_out and _is_stored(folder, name)}
    return sorted(stored), tuple(sorted(set(left_out)))


def _entries(listed: str | None) -> list[str]:
    return list(filter(None, (listed or "").split("\0")))


def _is_stored(folder: Path, name: str) -> bool:
    """Whether a name is a file or a link, in folders that are none themselves; a device or a socket is neither."""
    try:
        mode = (folder / name).lstat().st_mode
    except OSError:  # deleted, or no longer in a folder
        return False
    parents = [folder / parent for parent in PurePosixPath(name).parents[:-1]]
    return (stat.S_ISREG(mode) or stat.S_ISLNK(mode)) and not any(parent.is_symlink() for parent in parents)


def _paths_of_folder(folder: Path) -> Iterator[str]:
    for root, folders, files in os.walk(folder):
        inside = [name for name in folders if name not in _SKIPPED]
        folders[:] = [name for name in inside if not (Path(root) / name).is_symlink()]
        for name in (*files, *(name for name in inside if name not in folders)):
            path = (Path(root) / name).relative_to(folder).as_posix()
            if _is_stored(folder, path):
                yield path


def _check_program(program: str, paths: dict[str, Path], folder: Path) -> list[Finding]:
    if PurePosixPath(program).as_posix() in paths:
        return []
    remedy = "Specify a program in the folder, or choose another folder with --folder"
    if (folder / program).is_file():
        remedy = "git ignores it: add it, or change .gitignore"
    elif near := suggestion(program, paths):
        remedy = near
    files = "the only file" if len(paths) == 1 else f"among the {len(paths)} files"
    problem = f"{quote(program)} is not {files} of {quote(str(folder))}"
    return [Finding(code="UC6210", problem=problem, remedy=remedy, path="PROGRAM")]


def _check_sizes(paths: dict[str, Path]) -> Iterator[Finding]:
    sizes = {name: path.lstat().st_size for name, path in paths.items()}
    if sum(sizes.values()) > _MOST_BYTES or len(sizes) > _MOST_FILES:
        largest = ", ".join(sorted(sizes, key=lambda name: -sizes[name])[:3])
        yield Finding(
            code="UC6210",
            problem=f"{len(sizes):,} files of {sum(sizes.values()) / 2**20:,.1f} MiB; the largest are {largest}",
            allowed=f"up to {_MOST_FILES:,} files of {_MOST_BYTES // 2**20} MiB",
            remedy="Leave data out with .gitignore of a Git repository, and keep it on the file system or in a dataset bucket",
            path="--folder",
        )


def _check_links(links: dict[str, str], folder: Path) -> Iterator[Finding]:
    """Refuse links that lead out of the folder: on a node there is something else, or nothing."""
    top = os.path.realpath(folder)
    for name, target in links.items():
        ends = os.path.realpath(folder / name)
        depth = 0
        for part in (*PurePosixPath(name).parent.parts, *PurePosixPath(target).parts):
            depth += -1 if part == ".." else part != "."
            if depth < 0:
                break
        if target.startswith("/") or depth < 0 or os.path.commonpath([top, ends]) != top:
            yield Finding(
                code="UC6210",
                problem=f"the link {quote(name)} leads to {quote(target)}, out of the folder",
                allowed="links to files of the folder",
                remedy="Copy what it leads to into the folder, or leave it out: .gitignore of a Git repository names it",
                path="--folder",
            )


def _check_allowed(allowed: Collection[str], paths: dict[str, Path]) -> Iterator[Finding]:
    for name in allowed:
        if name not in paths:
            problem = f"{quote(name)} is not among the {len(paths)} files that would be uploaded"
            remedy = "Write it as the refusal does, relative to the folder"
            yield Finding(code="UC6210", problem=problem, remedy=remedy, path="--allow-file")


def _check_names(paths: dict[str, Path]) -> Iterator[Finding]:
    for name in (name for name, path in paths.items() if _is_secret(name, path)):
        yield _secret(name, "a file of this name holds secrets", printable(name))


def _is_secret(name: str, path: Path) -> bool:
    return is_secret_file(name, lambda: _read(path, name))


def _check_contents(contents: dict[str, bytes]) -> Iterator[Finding]:
    for name, content in contents.items():
        if found := find_credentials(name, content):
            (line, kind), more = found[0], len(found) - 1
            problem = f"this looks like {kind}" + (f", and {more} more of its lines too" if more else "")
            yield _secret(name, problem, f"{printable(name)}:{line}")


def _secret(name: str, problem: str, location: str) -> Finding:
    remedy = "Leave the file out with .gitignore of a Git repository; programs read secrets from AWS Secrets Manager"
    remedy += f". If it holds none, allow it with --allow-file {quote(name)}"
    return Finding(code="UC6210", problem=problem, remedy=remedy, location=location)


def _read(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        problem = f"{quote(name)} cannot be read: {error.strerror}"
        raise FindingsError.of(
            "UC6210", problem, remedy="Make it readable, or add it to .gitignore", path="--folder"
        ) from None


def _archive(contents: dict[str, bytes], executable: set[str], links: dict[str, str]) -> bytes:
    """Pack files and links; equal files give equal bytes, whatever their times and owners are."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as compressed,
        # Names that are not UTF-8 stay the bytes that they are.
        tarfile.open(
            fileobj=compressed,
            mode="w",
            format=tarfile.PAX_FORMAT,
            encoding="utf-8",
            errors="surrogateescape",
        ) as archive,
    ):
        for name in sorted({*contents, *links}):
            entry = tarfile.TarInfo(name)
            if name in links:
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, links[name], 0o777
                archive.addfile(entry)
            else:
                entry.size, entry.mode = len(contents[name]), 0o755 if name in executable else 0o644
                archive.addfile(entry, io.BytesIO(contents[name]))
    return packed.getvalue()


def _commit(folder: Path) -> str | None:
    try:
        head = _git(folder, "rev-parse", "--verify", "HEAD")
    except FindingsError:  # a repository without a commit
        return None
    changed = _git(folder, "status", "--porcelain", "--ignore-submodules=all", "--", ".")
    return (head or "").strip() + ("-dirty" if changed else "")


def _git(folder: Path, *words: str) -> str | None:
    """Run git without the hooks, monitors and filters of the folder. Return None if the folder is in no repository.

    UC6210 if git fails in a repository: without it, ignored files would be uploaded.
    """
    names = _run_git(folder, ["config", "--null", "--name-only", "--get-regexp", r"^filter\."], {})
    drivers = (
        {name.rpartition(".")[0] for name in os.fsdecode(names.stdout).split("\0") if name}
        if names
        else set()
    )
    settings = {"core.fsmonitor": "false", "core.hooksPath": os.devnull}
    settings |= {f"{driver}.{key}": "" for driver in drivers for key in ("clean", "smudge", "process")}
    settings |= {f"{driver}.required": "false" for driver in drivers}
    ended = _run_git(folder, list(words), settings)
    if ended is not None and ended.returncode == 0:
        return os.fsdecode(ended.stdout)
    said = "git does not start or does not answer" if ended is None else os.fsdecode(ended.stderr).strip()
    in_repository = any(
        (parent / ".git").exists() for parent in (folder.resolve(), *folder.resolve().parents)
    )
    if "not a git repository" in said or (ended is None and not in_repository):
        return None
    raise FindingsError.of(
        "UC6210",
        f"git cannot say which files belong to {quote(str(folder))}: {said.splitlines()[0] if said else 'no reason given'}",
        remedy="Make `git status` work there, or copy the files into a folder without .git",
        path="--folder",
    )


def _run_git(
    folder: Path, words: list[str], settings: dict[str, str]
) -> "subprocess.CompletedProcess[bytes] | None":
    # Variables such as GIT_DIR lead elsewhere; git sets them for the programs that it starts.
    kept = ("GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
    environment = {
        name: value for name, value in os.environ.items() if name in kept or not name.startswith("GIT_")
    }
    environment |= {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    environment["GIT_CONFIG_COUNT"] = str(len(settings))
    for index, (name, value) in enumerate(settings.items()):
        environment |= {f"GIT_CONFIG_KEY_{index}": name, f"GIT_CONFIG_VALUE_{index}": value}
    command = ["git", *words]
    try:
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


RECORDS: Final = (
    RuleRecord(
        "UC6210",
        "The code of a run is small, contains the program, no secrets, and no links out of its folder.",
        remedy="Add data and secrets to .gitignore, and specify a program in the folder.",
        source="Our decision: code is uploaded as Git would store it; the limits keep the start of a node short.",
    ),
)
