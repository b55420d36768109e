"""A bash whose programs are functions of this process, so that the commands of a page run as they are written.

Loops, pipes, `export` and `$(...)` are those of bash. A command of ours, of the AWS CLI or of the CDK CLI is sent to this process,
which answers with output and exit code: a start of Python or of Node for each command would take minutes.
"""

import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

__all__ = ["Call", "PageShell", "Program", "Terminal"]

Program = Callable[[Sequence[str]], int]
"""Runs a command with these words, in the folder and environment of the shell, and returns its exit code."""

_FUNCTION = """
{name}() {{
  local code terminal=
  [ /dev/fd/1 -ef "$CALLS/screen" ] && terminal=1
  while ! mkdir "$CALLS/busy" 2>/dev/null; do sleep 0.02; done
  {{ printf '%s\\0' {name} "$PWD" "$terminal" "$#" "$@"; env -0; }} >"$CALLS/call"
  echo >"$CALLS/request"
  read -r code <"$CALLS/answer"
  cat "$CALLS/stderr" >&2
  cat "$CALLS/stdout"
  rmdir "$CALLS/busy"
  return "$code"
}}
"""
_LEAVE = """trap 'code=$?; { printf "%s\\0" "$PWD"; env -0; } >"$CALLS/left"; exit $code' EXIT\n"""
_ANSWERS = {"Cluster to buy": "quickstart", "Maximum": "60000.00", "approver": "Ada"}
"""What a person types, by a word of the question that has no default."""
_ERASED = re.compile(r"\r[^\r\n]*\x1b\[K")
"""A line that the terminal has overwritten: what a command does at the moment, if it takes longer than a second."""


class Terminal(io.StringIO):
    """A terminal with a person, who agrees with every question, types what a command asks for, and else accepts the default."""

    def __init__(self, *, is_terminal: bool = True, screen: "Terminal | None" = None) -> None:
        super().__init__()
        self._is_terminal = is_terminal
        self._screen = screen
        self._readable: tuple[int, int] | None = None

    def isatty(self) -> bool:
        return self._is_terminal

    def fileno(self) -> int:
        if self._screen is None:
            raise io.UnsupportedOperation("fileno")
        if self._readable is None:
            self._readable = os.pipe()
            os.write(self._readable[1], b"\n")
        return self._readable[0]

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
        del size
        if self._screen is None:
            return ""
        question = self._screen.getvalue().splitlines()[-1]
        self._screen.write("\n")
        if "Type '" in question:
            return question.partition("Type '")[2].partition("'")[0] + "\n"
        if "[y/N]" in question:
            return "y\n"
        return next((f"{answer}\n" for prompt, answer in _ANSWERS.items() if prompt in question), "\n")

    def close(self) -> None:
        for end in self._readable or ():
            os.close(end)
        self._readable = None
        super().close()


@dataclass(frozen=True, slots=True)
class Call:
    """A command that a program of this process has run."""

    words: tuple[str, ...]
    code: int
    output: str


@dataclass
class PageShell:
    """Runs blocks of commands, each in the folder and with the variables that the last one left."""

    folder: Path
    programs: Mapping[str, Program]
    environment: dict[str, str]
    calls: list[Call] = field(default_factory=list)

    def run(self, text: str) -> tuple[int, str]:
        """Run a block up to the first command that fails, and return its exit code and what it printed."""
        calls = Path(self.environment.setdefault("CALLS", f"{self.folder}.calls"))  # beside what a reader has
        if not calls.exists():
            calls.mkdir()
            os.mkfifo(calls / "request")
            os.mkfifo(calls / "answer")
        functions = "".join(_FUNCTION.format(name=name) for name in self.programs)
        block = f"set -e -o pipefail\n{functions}{_LEAVE}{text}\n"
        (calls / "block").write_text(block, "utf-8")
        with (calls / "screen").open("w+b") as screen:
            shell = subprocess.Popen(
                ["bash", str(calls / "block")],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=screen,
                stderr=subprocess.STDOUT,
            )
            threading.Thread(target=_end_of, args=(shell, calls / "request"), daemon=True).start()
            while (calls / "request").read_text():  # empty when the shell has ended
                (calls / "answer").write_text(f"{self._answer(calls)}\n")
            screen.seek(0)
            output = _ERASED.sub("", screen.read().decode())
        folder, *variables = (calls / "left").read_text("utf-8").split("\0")
        self.folder = Path(folder)
        self.environment = dict(variable.split("=", 1) for variable in variables if variable)
        return shell.wait(), output

    def _answer(self, calls: Path) -> int:
        name, folder, terminal, count, *rest = (calls / "call").read_text("utf-8").split("\0")
        words, variables = rest[: int(count)], rest[int(count) :]
        stderr, stdout = Terminal(), Terminal(is_terminal=bool(terminal))
        with (
            _in_folder(Path(folder), dict(variable.split("=", 1) for variable in variables if variable)),
            _streams(stdin=Terminal(screen=stderr), stdout=stdout, stderr=stderr),
        ):
            code = int(self.programs[name](words))
        (calls / "stdout").write_text(stdout.getvalue(), "utf-8")
        (calls / "stderr").write_text(stderr.getvalue(), "utf-8")
        self.calls.append(Call((name, *words), code, stderr.getvalue() + stdout.getvalue()))
        return code


def _end_of(shell: subprocess.Popen[bytes], request: Path) -> None:
    shell.wait()
    request.write_text("")


@contextmanager
def _streams(**streams: io.StringIO) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        yield


@contextmanager
def _in_folder(folder: Path, variables: Mapping[str, str]) -> Iterator[None]:
    before, here = dict(os.environ), Path.cwd()
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)
