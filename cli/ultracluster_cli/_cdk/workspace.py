"""Locate the project of a command, its rollout file and its state directory."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from ultracluster_spec.findings import FindingsError, quote
from ultracluster_spec.untrusted_files import read_untrusted_json

_STATE: Final = ".ultracluster"


def project_folder() -> Path:
    """Return the folder of the project: the nearest one with a cdk.json, from the current one up, else the current one.

    Another user's cdk.json above is no project, since it names a program to run. What `.ultracluster` keeps is no part of one.
    """
    current = Path.cwd()
    for folder in (current, *current.parents):
        file = folder / "cdk.json"
        if file.is_file() and (folder == current or file.stat().st_uid == os.getuid()):
            return folder
        if folder.name == _STATE:
            break
    return current


def rollout_file(rollout: Path) -> Path:
    """Return the absolute path of the rollout file of a command that runs the CDK app of the project."""
    _require_app()
    return rollout.resolve()


def _require_app() -> None:
    if not (project_folder() / "cdk.json").is_file():
        problem = f"no cdk.json in {quote(str(Path.cwd()))} or above"
        remedy = "Run this command in the folder of a CDK app; create one with `ultracluster init DIR`"
        raise FindingsError.message(problem, remedy=remedy)


def default_rollout() -> Path:
    """Return the rollout file that cdk.json names."""
    _require_app()
    rollout, problem = _context("rollout")
    if isinstance(rollout, str) and rollout:
        return Path(os.path.relpath(project_folder() / rollout))
    remedy = "Specify the rollout file: ultracluster deploy ROLLOUT"
    raise FindingsError.message(
        problem or f"context value rollout: got {quote(rollout)}",
        location="cdk.json",
        remedy=remedy,
    )


def ledger_place(table: str | None, region: str | None) -> tuple[str, str] | None:
    """Return table and Region of the capacity ledger: the given ones, else those that cdk.json names as `ledger`."""
    if table is None and region is None:
        ledger, _ = _context("ledger")
        named = ledger if isinstance(ledger, dict) else {}
        table, region = (
            value if isinstance(value, str) else None for value in map(named.get, ("table", "region"))
        )
    return (table, region) if table and region else None


def _context(name: str) -> tuple[Any, str]:
    """Return a context value of cdk.json, or why it cannot be read."""
    try:
        return read_untrusted_json(project_folder() / "cdk.json").get("context", {}).get(name), ""
    except (OSError, ValueError, AttributeError) as error:
        return None, f"cannot be read: {error}"


def state_directory(directory: Path) -> Path:
    """Return the directory for logs, caches and local AWS state, creating it if missing."""
    state = directory / _STATE
    state.mkdir(exist_ok=True)
    return state


@contextmanager
def run_directory(state: Path) -> Iterator[Path]:
    """Create a temporary directory for this process, and remove those of killed processes."""
    temporary = state / "tmp"
    for leftover in temporary.glob("run-*"):
        process = leftover.name.removeprefix("run-")
        if process.isdecimal() and not _is_running(int(process)):
            shutil.rmtree(leftover, ignore_errors=True)
    directory = temporary / f"run-{os.getpid()}"
    directory.mkdir(parents=True, exist_ok=True)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's process
        return True
    return True
