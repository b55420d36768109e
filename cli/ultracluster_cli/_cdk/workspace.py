"""Locate the project of a command, its rollout file and its state directory."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ultracluster_rules.findings import FindingsError, quote
from ultracluster_rules.untrusted_files import read_untrusted_json


def rollout_file(rollout: Path) -> Path:
    """Return the absolute path of the rollout file of a command that runs the CDK app of the current folder."""
    _require_app()
    return rollout.resolve()


def _require_app() -> None:
    if not Path("cdk.json").is_file():
        problem = f"no cdk.json in {quote(str(Path.cwd()))}"
        remedy = "Run this command in the folder of a CDK app; create one with `ultracluster init DIR`"
        raise FindingsError.of("UC9001", problem, remedy=remedy)


def default_rollout() -> Path:
    """Return the rollout file that cdk.json names.

    Raises:
        FindingsError: If cdk.json does not exist (UC9001) or does not specify a rollout (UC9002).
    """
    _require_app()
    try:
        rollout = read_untrusted_json("cdk.json").get("context", {}).get("rollout")
        problem = f"context value rollout: got {quote(rollout)}"
    except (OSError, ValueError, AttributeError) as error:
        rollout, problem = None, f"cannot be read: {error}"
    if isinstance(rollout, str) and rollout:
        return Path(rollout)
    remedy = "Specify the rollout file: ultracluster deploy ROLLOUT"
    raise FindingsError.of("UC9002", problem, location="cdk.json", remedy=remedy)


def state_directory(directory: Path) -> Path:
    """Return the directory for logs, caches and local AWS state, creating it if missing."""
    state = directory / ".ultracluster"
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
