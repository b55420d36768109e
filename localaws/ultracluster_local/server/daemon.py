"""The local AWS in the background of a directory: up, down, status, reset.

The server holds a lock on a file for as long as it lives. A crash, or kill -9, gives the lock back, so that nothing that
it leaves behind can stop the next `up`, and no other process is ever taken for it.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import BinaryIO

from ultracluster_local.instance.environment import require_loopback, without_aws
from ultracluster_local.server.local_aws import LocalAws
from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = ["DEFAULT_DIRECTORY", "Status", "down", "reset", "status", "up"]

DEFAULT_DIRECTORY = Path(".ultracluster") / "local"
"""Where the command line keeps it, under the current directory."""

_READY_SECONDS = 60.0
_STOP_SECONDS = 10.0
_LOG_LINES = 20
_LOCK_TRIES = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """A local AWS that runs in the background.

    Attributes:
        endpoint: Its address.
        port: Its port.
        pid: Its process.
        started: When it started, in UTC.
        directory: Where its files are.
        log: Its log.
    """

    endpoint: str
    port: int
    pid: int
    started: datetime
    directory: Path
    log: Path


def up(directory: Path = DEFAULT_DIRECTORY, *, port: int | None = None) -> Status:
    """Start the server in the background, and return when it answers.

    Args:
        directory: Where its state, log and temporary files are. Default: ``.ultracluster/local``.
        port: Port to listen on. Default: a free one.

    Raises:
        FindingsError: If one runs there already (UC8005), or it does not get ready (UC8006).
    """
    directory = directory.absolute()
    directory.mkdir(parents=True, exist_ok=True)
    running = status(directory)
    if running is not None:
        raise _error(
            "UC8005",
            f"a local AWS runs already in {quote(str(directory))} at {running.endpoint} (process {running.pid})",
            "Use it, or stop it with `ultracluster local down`",
        )
    _clear(directory)
    temporary = directory / "tmp"
    temporary.mkdir()
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "ultracluster_local.server.daemon", str(directory), str(port or 0)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a Ctrl-C at the terminal is not meant for it
            env={**without_aws(os.environ), "TMPDIR": str(temporary)},
        )
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        found = status(directory)
        if found is not None and found.pid == process.pid:
            # Python warns of a child that is still alive when its object goes; this one is meant to be.
            process.returncode = 0
            return found
        time.sleep(0.05)
    if process.poll() is None:
        process.kill()
        process.wait()
    raise _error("UC8006", f"the local AWS did not start: {_log_end(directory)}", f"See {directory / 'log'}")


def status(directory: Path = DEFAULT_DIRECTORY) -> Status | None:
    """Return the local AWS that runs in the background of `directory`; None if none does.

    Args:
        directory: Where its files are. Default: ``.ultracluster/local``.
    """
    directory = directory.absolute()
    if not (directory / "lock").exists() or _lock_is_free(directory):
        return None
    try:
        state = json.loads((directory / "state.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None  # it is starting, or stopping
    return Status(
        endpoint=require_loopback(state["endpoint"]),
        port=state["port"],
        pid=state["pid"],
        started=datetime.fromisoformat(state["started"]),
        directory=directory,
        log=directory / "log",
    )


def down(directory: Path = DEFAULT_DIRECTORY) -> bool:
    """Stop the server and remove its files, except for the log.

    Args:
        directory: Where its files are. Default: ``.ultracluster/local``.

    Returns:
        Whether one ran.
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
        # Only if this process started it is it our child, and would stay behind as a zombie.
        with suppress(ProcessLookupError, ChildProcessError):
            os.waitpid(running.pid, 0)
    if directory.exists():
        _clear(directory)
    return running is not None


def reset(directory: Path = DEFAULT_DIRECTORY) -> None:
    """Empty the server that runs in the background.

    Args:
        directory: Where its files are. Default: ``.ultracluster/local``.

    Raises:
        FindingsError: If none runs, or it does not answer (UC8006).
    """
    running = status(directory)
    if running is None:
        raise _error(
            "UC8006",
            f"no local AWS runs in {quote(str(directory))}",
            "Start one with `ultracluster local up`",
        )
    request = urllib.request.Request(f"{running.endpoint}/_ultracluster/reset", method="POST")  # noqa: S310 - loopback only
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30):
            pass
    except urllib.error.URLError as error:
        raise _error(
            "UC8006", f"the local AWS at {running.endpoint} does not answer: {error}", f"See {running.log}"
        ) from None


def _lock_is_free(directory: Path) -> bool:
    try:
        with (directory / "lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except FileNotFoundError:
        return True
    return True


def _clear(directory: Path) -> None:
    """Remove what an earlier server left, except for its log and the lock, which another may be taking."""
    (directory / "state.json").unlink(missing_ok=True)
    for name in ("tmp", "functions"):
        shutil.rmtree(directory / name, ignore_errors=True)


def _log_end(directory: Path) -> str:
    lines = (directory / "log").read_text("utf-8", errors="replace").splitlines()
    return " | ".join(lines[-_LOG_LINES:]) or "it said nothing"


def _error(code: str, problem: str, remedy: str) -> FindingsError:
    return FindingsError([Finding(code=code, problem=problem, remedy=remedy)])


def _take(lock: BinaryIO) -> bool:
    """Take the lock; try for a while, since whoever looks at the status holds it for a moment."""
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.05)
        else:
            return True
    return False


def _serve(directory: Path, port: int) -> int:
    """Be the server: hold the lock, answer, and end at SIGTERM."""
    ended = Event()
    for order in (signal.SIGTERM, signal.SIGINT):
        signal.signal(order, lambda *_: ended.set())
    with (directory / "lock").open("wb") as lock:
        if not _take(lock):
            sys.stderr.write("another local AWS runs in this directory\n")
            return 1
        try:
            local = LocalAws(port=port, directory=directory).start()
        except FindingsError as error:
            sys.stderr.write(f"{error}\n")
            return 2
        state = {
            "pid": os.getpid(),
            "port": int(local.endpoint.rsplit(":", 1)[-1]),
            "endpoint": local.endpoint,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        partial = directory / "state.json.partial"
        partial.write_text(json.dumps(state), "utf-8")
        partial.replace(directory / "state.json")  # whole or not at all
        ended.wait()
        (directory / "state.json").unlink(missing_ok=True)
        local.stop()
    return 0


if __name__ == "__main__":
    sys.exit(_serve(Path(sys.argv[1]), int(sys.argv[2])))
