"""Find the project that a command runs in, and its folder for state."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ultracluster_rules.findings import FindingsError, quote
from ultracluster_rules.untrusted_files import read_untrusted_json

__all__ = ["rollout_file", "run_directory", "state_directory"]


def rollout_file(directory: Path, rollout: Path | None) -> Path:
    """Return the rollout file of a command that runs the CDK app.

    Args:
        directory: Folder of the app.
        rollout: The file named on the command line. None for the context value `rollout` of cdk.json.

    Raises:
        FindingsError: If there is no cdk.json (UC9001), or none was given and it names none (UC9002).
    """
    if not (directory / "cdk.json").is_file():
        problem = f"there is no cdk.json in {quote(str(directory))}"
        remedy = "Run this command in the folder of the CDK app; `ultracluster init DIR` makes one"
        raise FindingsError.of("UC9001", problem, remedy=remedy)
    return (rollout or _default_rollout(directory)).resolve()


def _default_rollout(directory: Path) -> Path:
    cdk_json = directory / "cdk.json"
    try:
        rollout = read_untrusted_json(cdk_json).get("context", {}).get("rollout")
        problem = f"names no rollout under context: got {quote(rollout)}"
    except (OSError, ValueError, AttributeError) as error:
        rollout, problem = None, f"cannot be read: {error}"
    if isinstance(rollout, str) and rollout:
        return directory / rollout
    raise FindingsError.of(
        "UC9002",
        problem,
        location=str(cdk_json),
        remedy="Name the rollout file as an argument: ultracluster deploy ROLLOUT",
    )


def state_directory(directory: Path) -> Path:
    """Return the folder for logs, caches and the state of the local AWS, creating it if missing."""
    state = directory / ".ultracluster"
    state.mkdir(exist_ok=True)
    return state


@contextmanager
def run_directory(state: Path) -> Iterator[Path]:
    """Create a folder for the temporary files of this process, removed at the end.

    What processes that were killed have left behind is removed as well.

    Args:
        state: Our folder; see `state_directory`.
    """
    temporary = state / "tmp"
    for leftover in temporary.glob("run-*"):
        if not _is_running(int(leftover.name.removeprefix("run-"))):
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
    except ProcessLookupError:
        return False
    except PermissionError:  # it is somebody else's, but it runs
        return True
    return True
