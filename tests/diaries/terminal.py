"""A pseudo-terminal of 80 columns on which commands are typed."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

COLUMNS, LINES = 80, 24
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Screen:
    """What a command left on the terminal.

    Attributes:
        code: Exit code.
        text: Text without colours and without lines that were erased.
        raw: Everything that was written.
    """

    code: int
    text: str
    raw: str

    @property
    def widest(self) -> int:
        """Columns of the widest line."""
        return max(map(len, self.text.splitlines()), default=0)


class Terminal:
    """A person's terminal in a folder.

    Args:
        folder: Current folder.
        environment: Environment of the commands.
    """

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._environment = environment

    def type(self, *words: str, answers: Sequence[str] = (), seconds: float = 300) -> Screen:
        """Type `ultracluster` with these words, and answer its questions."""
        person, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        written: list[bytes] = []
        reader = threading.Thread(target=_read, args=(person, written, list(answers)))
        command = [sys.executable, "-m", "ultracluster_cli", *words]
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=self._environment,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        ) as process:
            os.close(terminal)
            reader.start()
            try:
                code = process.wait(timeout=seconds)
            finally:
                process.kill()
        reader.join()
        os.close(person)
        raw = b"".join(written).decode()
        return Screen(code=code, text=_shown(raw), raw=raw)


def _read(person: int, written: list[bytes], answers: list[str]) -> None:
    while True:
        try:
            data = os.read(person, 65_536)
        except OSError:  # Linux says so when the last process has closed its side
            return
        if not data:
            return
        written.append(data)
        if answers and data.rstrip().endswith(b":"):  # a question
            os.write(person, f"{answers.pop(0)}\n".encode())


def _shown(raw: str) -> str:
    """Return the lines that stay: what is before a carriage return in a line is overwritten."""
    lines = []
    for line in raw.replace("\r\n", "\n").split("\n"):
        parts = line.split("\r")
        lines.append(_CONTROL.sub("", parts[-1]).rstrip())
    return "\n".join(lines).strip("\n") + "\n"
