"""One child of an array: the rendezvous with a real place, and the program that it starts and ends."""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Sequence  # noqa: UP035 - runs on Python 3.8

from ultracluster_runtime.array_rendezvous.rendezvous import (
    Child,
    Create,
    ListKeys,
    Outcome,
    Read,
    Settings,
    Start,
    Unavailable,
    Wait,
    Write,
    take_part,
)

if TYPE_CHECKING:
    from ultracluster_runtime.array_rendezvous.places import Place

_ANSWERS_IN_A_LEASE = 12
_GRACE = 30.0  # seconds between SIGTERM and SIGKILL


def run_member(
    child: Child, settings: Settings, place: Place, command: Callable[[Start], Sequence[str]]
) -> Outcome:
    """Take part in an array, from the rendezvous to the end of all; `command` returns the program's command."""
    member = _Member(place, settings, command)
    steps = take_part(child, settings)
    answer: Any = None
    try:
        operation = next(steps)
        while True:
            try:
                answer = member.perform(operation)
            except Unavailable as error:
                operation = steps.throw(error)
            else:
                operation = steps.send(answer)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome
    finally:
        member.stop()


class _Member:
    def __init__(self, place: Place, settings: Settings, command: Callable[[Start], Sequence[str]]) -> None:
        self._place, self._command = place, command
        self._timeout = settings.lease / _ANSWERS_IN_A_LEASE
        self._program: subprocess.Popen[bytes] | None = None
        self._asked: queue.Queue[Callable[[], None]] = queue.Queue()
        self._busy = threading.Event()
        threading.Thread(target=self._answer_questions, daemon=True).start()

    def perform(self, operation: Any) -> Any:
        """Perform one operation of the rendezvous."""
        if isinstance(operation, Wait):
            return self._wait(operation.seconds)
        if isinstance(operation, Start):
            return self._start(operation)
        return self._ask(operation)

    def _wait(self, seconds: float) -> tuple[float, int | None]:
        code = None
        if self._program is None:
            time.sleep(seconds)
        else:
            try:
                code = self._program.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                pass
            else:
                time.sleep(seconds)
        # A program that was killed by a signal has a negative code.
        return time.monotonic(), 128 - code if code is not None and code < 0 else code

    def _start(self, operation: Start) -> bool:
        if time.monotonic() >= operation.before:
            return False
        if self._program is None:
            self._program = subprocess.Popen(self._command(operation))
        return True

    def _ask(self, operation: Any) -> Any:
        """Ask the place, in a thread: a file system that fails over blocks its callers for minutes."""
        if self._busy.is_set():
            raise Unavailable("the place has not answered yet")
        answers: queue.Queue[tuple[bool, Any]] = queue.Queue()

        def question() -> None:
            try:
                answers.put((True, _perform(self._place, operation)))
            except Exception as error:  # noqa: BLE001 - whatever a place raises, it did not answer
                answers.put((False, error))

        self._busy.set()
        self._asked.put(question)
        try:
            answered, answer = answers.get(timeout=self._timeout)
        except queue.Empty:
            raise Unavailable("the place did not answer in time") from None
        if not answered:
            raise Unavailable(str(answer)) from answer
        return answer

    def _answer_questions(self) -> None:
        while True:
            question = self._asked.get()
            question()
            self._busy.clear()

    def stop(self) -> None:
        """End the program if it runs."""
        if self._program is None or self._program.poll() is not None:
            return
        self._program.terminate()
        try:
            self._program.wait(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            self._program.kill()
            self._program.wait()


def _perform(place: Place, operation: Any) -> Any:
    methods: Any = {Create: place.create, Write: place.write, Read: place.read, ListKeys: place.list_keys}
    return methods[type(operation)](*operation)
