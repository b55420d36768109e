"""Start, find, empty and stop a local AWS that runs in the background of a directory.

The server holds a file lock for its whole life. The system releases the lock after a crash or ``kill -9``, so a dead
server neither blocks the next `up` nor is mistaken for a running one.
"""

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from filelock import FileLock, Timeout

import ultracluster_local
from ultracluster_local.errors import LocalAwsError, no_answer, quote
from ultracluster_local.instance.environment import require_loopback, without_aws
from ultracluster_local.jobs.settings import JobSettings
from ultracluster_local.seeding import seed_client

__all__ = ["DEFAULT_DIRECTORY", "Status", "down", "reset", "status", "up"]

DEFAULT_DIRECTORY = Path(".ultracluster") / "local"
"""Directory that the command line uses, relative to the current one."""

_READY_SECONDS = 60.0
_STOP_SECONDS = 10.0
_LOG_LINES = 20
_LOCK_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """A local AWS that runs in the background.

    Attributes:
        endpoint: Endpoint URL.
        port: Port.
        key: Access key ID that requests must carry.
        pid: Process ID.
        started: Start time in UTC.
        directory: Directory of its files.
        log: Log file.
    """

    endpoint: str
    port: int
    key: str = field(repr=False)
    pid: int
    started: datetime
    directory: Path
    log: Path


def up(
    directory: Path = DEFAULT_DIRECTORY, *, port: int | None = None, jobs: Mapping[str, Path] | None = None
) -> Status:
    """Start the server in the background and return once it answers.

    Args:
        directory: Directory of its state, log and temporary files. Default: ``.ultracluster/local``.
        port: Port to listen on. Default: a free one.
        jobs: Run AWS Batch jobs as processes of this machine, with these folders of programs by container image. Default: jobs
            wait in RUNNABLE.

    Raises:
        LocalAwsError: If one is already running there (UC8005), or it does not become ready (UC8006).
    """
    directory = directory.absolute()
    directory.mkdir(parents=True, exist_ok=True)
    running = status(directory)
    if running is not None:
        raise LocalAwsError(
            "UC8005",
            f"a local AWS is already running in {quote(str(directory))} at {running.endpoint} (process {running.pid})",
            remedy="Use it, or stop it with `ultracluster local down`",
        )
    _clear(directory)
    temporary = directory / "tmp"
    temporary.mkdir()
    # null if jobs are not run
    images = json.dumps(None if jobs is None else {image: str(folder) for image, folder in jobs.items()})
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                sys.executable,
                *("-m", "ultracluster_local.server.daemon", str(directory), str(port or 0)),
                images,
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal must not reach the server
            env={**without_aws(os.environ), "TMPDIR": str(temporary)},
        )
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        found = status(directory)
        if found is not None and found.pid == process.pid:
            # Popen warns about children that outlive their object; this one is meant to.
            process.returncode = 0
            return found
        time.sleep(0.05)
    if process.poll() is None:
        process.kill()
        process.wait()
    raise no_answer(f"the local AWS did not start: {_log_end(directory)}", remedy=f"See {directory / 'log'}")


def status(directory: Path = DEFAULT_DIRECTORY) -> Status | None:
    """Return the local AWS running in the background of `directory`, or None.

    Args:
        directory: Directory of its files. Default: ``.ultracluster/local``.
    """
    directory = directory.absolute()
    try:
        file = directory / "state.json"
        if not file.is_file():  # a pipe would wait for its writer
            return None
        state = json.loads(file.read_text("utf-8"))
        found = Status(
            endpoint=require_loopback(str(state["endpoint"])),
            port=int(state["port"]),
            key=str(state["key"]),
            pid=int(state["pid"]),
            started=datetime.fromisoformat(state["started"]),
            directory=directory,
            log=directory / "log",
        )
    except (OSError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError, LocalAwsError):
        return None  # no server, one that is starting or stopping, or a file that none has written
    # The process is checked too: another call of this function holds the lock for a moment.
    return None if _lock_is_free(directory) or not _serves(found.pid, directory) else found


