"""The rendezvous of an array: array children that start one program together, or fail together with one reason.

AWS Batch starts array children one by one and repeats each alone, so membership is decided here, through a place that all
children share: a folder of a file system, or a prefix of a bucket. The only primitive is writing what does not exist yet.

A *generation* is one try of the whole array. Its keys stand below the ID of the array job, so that no run reads another's::

    over                     how the job ended: success, or the reason of its failure
    GENERATION/end           why this try has ended; the next one begins
    GENERATION/roster        who takes part: written once, by child 0
    GENERATION/member/CHILD  one key for each process that wants to take part
    GENERATION/beat/INDEX    signs of life, overwritten

`take_part` asks for one operation at a time and does none itself, so that tests can interleave, delay and lose each of them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Generator, Literal, Mapping, NamedTuple, Union  # noqa: UP035 - runs on Python 3.8


class Create(NamedTuple):
    """Write a key unless it exists, all at once; answered with whether this call wrote it."""

    key: str
    text: str


class Write(NamedTuple):
    """Write or overwrite a key."""

    key: str
    text: str


class Read(NamedTuple):
    """Read a key; answered with its text, or None."""

    key: str


class ListKeys(NamedTuple):
    """Read all keys below a prefix; answered with their texts by key."""

    prefix: str


class Wait(NamedTuple):
    """Wait; answered with the time, and the exit code of the program once it has ended."""

    seconds: float


class Start(NamedTuple):
    """Start the program unless it is too late; answered with whether it runs."""

    generation: int
    addresses: tuple[str, ...]
    before: float


Operation = Union[Create, Write, Read, ListKeys, Wait, Start]  # noqa: UP007 - runs on Python 3.8


class Unavailable(Exception):  # noqa: N818 - a state of the place
    """The place did not answer; what was asked may or may not have happened."""


class Outcome(NamedTuple):
    """What a child ends with."""

    # Success or failure of the whole array, or again: the child may be started for the next generation
    result: Literal["success", "failure", "again"]
    reason: str  # what to write to the log; the same for all children


@dataclass(frozen=True)
class Settings:
    """Times in seconds."""

    poll: float = 5  # between two looks at the place
    deadline: float = 1800  # for all children to come, from the start of each child
    # After which a child that cannot reach the place ends, and one that gave no sign of life counts as lost.
    # Operations are answered, or given up, within a twelfth of it.
    lease: float = 60


@dataclass(frozen=True)
class Child:
    """One process of an array child."""

    job: str
    index: int  # index in the array; child 0 leads
    size: int
    attempt: int  # attempt of AWS Batch, from 1
    nonce: str  # name of this process and of no other
    address: str  # address for the others

    @property
    def name(self) -> str:
        """Name of the process, in the order in which processes of one child follow each other."""
        return f"{self.index}-{self.attempt:02d}-{self.nonce}"


Steps = Generator[Operation, Any, Outcome]  # operations, and at the end the outcome


@dataclass
class _Array:
    """What one process knows."""

    child: Child
    settings: Settings
    now: float = 0
    checked: float = 0  # when the place last said that the generation goes on
    generation: int = 1
    quiet_since: float | None = None  # when the end of the previous generation was seen
    exit_code: int | None = None
    beats: int = 0
    seen: dict[str, tuple[str, float]] = field(default_factory=dict)

    def key(self, name: str) -> str:
        return f"{self.child.job}/{self.generation:04d}/{name}"

    @property
    def over(self) -> str:
        return f"{self.child.job}/over"


def take_part(child: Child, settings: Settings) -> Steps:
    """Find the other children, start the program with them, and stay with them until all have ended."""
    array = _Array(child, settings)
    array.now, _ = yield Wait(0)
    array.checked = born = array.now
    while True:
        ended = yield from _until_started(array, born + settings.deadline)
        if ended:
            return ended
        outcome = yield from _until_ended(array)
        if outcome:
            return outcome


def _until_started(  # noqa: C901 - one loop with all that may end it
    array: _Array, deadline: float
) -> Generator[Operation, Any, Outcome | None]:
    """Go from generation to generation until one starts."""
    child, registered = array.child, 0
    while True:
        try:
            verdict = yield from _verdict(array)
            if verdict and verdict.result != "again":
                return verdict
            if verdict:
                array.generation += 1
                array.quiet_since = array.now
                continue
            if registered != array.generation:
                yield Write(array.key(f"member/{child.name}"), child.address)
                registered = array.generation
            roster = yield from _roster(array)
            if roster and child.name in roster:
                before = array.checked + array.settings.lease
                started = yield Start(array.generation, tuple(roster.values()), before)
                if started:
                    return None
                array.now, _ = yield Wait(0)
                continue
            if roster:
                successor = next(name for name in roster if _index(name) == child.index)
                if successor > child.name:
                    return Outcome("failure", f"child {child.index} was started again elsewhere")
                yield from _end(array, f"child {child.index} was lost and started again")
                continue
            if array.now > deadline:
                missing = yield from _missing(array)
                yield from _finish(
                    array, f"not all children came within {array.settings.deadline:.0f} s: {missing}"
                )
                continue
        except (Unavailable, ValueError):
            if array.now > deadline + array.settings.lease:
                return Outcome("failure", "the place of the rendezvous cannot be reached")
        array.now, _ = yield Wait(array.settings.poll)


def _verdict(array: _Array) -> Generator[Operation, Any, Outcome | None]:
    """Look whether the job or the generation has ended."""
    asked = array.now
    over = yield Read(array.over)
    if over is not None:
        result = json.loads(over)
        return Outcome(result["result"], result["reason"])
    end = yield Read(array.key("end"))
    if end is not None:
        return Outcome("again", end)
    array.checked = asked
    return None


def _roster(array: _Array) -> Generator[Operation, Any, dict[str, str] | None]:
    """Read the roster; child 0 writes it once all have come."""
    text = yield Read(array.key("roster"))
    if text is None and array.child.index == 0 and _quiet(array):
        members = yield from _members(array)
        if len(members) == array.child.size:
            yield Create(array.key("roster"), json.dumps(dict(members)))
            text = yield Read(array.key("roster"))
    return None if text is None else dict(json.loads(text))


def _quiet(array: _Array) -> bool:
    # A process of the previous generation that AWS Batch has given up may run until its lease ends.
    return array.quiet_since is None or array.now - array.quiet_since > 2 * array.settings.lease


def _members(array: _Array) -> Generator[Operation, Any, list[tuple[str, str]]]:
    """Return the newest process of each child that has come, in the order of their indexes."""
    prefix = array.key("member/")
    found: Mapping[str, str] = yield ListKeys(prefix)
    newest: dict[int, tuple[str, str]] = {}
    for key in sorted(found):
        name = key[len(prefix) :]
        newest[_index(name)] = (name, found[key])
    return [newest[index] for index in sorted(newest)]


def _missing(array: _Array) -> Generator[Operation, Any, str]:
    members = yield from _members(array)
    come = {_index(name) for name, _ in members}
    absent = [str(index) for index in range(array.child.size) if index not in come]
    names = ", ".join(absent)
    return f"{names} of {array.child.size} missing" if absent else "no roster from child 0"


def _index(name: str) -> int:
    return int(name.partition("-")[0])


def _end(array: _Array, reason: str) -> Generator[Operation, Any, None]:
    """End the generation; the first reason stays."""
    yield Create(array.key("end"), reason)


def _finish(array: _Array, reason: str, *, result: str = "failure") -> Generator[Operation, Any, None]:
    """End the job; the first result stays."""
    yield Create(array.over, json.dumps({"result": result, "reason": reason}))


def _until_ended(array: _Array) -> Generator[Operation, Any, Outcome | None]:
    """Stay with a generation that runs, until it ends."""
    child, settings = array.child, array.settings
    failed_since: float | None = None
    array.seen = {str(index): ("", array.now) for index in range(child.size)}
    while True:
        try:
            verdict = yield from _verdict(array)
            if verdict:
                return verdict
            array.beats += 1
            state = "done" if array.exit_code == 0 else "runs"
            yield Write(array.key(f"beat/{child.index}"), f"{state} {array.beats}")
            lost, done = yield from _watch(array)
            if done:
                yield from _finish(array, "all children succeeded", result="success")
                continue
            if lost:
                yield from _end(array, f"child {lost} gave no sign of life for {settings.lease:.0f} s")
                continue
            if array.exit_code:
                failed_since = array.now if failed_since is None else failed_since
                # A program also fails because another child was lost, which shows after a lease.
                if array.now - failed_since > 2 * settings.lease:
                    reason = f"the program of child {child.index} ended with exit code {array.exit_code}"
                    yield from _finish(array, reason)
                    continue
        except (Unavailable, ValueError):
            pass
        array.now, array.exit_code = yield Wait(settings.poll)
        if array.now - array.checked > settings.lease:
            return Outcome("again", "the place of the rendezvous cannot be reached")


def _watch(array: _Array) -> Generator[Operation, Any, tuple[str, bool]]:
    """Return a child that is lost, if any, and whether all are done. Child 0 watches all, the others child 0."""
    prefix = array.key("beat/")
    if array.child.index == 0:
        beats: Mapping[str, str] = yield ListKeys(prefix)
    else:
        beat = yield Read(f"{prefix}0")
        beats = {} if beat is None else {f"{prefix}0": beat}
    for key, beat in beats.items():
        index = key[len(prefix) :]
        if array.seen[index][0] != beat:
            array.seen[index] = (beat, array.now)
    if array.child.index == 0 and all(beat.startswith("done") for beat, _ in array.seen.values()):
        return "", True
    for index in array.seen if array.child.index == 0 else ("0",):
        if int(index) != array.child.index and array.now - array.seen[index][1] > array.settings.lease:
            return index, False
    return "", False
