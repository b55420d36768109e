"""Write checkpoints that can be resumed: request them by signal, and mark them complete last.

For training code. It needs only the standard library of Python 3.10: copy this one file into an image, or install
the package there with ``pip install --no-deps ultracluster``.
"""

import json
import math
import os
import re
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import BinaryIO

__all__ = [
    "CheckpointSignal",
    "begin_checkpoint",
    "checkpoint_step",
    "complete_checkpoint",
    "latest_complete_checkpoint",
    "write_file",
]

_MARKER = "COMPLETE"
_PARTIAL_SUFFIX = ".part"
_FOLDER_NAME = re.compile(r"step-(\d{12})")


class CheckpointSignal:
    """Records checkpoint requests that arrive as a signal.

    The launcher of the job sends the signal before a Capacity Block ends and when a user stops the job. It reaches the
    processes seconds apart, so they must agree on the step: save if `requested` is true in any of them.
    """

    def __init__(self, number: signal.Signals = signal.SIGUSR1, *, settle_seconds: float = 60) -> None:
        """Install the signal handler.

        Args:
            number: Signal to handle. Default: SIGUSR1, which the launcher sends.
            settle_seconds: Time after a checkpoint, in seconds, in which another signal counts as the same request that
                reached this process late. Default: 60 seconds.
        """
        self._requested = False
        self._settle_seconds = settle_seconds
        self._ignore_until = -math.inf
        signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - signature of a signal handler
        if time.monotonic() >= self._ignore_until:
            self._requested = True

    @property
    def requested(self) -> bool:
        """Whether a checkpoint was requested and not written yet."""
        return self._requested

    def acknowledge(self) -> None:
        """Clear the request after the checkpoint is written; call it in every process."""
        self._ignore_until = time.monotonic() + self._settle_seconds
        self._requested = False


def begin_checkpoint(root: str | Path, step: int) -> Path:
    """Create and return the folder for the checkpoint of a step; every process may call it.

    Args:
        root: Folder of all checkpoints of the run, on the shared file system.
        step: Number of completed steps, 0 or more.

    Raises:
        FileExistsError: If the step has a complete checkpoint, which writing again would corrupt.
    """
    folder = Path(root) / f"step-{step:012d}"
    folder.mkdir(parents=True, exist_ok=True)
    if _is_complete(folder):
        raise FileExistsError(f"{folder} is complete; resume from it, or delete it")
    return folder


def write_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file of a checkpoint atomically: after a node failure it exists in full or not at all.

    Args:
        path: File in the folder that `begin_checkpoint` returned.
        write: Writes to the open file, such as ``lambda file: torch.save(state, file)``.
    """
    unfinished = path.with_name(path.name + _PARTIAL_SUFFIX)
    with unfinished.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    _sync_folder(path.parent)


def complete_checkpoint(folder: Path, files: Iterable[str] | None = None) -> None:
    """Mark a checkpoint as complete. Call it in one process, after a barrier behind the last file of every process.

    Args:
        folder: Folder that `begin_checkpoint` returned.
        files: Names of the files that belong to the checkpoint. Default: all files in the folder.

    Raises:
        FileNotFoundError: If a file is missing, or the folder is empty. The checkpoint then stays incomplete.
    """
    names = _files_in(folder) if files is None else sorted(files)
    if not names:
        raise FileNotFoundError(f"{folder} has no file")
    sizes = {name: (folder / name).stat().st_size for name in names}
    write_file(folder / _MARKER, lambda file: file.write(json.dumps({"files": sizes}).encode()))
    _sync_folder(folder.parent)


def latest_complete_checkpoint(root: str | Path) -> Path | None:
    """Return the folder of the latest complete checkpoint, or None. Incomplete checkpoints are skipped.

    A checkpoint is complete if its marker exists and every file that the marker lists has the recorded size.

    Args:
        root: Folder of all checkpoints of the run. It need not exist.
    """
    root = Path(root)
    if not root.is_dir():
        return None
    steps = sorted((folder for folder in root.iterdir() if _FOLDER_NAME.fullmatch(folder.name)), reverse=True)
    return next(filter(_is_complete, steps), None)


def checkpoint_step(folder: Path) -> int:
    """Return the step of a checkpoint folder.

    Raises:
        ValueError: If `begin_checkpoint` did not create the folder.
    """
    match = _FOLDER_NAME.fullmatch(folder.name)
    if match is None:
        raise ValueError(f"{folder} is not a checkpoint folder")
    return int(match[1])


def _is_complete(folder: Path) -> bool:
    try:
        sizes = json.loads((folder / _MARKER).read_bytes())["files"]
        return bool(sizes) and all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False  # there is no marker, a foreign marker, or a missing file


def _files_in(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.name != _MARKER and not path.name.endswith(_PARTIAL_SUFFIX)
    )


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