def down(directory: Path = DEFAULT_DIRECTORY) -> bool:
    """Stop the server and remove its files, except for the log.

    Args:
        directory: Directory of its files. Default: ``.ultracluster/local``.

    Returns:
        Whether one was running.
    """
    directory = directory.absolute()
    running = status(directory)
    if running is not None:
        for order, seconds in ((signal.SIGTERM, _STOP_SECONDS), (signal.SIGKILL, _STOP_SECONDS)):
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(running.pid, order)
            deadline = time.monotonic() + seconds
            while not _lock_is_free(directory) and time.monotonic() < deadline:
                time.sleep(0.02)
            if _lock_is_free(directory):
                break
        # A child of this process would stay behind as a zombie.
        with suppress(ProcessLookupError, ChildProcessError):
            os.waitpid(running.pid, 0)
    if directory.exists():
        _clear(directory)
    return running is not None


def reset(directory: Path = DEFAULT_DIRECTORY) -> None:
    """Reset the server that runs in the background.

    Args:
        directory: Directory of its files. Default: ``.ultracluster/local``.

    Raises:
        LocalAwsError: If none runs, or it does not answer (UC8006).
    """
    running = status(directory)
    if running is None:
        raise no_answer(
            f"no local AWS is running in {quote(str(directory))}",
            remedy="Start one with `ultracluster local up`",
        )
    seed_client.reset(endpoint=running.endpoint, key=running.key)


def _lock(directory: Path) -> FileLock:
    return FileLock(directory / "lock")


def _lock_is_free(directory: Path) -> bool:
    try:
        with _lock(directory).acquire(blocking=False):
            return True
    except Timeout:
        return False


def _serves(pid: int, directory: Path) -> bool:
    """Return whether a process is the server of a directory: `down` signals no other one, whatever the file says."""
    if pid <= 1:  # 0 and -1 are groups of processes
        return False
    if Path("/proc/self/cmdline").exists():
        with suppress(OSError):
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes()
            # Whole arguments: a shell or an editor may have the command line of the server in one of its own.
            return b"\0" + _arguments(directory).strip().replace(" ", "\0", 2).encode() + b"\0" in arguments
        return False
    command = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
    shown = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    return _arguments(directory) in shown.stdout


def _arguments(directory: Path) -> str:
    return f" -m ultracluster_local.server.daemon {directory} "


def _clear(directory: Path) -> None:
    """Remove the files of an earlier server except its log and the lock, which another process may be acquiring."""
    (directory / "state.json").unlink(missing_ok=True)
    for name in ("tmp", "functions", "jobs"):
        shutil.rmtree(directory / name, ignore_errors=True)


def _log_end(directory: Path) -> str:
    lines = (directory / "log").read_text("utf-8", errors="replace").splitlines()
    return " | ".join(lines[-_LOG_LINES:]) or "its log is empty"


def _serve(directory: Path, port: int, jobs: JobSettings | None = None) -> int:
    """Run the server until SIGTERM while holding the lock."""
    try:
        lock = _lock(directory).acquire(timeout=_LOCK_SECONDS)  # `status` may hold the lock for a moment
    except Timeout:
        sys.stderr.write("another local AWS runs in this directory\n")
        return 1
    ended = Event()
    for order in (signal.SIGTERM, signal.SIGINT):
        signal.signal(order, lambda *_: ended.set())
    logging.basicConfig(format="%(message)s")
    logging.getLogger("ultracluster_local").setLevel(logging.INFO)
    with lock:
        try:
            local = ultracluster_local.LocalAws(port=port, directory=directory).start()
            local.run_jobs(jobs)
        except LocalAwsError as error:
            sys.stderr.write(f"{error}\n")
            return 2
        state = {
            "pid": os.getpid(),
            "port": int(local.endpoint.rsplit(":", 1)[-1]),
            "endpoint": local.endpoint,
            "key": local.key,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        partial = directory / "state.json.partial"
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(state, file)  # readable by its owner only: it holds the key
        partial.replace(directory / "state.json")  # written atomically
        ended.wait()
        (directory / "state.json").unlink(missing_ok=True)
        local.stop()
    return 0


if __name__ == "__main__":
    _images = json.loads(sys.argv[3])
    _settings = (
        None
        if _images is None
        else JobSettings(images={image: Path(folder) for image, folder in _images.items()})
    )
    sys.exit(_serve(Path(sys.argv[1]), int(sys.argv[2]), _settings))
