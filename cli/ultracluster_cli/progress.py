"""Show what a command is doing and how long its steps take, and remember what an interruption leaves behind."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TextIO

from ultracluster_spec.findings import printable

_SILENT_SECONDS: Final = 1.0
_POLL_SECONDS: Final = 0.25
_READING: Final = frozenset(
    {"clusters", "cost", "docs", "logs", "plan", "preflight", "queue", "status", "validate"}
    | {f"capacity {command}" for command in ("find", "history", "status", "verify")}
    | {f"jobs {command}" for command in ("list", "logs", "why")}
    | {f"nodes {command}" for command in ("describe", "list")}
)

_activities: list[list[str]] = []
_interruptions: list[str] = []
_durations: dict[str, float] = {}


@contextmanager
def doing(what: str) -> Iterator[Callable[[str], None]]:
    """Name what the body does, for the line that a silent command shows. The yielded function changes the name."""
    activity = [what]

    def rename(new: str) -> None:
        activity[0] = new

    _activities.append(activity)
    try:
        yield rename
    finally:
        _activities.remove(activity)


@contextmanager
def measure(step: str) -> Iterator[None]:
    """Add the duration of the body to `step`, unless it fails."""
    start = time.monotonic()
    yield
    _durations[step] = _durations.get(step, 0.0) + time.monotonic() - start


def durations() -> dict[str, float]:
    """Return the seconds that each step of this command took, in the order in which they ended."""
    return dict(_durations)


@contextmanager
def if_interrupted(note: str) -> Iterator[None]:
    """Say `note` if the body is interrupted with Ctrl-C: what was and was not done, and how to go on."""
    _interruptions.append(note)
    yield
    _interruptions.remove(note)


def interruption_note(command: str) -> str:
    """Return what to say after Ctrl-C of a command, such as ``jobs list``."""
    if _interruptions:
        return f"Interrupted. {_interruptions[-1]}"
    reads = command in _READING or command.partition(" ")[0] in _READING
    return "Interrupted; nothing was changed." if reads else "Interrupted."


@contextmanager
def progress_line(command: str) -> Iterator[None]:
    """Show a line on stderr while the body has written nothing for a second, if stderr is a terminal."""
    _interruptions.clear()
    _durations.clear()
    if not sys.stderr.isatty():
        yield
        return
    line = _ProgressLine(sys.stderr, command)
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_Watched(stream, line) for stream in streams)
    try:
        yield
    finally:
        line.end()
        sys.stdout, sys.stderr = streams


class _ProgressLine:
    """A line that disappears before anything else is written."""

    def __init__(self, terminal: TextIO, command: str) -> None:
        self._terminal = terminal
        self._command = command
        self._lock = threading.RLock()
        self._since = time.monotonic()
        self._prompting = False  # a prompt is open, so the line may hold typed text
        self._shown = False
        self._ended = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def end(self) -> None:
        self._ended.set()
        with self._lock:
            self._clear()

    def write(self, stream: TextIO, text: str) -> int:
        with self._lock:
            self._clear()
            self._since = time.monotonic()
            if text:
                self._prompting = not text.endswith("\n")
            return stream.write(text)

    def _run(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            with self._lock:
                silent = time.monotonic() - self._since
                if silent < _SILENT_SECONDS or self._prompting or self._ended.is_set():
                    continue
                what = _activities[-1][0] if _activities else self._command
                self._terminal.write(f"\r\x1b[2m{printable(what)} ... {silent:.0f} s\x1b[0m\x1b[K")
                self._terminal.flush()
                self._shown = True

    def _clear(self) -> None:
        if self._shown:
            self._terminal.write("\r\x1b[K")
            self._terminal.flush()
            self._shown = False


class _Watched:
    """A stream that clears the progress line before it writes."""

    def __init__(self, stream: TextIO, line: _ProgressLine) -> None:
        self._stream = stream
        self._line = line

    def write(self, text: str) -> int:
        return self._line.write(self._stream, text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
