"""Pack the code of a run: the files that git would take, within limits, without secrets, always to the same bytes."""

import gzip
import hashlib
import io
import os
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath

from ultracluster_rules.credentials import credential_kind
from ultracluster_rules.findings import Finding, quote, reject

_MOST_BYTES = 20 * 2**20
_MOST_FILES = 2_000
_TEXT_BYTES = 2**20  # of each file, looked through for credentials
_SKIPPED = frozenset(
    [".git", ".venv", "venv", "node_modules", "__pycache__", ".ultracluster", "cdk.out", ".mypy_cache"]
)
_SECRET_NAMES = (".env", ".netrc", "id_rsa", "id_ed25519", "credentials")
_SECRET_SUFFIXES = (".pem", ".key", ".p12", ".pfx")
# Importable by programs of a run, as if the package were installed in the image.
_RUNTIME = ("__init__.py", "checkpoints.py", "training_metrics.py")


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """Packed code, with the number of the user's files and the commit: ``-dirty`` if files differ, None without git."""

    archive: bytes
    digest: str
    files: int
    commit: str | None


def pack(folder: Path, program: str) -> Code:
    """Pack a folder. UC6210 has all problems: no such program, too many or too large files, or secrets."""
    listed = _git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = sorted(_walk(folder) if listed is None else filter(None, listed.split("\0")))
    paths = {name: folder / name for name in names if (folder / name).is_file()}
    findings = [*_check_program(program, paths, folder), *_check_files(paths)]
    reject(findings)
    contents = {name: path.read_bytes() for name, path in paths.items()}
    runtime = resources.files("ultracluster_runtime")
    contents |= {
        f".ultracluster/ultracluster_runtime/{name}": runtime.joinpath(name).read_bytes() for name in _RUNTIME
    }
    archive = _archive(contents, {name for name, path in paths.items() if os.access(path, os.X_OK)})
    return Code(
        archive=archive, digest=hashlib.sha256(archive).hexdigest(), files=len(paths), commit=_commit(folder)
    )


def _walk(folder: Path) -> Iterator[str]:
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _SKIPPED]
        for name in files:
            yield (Path(root) / name).relative_to(folder).as_posix()


def _check_program(program: str, paths: dict[str, Path], folder: Path) -> list[Finding]:
    if PurePosixPath(program).as_posix() in paths:
        return []
    remedy = "Specify a program in the folder, or choose another folder with --folder"
    if (folder / program).is_file():
        remedy = "git ignores it: add it, or change .gitignore"
    problem = f"{quote(program)} is not among the {len(paths)} files of {quote(str(folder))}"
    return [Finding(code="UC6210", problem=problem, remedy=remedy, path="PROGRAM")]


def _check_files(paths: dict[str, Path]) -> list[Finding]:
    sizes = {name: path.stat().st_size for name, path in paths.items()}
    findings = []
    if sum(sizes.values()) > _MOST_BYTES or len(sizes) > _MOST_FILES:
        largest = ", ".join(sorted(sizes, key=lambda name: -sizes[name])[:3])
        findings.append(
            Finding(
                code="UC6210",
                problem=f"{len(sizes):,} files of {sum(sizes.values()) / 2**20:,.1f} MiB; the largest are {largest}",
                allowed=f"up to {_MOST_FILES:,} files of {_MOST_BYTES // 2**20} MiB",
                remedy="Add data to .gitignore, and keep it on the file system or in a dataset bucket",
                path="--folder",
            )
        )
    for name, path in paths.items():
        kind = _secret_kind(name, path)
        if kind:
            problem = f"{quote(name)} looks like {kind}"
            remedy = "Add it to .gitignore; programs read secrets from AWS Secrets Manager"
            findings.append(Finding(code="UC6210", problem=problem, remedy=remedy, path="--folder"))
    return findings


def _secret_kind(name: str, path: Path) -> str | None:
    last = PurePosixPath(name).name
    if last in _SECRET_NAMES or last.startswith(".env.") or last.endswith(_SECRET_SUFFIXES):
        return "a file of secrets"
    with path.open("rb") as file:
        return credential_kind(file.read(_TEXT_BYTES).decode("utf-8", errors="replace"))


def _archive(contents: dict[str, bytes], executable: set[str]) -> bytes:
    """Pack files; equal files give equal bytes, whatever their times and owners are."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(contents):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(contents[name]), 0o755 if name in executable else 0o644
            archive.addfile(entry, io.BytesIO(contents[name]))
    return packed.getvalue()


def _commit(folder: Path) -> str | None:
    head = _git(folder, "rev-parse", "HEAD")
    if head is None:
        return None
    return head.strip() + ("-dirty" if _git(folder, "status", "--porcelain", "--", ".") else "")


def _git(folder: Path, *words: str) -> str | None:
    try:
        command = ["git", *words]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ended.stdout if ended.returncode == 0 else None
