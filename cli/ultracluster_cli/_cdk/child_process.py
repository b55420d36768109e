"""Run commands as child processes that cannot outlive this one."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_GRACE_SECONDS = 5.0


def run_logged(
    command: Sequence[str],
    *,
    directory: Path,
    environment: Mapping[str, str],
    log: Path,
    on_line: Callable[[str], object],
) -> int:
    """Run a non-interactive command in its own process group.

    The group is killed when this call ends, including on exceptions, Ctrl-C and kill -9 of this process. The log is
    overwritten. Return the exit code; 128 + n if signal n ended it.
    """
    with (
        _watched_pipe() as watched,
        log.open("w", encoding="utf-8") as log_file,
        _start(command, watched, directory, environment, stderr=subprocess.STDOUT) as process,
    ):
        try:
            for line in process.stdout or ():
                log_file.write(line)
                log_file.flush()
                on_line(line.rstrip("\r\n"))
            return process.wait()
        finally:
            _end_group(process)


def run_captured(
    command: Sequence[str], *, directory: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a short non-interactive command in its own process group, and capture its output.

    The group is killed when this call ends, including on Ctrl-C and kill -9 of this process. Return the exit code,
    128 + n if signal n ended it, and both outputs.
    """
    with (
        _watched_pipe() as watched,
        _start(command, watched, directory, environment, stderr=subprocess.PIPE) as process,
    ):
        try:
            stdout, stderr = process.communicate()
        finally:
            _end_group(process)
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


@contextmanager
def _watched_pipe() -> Iterator[int]:
    """Open a pipe whose end of file tells the supervisor that this process is gone."""
    watched, held = os.pipe()
    try:
        yield watched
    finally:
        os.close(watched)
        os.close(held)


def _start(
    command: Sequence[str], watched: int, directory: Path, environment: Mapping[str, str], *, stderr: int
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        # -I and -S skip site packages, so that the supervisor starts in 10 ms.
        [sys.executable, "-I", "-S", str(_SUPERVISOR), str(watched), *command],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        encoding="utf-8",
        errors="replace",
        pass_fds=[watched],
        start_new_session=True,
    )


def _end_group(process: subprocess.Popen[str]) -> None:
    # SIGTERM first, so that the CDK CLI can remove its locks. The group may outlive its leader.
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):  # macOS raises PermissionError for zombies
            return
        try:
            process.wait(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
