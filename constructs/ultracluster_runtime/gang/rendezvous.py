"""The rendezvous of a gang: array children that start one program together, or fail together with one reason.

AWS Batch starts array children one by one and repeats each alone, so membership is decided here, through a place that all
children share: a folder of a file system, or a prefix of a bucket. The only primitive is writing what does not exist yet.

A *generation* is one try of the whole gang. Its keys stand below the ID of the array job, so that no run reads another's::

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

    # Success or failure of the whole gang, or again: the child may be started for the next generation
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
class _Gang:
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
    gang = _Gang(child, settings)
    gang.now, _ = yield Wait(0)
    gang.checked = born = gang.now
    while True:
        ended = yield from _until_started(gang, born + settings.deadline)
        if ended:
            return ended
        outcome = yield from _until_ended(gang)
        if outcome:
            return outcome


def _until_started(  # noqa: C901 - one loop with all that may end it
    gang: _Gang, deadline: float
) -> Generator[Operation, Any, Outcome | None]:
    """Go from generation to generation until one starts."""
    child, registered = gang.child, 0
    while True:
        try:
            verdict = yield from _verdict(gang)
            if verdict and verdict.result != "again":
                return verdict
            if verdict:
                gang.generation += 1
                gang.quiet_since = gang.now
                continue
            if registered != gang.generation:
                yield Write(gang.key(f"member/{child.name}"), child.address)
                registered = gang.generation
            roster = yield from _roster(gang)
            if roster and child.name in roster:
                before = gang.checked + gang.settings.lease
                started = yield Start(gang.generation, tuple(roster.values()), before)
                if started:
                    return None
                gang.now, _ = yield Wait(0)
                continue
            if roster:
                successor = next(name for name in roster if _index(name) == child.index)
                if successor > child.name:
                    return Outcome("failure", f"child {child.index} was started again elsewhere")
                yield from _end(gang, f"child {child.index} was lost and started again")
                continue
            if gang.now > deadline:
                missing = yield from _missing(gang)
                yield from _finish(
                    gang, f"not all children came within {gang.settings.deadline:.0f} s: {missing}"
                )
                continue
        except (Unavailable, ValueError):
            if gang.now > deadline + gang.settings.lease:
                return Outcome("failure", "the place of the rendezvous cannot be reached")
        gang.now, _ = yield Wait(gang.settings.poll)


def _verdict(gang: _Gang) -> Generator[Operation, Any, Outcome | None]:
    """Look whether the job or the generation has ended."""
    asked = gang.now
    over = yield Read(gang.over)
    if over is not None:
        result = json.loads(over)
        return Outcome(result["result"], result["reason"])
    end = yield Read(gang.key("end"))
    if end is not None:
        return Outcome("again", end)
    gang.checked = asked
    return None


def _roster(gang: _Gang) -> Generator[Operation, Any, dict[str, str] | None]:
    """Read the roster; child 0 writes it once all have come."""
    text = yield Read(gang.key("roster"))
    if text is None and gang.child.index == 0 and _quiet(gang):
        members = yield from _members(gang)
        if len(members) == gang.child.size:
            yield Create(gang.key("roster"), json.dumps(dict(members)))
            text = yield Read(gang.key("roster"))
    return None if text is None else dict(json.loads(text))


def _quiet(gang: _Gang) -> bool:
    # A process of the previous generation that AWS Batch has given up may run until its lease ends.
    return gang.quiet_since is None or gang.now - gang.quiet_since > 2 * gang.settings.lease


def _members(gang: _Gang) -> Generator[Operation, Any, list[tuple[str, str]]]:
    """Return the newest process of each child that has come, in the order of their indexes."""
    prefix = gang.key("member/")
    found: Mapping[str, str] = yield ListKeys(prefix)
    newest: dict[int, tuple[str, str]] = {}
    for key in sorted(found):
        name = key[len(prefix) :]
        newest[_index(name)] = (name, found[key])
    return [newest[index] for index in sorted(newest)]


def _missing(gang: _Gang) -> Generator[Operation, Any, str]:
    members = yield from _members(gang)
    come = {_index(name) for name, _ in members}
    absent = [str(index) for index in range(gang.child.size) if index not in come]
    names = ", ".join(absent)
    return f"{names} of {gang.child.size} missing" if absent else "no roster from child 0"


def _index(name: str) -> int:
    return int(name.partition("-")[0])


def _end(gang: _Gang, reason: str) -> Generator[Operation, Any, None]:
    """End the generation; the first reason stays."""
    yield Create(gang.key("end"), reason)


def _finish(gang: _Gang, reason: str, *, result: str = "failure") -> Generator[Operation, Any, None]:
    """End the job; the first result stays."""
    yield Create(gang.over, json.dumps({"result": result, "reason": reason}))


def _until_ended(gang: _Gang) -> Generator[Operation, Any, Outcome | None]:
    """Stay with a generation that runs, until it ends."""
    child, settings = gang.child, gang.settings
    failed_since: float | None = None
    gang.seen = {str(index): ("", gang.now) for index in range(child.size)}
    while True:
        try:
            verdict = yield from _verdict(gang)
            if verdict:
                return verdict
            gang.beats += 1
            state = "done" if gang.exit_code == 0 else "runs"
            yield Write(gang.key(f"beat/{child.index}"), f"{state} {gang.beats}")
            lost, done = yield from _watch(gang)
            if done:
                yield from _finish(gang, "all children succeeded", result="success")
                continue
            if lost:
                yield from _end(gang, f"child {lost} gave no sign of life for {settings.lease:.0f} s")
                continue
            if gang.exit_code:
                failed_since = gang.now if failed_since is None else failed_since
                # A program also fails because another child was lost, which shows after a lease.
                if gang.now - failed_since > 2 * settings.lease:
                    reason = f"the program of child {child.index} ended with exit code {gang.exit_code}"
                    yield from _finish(gang, reason)
                    continue
        except (Unavailable, ValueError):
            pass
        gang.now, gang.exit_code = yield Wait(settings.poll)
        if gang.now - gang.checked > settings.lease:
            return Outcome("again", "the place of the rendezvous cannot be reached")


def _watch(gang: _Gang) -> Generator[Operation, Any, tuple[str, bool]]:
    """Return a child that is lost, if any, and whether all are done. Child 0 watches all, the others child 0."""
    prefix = gang.key("beat/")
    if gang.child.index == 0:
        beats: Mapping[str, str] = yield ListKeys(prefix)
    else:
        beat = yield Read(f"{prefix}0")
        beats = {} if beat is None else {f"{prefix}0": beat}
    for key, beat in beats.items():
        index = key[len(prefix) :]
        if gang.seen[index][0] != beat:
            gang.seen[index] = (beat, gang.now)
    if gang.child.index == 0 and all(beat.startswith("done") for beat, _ in gang.seen.values()):
        return "", True
    for index in gang.seen if gang.child.index == 0 else ("0",):
        if int(index) != gang.child.index and gang.now - gang.seen[index][1] > gang.settings.lease:
            return index, False
    return "", False
