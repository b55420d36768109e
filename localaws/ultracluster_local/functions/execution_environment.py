"""Execution environments of functions: processes that answer one event after another.

Like AWS Lambda, the local AWS keeps an environment for the next invocation of the same code with the same settings, so a
handler's modules are imported once and its module variables last. See
https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html.
"""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, cast
from uuid import uuid4

__all__ = ["Answer", "end_environments", "invoke"]

_MOST_IDLE: Final = 6
"""Environments that may wait for another event. One with boto3 takes about 70 MB."""
_LONGEST_IDLE: Final = 300.0
"""Seconds after the last invocation of any function until all environments end."""


class Answer(NamedTuple):
    """The answer of a function: a response as JSON, whether it is an error, and the log."""

    response: str
    failed: bool
    log: str


class _Environment:
    """A process that reads events as lines of JSON and writes one line for each; it ends when this process does."""

    def __init__(self, command: Sequence[str], directory: Path, variables: Mapping[str, str]) -> None:
        self.made_from = (tuple(command), directory, frozenset(variables.items()))
        self.folder = directory.parent
        self._log = self.folder / f"{uuid4().hex}.log"
        self._read = 0
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=directory,
                env=variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # what a handler starts ends with its environment
            )
        self._events = cast("IO[str]", self._process.stdin)
        self._answers = cast("IO[str]", self._process.stdout)

    def ask(self, event: object, *, moment: str | None, timeout: int, seconds: float) -> Answer:
        """Return the answer to an event."""
        request = str(uuid4())
        late = threading.Timer(seconds, self.kill)
        late.start()
        try:
            self._events.write(json.dumps({"event": event, "request": request, "time": moment}) + "\n")
            self._events.flush()
            line = self._answers.readline()
        except BrokenPipeError:
            line = ""
        timed_out = late.finished.is_set()
        late.cancel()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return Answer(answer["response"], answer["failed"], self._new_log())
        status = self._process.wait()
        if timed_out:
            kind, problem = "Sandbox.Timedout", f"Task timed out after {timeout}.00 seconds"
        else:
            kind, problem = "Runtime.ExitError", _exit_reason(status)
        error = {"errorType": kind, "errorMessage": f"RequestId: {request} Error: {problem}"}
        return Answer(json.dumps(error), failed=True, log=self._new_log())

    def _new_log(self) -> str:
        with self._log.open("rb") as log:
            log.seek(self._read)
            text = log.read()
        self._read += len(text)
        return text.decode(errors="replace")

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """Kill the process, with what its handler started."""
        if self.runs:
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill the process and remove its log."""
        self.kill()
        self._process.communicate()
        self._log.unlink(missing_ok=True)


def _exit_reason(status: int) -> str:
    if status < 0:
        return f"Runtime exited with error: signal: {(signal.strsignal(-status) or str(-status)).lower()}"
    if status > 0:
        return f"Runtime exited with error: exit status {status}"
    return "Runtime exited without providing a reason"


class _Environments:
    """All environments of this process: those that answer an event, and those that wait for one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Environment] = []  # the one used last at the end
        self._busy: set[_Environment] = set()
        self._timer: threading.Timer | None = None

    def take(self, command: Sequence[str], directory: Path, variables: Mapping[str, str]) -> _Environment:
        """Return a waiting environment, or a new one; end those of the function's former code and settings."""
        made_from = (tuple(command), directory, frozenset(variables.items()))
        with self._lock:
            same = [each for each in self._idle if each.made_from == made_from]
            former = [each for each in self._idle if each.folder == directory.parent and each not in same]
            self._idle = [each for each in self._idle if each not in former]
            if same:
                self._idle.remove(same[-1])
                self._busy.add(same[-1])
        for each in former:
            each.end()
        if same:
            return same[-1]
        new = _Environment(command, directory, variables)
        with self._lock:
            self._busy.add(new)
        return new

    def put_back(self, environment: _Environment) -> None:
        """Let an environment wait for the next event; end it if it cannot, or if too many wait."""
        ended: list[_Environment] = []
        with self._lock:
            # `end` takes an environment away while it answers.
            kept = environment in self._busy and environment.runs
            self._busy.discard(environment)
            (self._idle if kept else ended).append(environment)
            while len(self._idle) > _MOST_IDLE:
                ended.append(self._idle.pop(0))
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(_LONGEST_IDLE, self._end_idle)
            self._timer.daemon = True
            self._timer.start()
        for each in ended:
            each.end()

    def _end_idle(self) -> None:
        with self._lock:
            ended, self._idle = self._idle, []
        for each in ended:
            each.end()

    def end(self, chosen: Callable[[_Environment], bool]) -> None:
        """End the chosen environments, also those that answer an event."""
        with self._lock:
            ended = [each for each in (*self._idle, *self._busy) if chosen(each)]
            self._idle = [each for each in self._idle if each not in ended]
            busy = self._busy.intersection(ended)
            self._busy -= busy
            if self._timer is not None and not self._idle:
                self._timer.cancel()
        for each in ended:
            # The thread that waits for the answer reads its pipes, and ends what is left of it.
            if each in busy:
                each.kill()
            else:
                each.end()


_ENVIRONMENTS: Final = _Environments()


def invoke(
    command: Sequence[str],
    directory: Path,
    variables: Mapping[str, str],
    event: object,
    *,
    moment: str | None,
    timeout: int,
    seconds: float,
) -> Answer:
    """Let a function answer an event, in a waiting environment where there is one.

    Args:
        command: The harness that runs the handler.
        directory: The unpacked code, in the folder of the function.
        variables: All environment variables of the process.
        event: The event.
        moment: The time that the function sees, in ISO format; None for the time of the machine.
        timeout: The timeout of the function, which the error names.
        seconds: The time after which it is killed.

    Returns:
        The answer; that of Lambda if the process ended, or took too long.
    """
    environment = _ENVIRONMENTS.take(command, directory, variables)
    try:
        return environment.ask(event, moment=moment, timeout=timeout, seconds=seconds)
    finally:
        _ENVIRONMENTS.put_back(environment)


def end_environments(folder: Path | None = None) -> None:
    """End the environments of the function of a folder; without one all, as when the local AWS stops or is reset."""
    _ENVIRONMENTS.end(lambda each: folder in {None, each.folder})
