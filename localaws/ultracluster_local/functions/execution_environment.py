"""Execution environments of functions: processes that answer one event after another.

Like AWS Lambda, the local AWS keeps an environment for the next invocation of the same code with the same settings, so a
handler's modules are imported once and its module variables last. See
https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html.
"""

import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, cast
from uuid import uuid4

__all__ = ["Answer", "end_environments", "invoke"]

_MOST_IDLE: Final = 6
"""Environments that may wait for another event. One with boto3 takes about 70 MB."""


class Answer(NamedTuple):
    """The answer of a function: a response as JSON, whether it is an error, and the log."""

    response: str
    failed: bool
    log: str


class _Environment:
    """A process that reads events as lines of JSON and writes one line for each."""

    def __init__(self, command: Sequence[str], directory: Path, variables: Mapping[str, str]) -> None:
        self._log = directory.parent / f"{uuid4().hex}.log"
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
            )
        self._events = cast("IO[str]", self._process.stdin)
        self._answers = cast("IO[str]", self._process.stdout)

    def ask(self, event: object, *, moment: str | None, seconds: float) -> Answer | None:
        """Return the answer to an event; None if the process ran longer than `seconds`."""
        late = threading.Timer(seconds, self._process.kill)
        late.start()
        try:
            self._events.write(json.dumps({"event": event, "time": moment}) + "\n")
            self._events.flush()
            line = self._answers.readline()
        except BrokenPipeError:
            line = ""
        timed_out = late.finished.is_set()
        late.cancel()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return Answer(answer["response"], answer["failed"], self._new_log())
        self._process.wait()
        if timed_out:
            return None
        log = self._new_log()
        return Answer(
            json.dumps({"errorType": "Runtime.ExitError", "errorMessage": log[-2000:]}), failed=True, log=log
        )

    def _new_log(self) -> str:
        with self._log.open("rb") as log:
            log.seek(self._read)
            text = log.read()
        self._read += len(text)
        return text.decode(errors="replace")

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._log.unlink(missing_ok=True)


_IDLE: Final[list[tuple[object, _Environment]]] = []
"""Waiting environments with what they were made from, the one used last at the end."""
_IDLE_LOCK: Final = threading.Lock()


def invoke(
    command: Sequence[str],
    directory: Path,
    variables: Mapping[str, str],
    event: object,
    *,
    moment: str | None,
    seconds: float,
) -> Answer | None:
    """Let a function answer an event, in a waiting environment where there is one.

    Args:
        command: The harness that runs the handler.
        directory: The unpacked code.
        variables: All environment variables of the process.
        event: The event.
        moment: The time that the function sees, in ISO format; None for the time of the machine.
        seconds: The longest time that the function may take.

    Returns:
        The answer, or None if the function took too long.
    """
    made_from = (tuple(command), directory, frozenset(variables.items()))
    with _IDLE_LOCK:
        position = next((i for i, (key, _) in enumerate(_IDLE) if key == made_from), None)
        environment = None if position is None else _IDLE.pop(position)[1]
    environment = environment or _Environment(command, directory, variables)
    answer = environment.ask(event, moment=moment, seconds=seconds)
    ended = [] if environment.runs else [environment]
    with _IDLE_LOCK:
        if environment.runs:
            _IDLE.append((made_from, environment))
        while len(_IDLE) > _MOST_IDLE:
            ended.append(_IDLE.pop(0)[1])
    for each in ended:
        each.end()
    return answer


def end_environments() -> None:
    """End all waiting environments, as when the local AWS stops or forgets its functions."""
    with _IDLE_LOCK:
        ended = [environment for _, environment in _IDLE]
        _IDLE.clear()
    for environment in ended:
        environment.end()
