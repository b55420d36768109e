"""A pseudo-terminal of 80 columns on which commands are typed."""

import codecs
import ctypes
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

COLUMNS, LINES = 80, 24
_CHANGING = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "00000000-0000-0000-0000-000000000000"),
    (re.compile(r"\b(fs|vpc|subnet|sg|dra)-[0-9a-f]{17}\b"), r"\1-00000000000000000"),
    (re.compile(r"-[0-9a-f]{12}\b"), "-000000000000"),
    (re.compile(r"\b\d{1,2} [A-Z][a-z]{2} \d\d:\d\d\b"), "1 Jan 12:00"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(Z| UTC)"), "2026-01-01 12:00 UTC"),
    (re.compile(r"localhost:\d+"), "localhost:1"),
    (re.compile(r"\d[\d,]*\.\d\d USD so far"), "1.00 USD so far"),
    (re.compile(r"\d+\.\d s\b"), "1.0 s"),
    (re.compile(r"(\.log): \d+ lines"), r"\1: 2 lines"),
)  # fmt: skip
# The child gets its own terminal, so that Ctrl-C interrupts it even if the shell that runs the tests ignores the signal.
_PROGRAM = """
import fcntl, runpy, signal, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("ultracluster_cli", run_name="__main__")
"""
CTRL_C = "\x03"
_PATIENCE = 5  # seconds
_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE = 24, 1  # prctl(2), capabilities(7)
_PARTS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Screen:
    """What a command left on the terminal.

    Attributes:
        code: Exit code.
        text: Text without colours and without lines that were erased.
        events: What was written and when, in seconds from the start.
    """

    code: int
    text: str
    events: tuple[tuple[float, str], ...]

    @property
    def raw(self) -> str:
        """Everything that was written."""
        return "".join(data for _, data in self.events)

    @property
    def widest(self) -> int:
        """Columns of the widest line."""
        return max(map(len, self.text.splitlines()), default=0)


class Terminal:
    """A person's terminal in a folder.

    Args:
        folder: Current folder.
        environment: Environment of the commands.
        mighty: Whether root may write where modes forbid it. Default: yes, as on any terminal of root.
    """

    def __init__(self, folder: Path, environment: dict[str, str], *, mighty: bool = True) -> None:
        self.folder = folder
        self._environment = environment
        self._mighty = mighty

    def type(self, *words: str, answers: Sequence[str] = (), seconds: float = 300) -> Screen:
        """Type `ultracluster` with these words, and answer its questions."""
        person, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        written: list[tuple[float, bytes]] = []
        began = time.monotonic()
        reader = threading.Thread(target=_read, args=(person, written, list(answers)))
        command = [sys.executable, "-c", _PROGRAM, *words]
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=self._environment,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            preexec_fn=None if self._mighty or os.geteuid() else _obey_modes,  # noqa: PLW1509 - the thread starts later
        ) as process:
            os.close(terminal)
            reader.start()
            try:
                code = process.wait(timeout=seconds)
            finally:
                process.kill()
        reader.join()
        os.close(person)
        decoder = codecs.getincrementaldecoder("utf-8")()  # a character may arrive in two parts
        events = tuple((round(at - began, 3), decoder.decode(data)) for at, data in written)
        return Screen(code=code, text=shown("".join(data for _, data in events)), events=events)


def _obey_modes() -> None:
    """Let modes of files stop the program that this process of root will run, as they stop everybody else."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "modes of files cannot be made to stop root")


def _read(person: int, written: list[tuple[float, bytes]], answers: list[str]) -> None:
    pressed = False
    while True:
        try:
            if pressed and not select.select([person], [], [], _PATIENCE)[0]:
                os.write(person, CTRL_C.encode())  # nothing happened: a person presses it again
                continue
            data = os.read(person, 65_536)
        except OSError:  # Linux says so when the last process has closed its side
            return
        if not data:
            return
        written.append((time.monotonic(), data))
        if answers and data.endswith((b":", b": ")):  # a question, on whose line the answer is typed
            answer = answers.pop(0)
            pressed = answer == CTRL_C
            os.write(person, (answer if pressed else f"{answer}\n").encode())


def shown(raw: str) -> str:
    """Return the lines that a terminal shows in the end, of what programs use: they move to the start of a line or up, and erase."""
    lines, row, column = [""], 0, 0
    for part in _PARTS.findall(raw):
        if part == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif part == "\r":
            column = 0
        elif not part.startswith("\x1b"):
            lines[row] = f"{lines[row][:column].ljust(column)}{part}{lines[row][column + len(part) :]}"
            column += len(part)
        elif part.endswith("A"):
            row -= min(int(part[2:-1] or 1), row)
        elif part.endswith("K"):
            lines[row] = "" if part == "\x1b[2K" else lines[row][:column]
    return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"


def settled(text: str) -> str:
    """Return a screen without what differs from run to run, such as times and generated IDs."""
    for pattern, stand_in in _CHANGING:
        text = pattern.sub(stand_in, text)
    return text
