"""Lives of node_arrays from seeds: late, lost and doubled children, places that answer late or not at all, and two jobs at once.

A place is linearizable, as S3 and Lustre are, but an answer may be lost, and what was asked may happen after the caller gave up.
"""

import heapq
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ultracluster_runtime.array_rendezvous import rendezvous

ANSWER = 5.0
"""Seconds within which an operation is answered or given up."""
HORIZON = 8_000.0
"""Seconds after which every process must have ended."""
SLOW_WRITE = 20.0
"""Seconds within which a write may still happen that was given up."""


class Violation(AssertionError):  # noqa: N818 - what it is
    """What must never happen."""


@dataclass
class Process:
    """One process of a child."""

    number: int
    job: str
    index: int
    attempt: int
    born: float
    steps: Any
    address: str
    alive: bool = True
    zombie: bool = False
    generation: int | None = None
    addresses: tuple[str, ...] = ()
    started: float | None = None
    stopped: float | None = None
    exit_at: float | None = None
    exit_code: int = 0
    paused: float = 0.0
    cut_off: tuple[float, float] = (0.0, 0.0)
    outcome: Any = None


@dataclass
class Weather:
    """What goes wrong in one life."""

    losses: int = 0
    zombies: int = 0
    absent: bool = False
    failing_program: bool = False
    outages: int = 0
    cuts: int = 0
    jobs: int = 1
    size: int = 3
    attempts: int = 5
    spread: float = 100.0
    unanswered: float = 0.0
    tardy: bool = False
    doubled_leader: bool = False
    partition: bool = False
    dead_place: bool = False
    pauses: bool = False
    slow: bool = False


@dataclass
class Life:
    """The life of one or two node_arrays."""

    seed: int
    weather: Weather = field(default_factory=Weather)
    settings: Any = None
    now: float = 0.0
    place: dict[str, str] = field(default_factory=dict)
    written: dict[str, float] = field(default_factory=dict)
    processes: list[Process] = field(default_factory=list)
    final: dict[str, dict[int, Any]] = field(default_factory=lambda: defaultdict(dict))
    out: list[tuple[float, float]] = field(default_factory=list)
    _events: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _count: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)  # noqa: S311 - a seeded schedule
        self.settings = rendezvous.Settings(poll=5, deadline=1200, lease=60)

    def at(self, when: float, action: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._events, (when, self._count, action))

    # -- AWS Batch -----------------------------------------------------------------------------------------------------------

    def live(self) -> "Life":  # noqa: C901 - one loop for each kind of weather
        """Run all jobs to their end, checking what must hold."""
        weather = self.weather
        for _ in range(weather.outages):
            begin = self.random.uniform(0, 900)
            self.out.append((begin, begin + self.random.choice([20, 50, 150])))
        if weather.dead_place:
            self.out.append((self.random.uniform(0, 400), HORIZON))
        for number in range(weather.jobs):
            job = f"job{number}"
            absent = self.random.randrange(weather.size) if weather.absent else None
            for index in range(weather.size):
                delay = self.random.uniform(0, weather.spread)
                if index == absent:
                    delay = self.settings.deadline + 600
                elif weather.tardy and index == ((absent or 0) + 1) % weather.size:
                    delay = self.settings.deadline + self.random.uniform(-10, 20)
                self.at(delay, lambda job=job, index=index: self._place_child(job, index, 1))
        if weather.partition:
            self.at(self.random.uniform(weather.spread, weather.spread + 150), self._part_one)
        for _ in range(weather.losses):
            self.at(self.random.uniform(0, 700), self._lose_one)
        for _ in range(weather.zombies):
            self.at(self.random.uniform(0, 700), self._give_up_one)
        for _ in range(weather.cuts):
            self.at(self.random.uniform(0, 700), self._cut_one)
        while self._events:
            self.now, _, action = heapq.heappop(self._events)
            if self.now > HORIZON:
                raise Violation(f"processes hang: {[self._name(one) for one in self.processes if one.alive]}")
            action()
        self._check_results()
        return self

    def _name(self, process: Process) -> str:
        return f"{process.job}:{process.index}#{process.attempt}"

    def _place_child(self, job: str, index: int, attempt: int) -> None:
        number = len(self.processes)
        # A node that comes back has the address of its predecessor.
        old = [one for one in self.processes if (one.job, one.index) == (job, index)]
        address = old[-1].address if old and self.random.random() < 0.5 else f"10.0.0.{number}"
        child = rendezvous.Child(
            job=job,
            index=index,
            size=self.weather.size,
            attempt=attempt,
            nonce=f"{self.random.randrange(10**6):06d}",
            address=address,
        )
        process = Process(
            number, job, index, attempt, self.now, rendezvous.take_part(child, self.settings), address
        )
        self.processes.append(process)
        self._resume(process, lambda: next(process.steps))

    def _again(self, process: Process, after: float) -> None:
        if process.attempt < self.weather.attempts:
            self.at(
                self.now + after, lambda: self._place_child(process.job, process.index, process.attempt + 1)
            )
        else:
            self.final[process.job].setdefault(process.index, None)

    def _pick(self) -> Process | None:
        alive = [one for one in self.processes if one.alive and not one.zombie]
        return self.random.choice(alive) if alive else None

    def _lose_one(self) -> None:
        if process := self._pick():
            self._stop(process)
            self._again(process, self.random.uniform(10, 300))

    def _give_up_one(self) -> None:
        """AWS Batch believes that a host is lost, but its process goes on."""
        if process := self._pick():
            process.zombie = True
            self._again(process, self.random.uniform(1, 60))

    def _part_one(self) -> None:
        """A host that neither AWS Batch nor the place can reach; its process goes on."""
        if process := self._pick():
            process.zombie, process.cut_off = True, (self.now, HORIZON)
            self._again(process, self.random.uniform(1, 5))

    def _double_leader(self, process: Process) -> None:
        if process.index == 0 and not process.zombie and self.random.random() < 0.3:
            process.zombie = True
            self._again(process, self.random.uniform(0.01, 2))

    def _cut_one(self) -> None:
        if process := self._pick():
            process.cut_off = (self.now, self.now + self.random.choice([30, 100, 400]))

    def _stop(self, process: Process) -> None:
        process.alive = False
        process.stopped = self.now
        process.steps.close()

    # -- the operations of a process -----------------------------------------------------------------------------------------

    def _resume(self, process: Process, step: Callable[[], Any]) -> None:
        try:
            operation = step()
        except StopIteration as end:
            self._end(process, end.value)
        else:
            self._perform(process, operation)

    def _answer(self, process: Process, *, answer: Any) -> None:
        if process.alive:
            self._resume(process, lambda: process.steps.send(answer))

    def _refuse(self, process: Process) -> None:
        if process.alive:
            self._resume(process, lambda: process.steps.throw(rendezvous.Unavailable()))

    def _perform(self, process: Process, operation: Any) -> None:
        kind = type(operation).__name__
        if kind == "Wait":
            self.at(
                self.now + max(operation.seconds, 0.01) * self.random.uniform(1, 1.2),
                lambda: self._answer(process, answer=(self.now, self._exit_code(process))),
            )
        elif kind == "Start":
            if self.now >= operation.before:
                self.at(self.now, lambda: self._answer(process, answer=False))
                return
            self._start(process, operation)
            self.at(self.now, lambda: self._answer(process, answer=True))
        else:
            self._ask_place(process, kind, operation)

    def _ask_place(self, process: Process, kind: str, operation: Any) -> None:
        if self.weather.doubled_leader and kind in ("ListKeys", "Create") and process.started is None:
            self._double_leader(process)
        slow = 0.6 if self.weather.slow else 0.1
        quick = self.random.random() > slow
        reply = self.now + (self.random.uniform(0.01, 0.1) if quick else self.random.uniform(0.1, ANSWER))
        if (
            self.weather.pauses
            and process.started is None
            and self.random.random() < 0.02
            and not process.paused
        ):
            process.paused = self.random.uniform(50, 400)  # its host stood still
            reply += process.paused
            if not process.zombie and self.random.random() < 0.5:
                process.zombie = True
                self._again(process, self.random.uniform(1, 30))
        begin, end = process.cut_off
        cut = begin <= self.now < end or any(begin <= self.now < end for begin, end in self.out)
        lost = self.random.random() < self.weather.unanswered
        if cut or lost:
            if kind in ("Create", "Write") and self.random.random() < (0.2 if cut else 0.7):
                self.at(self.now + self.random.uniform(0, SLOW_WRITE), lambda: self._apply(kind, operation))
            self.at(reply, lambda: self._refuse(process))
            return
        begun = self.now

        def effect() -> None:
            answer = self._apply(kind, operation, since=begun)
            self.at(reply, lambda: self._answer(process, answer=answer))

        self.at(self.random.uniform(self.now, reply), effect)

    def _apply(self, kind: str, operation: Any, since: float = 0.0) -> Any:
        if kind == "Read":
            return self.place.get(operation.key)
        if kind == "ListKeys":
            # A listing shows all that was there when it began, and may miss what came since.
            return {
                key: text
                for key, text in self.place.items()
                if key.startswith(operation.prefix)
                and (self.written[key] < since or self.random.random() < 0.5)
            }
        if kind == "Create" and operation.key in self.place:
            return False
        self.written.setdefault(operation.key, self.now)
        self.place[operation.key] = operation.text
        return True

    # -- the program ---------------------------------------------------------------------------------------------------------

    def _array(self, process: Process) -> list[Process]:
        return [
            one for one in self.processes if one.job == process.job and one.generation == process.generation
        ]

    def _start(self, process: Process, operation: Any) -> None:
        process.generation, process.addresses, process.started = (
            operation.generation,
            operation.addresses,
            self.now,
        )
        self._check_start(process)
        node_array = self._array(process)
        if len(node_array) == self.weather.size:
            length = self.random.uniform(50, 300)
            failing: list[int] = []
            if self.weather.failing_program:
                failing = self.random.choice(
                    [[self.random.randrange(self.weather.size)], list(range(self.weather.size))]
                )
            for one in node_array:
                one.exit_at = self.now + length + self.random.uniform(0, 5 if failing else 30)
                one.exit_code = 3 if one.index in failing else 0

    def _exit_code(self, process: Process) -> int | None:
        if process.started is None or process.exit_at is None or process.exit_at > self.now:
            return None
        node_array = self._array(process)
        # A program ends well only if all were there until it ended.
        for one in node_array:
            if (
                one.stopped is not None
                and one.exit_at is not None
                and one.stopped < min(one.exit_at, process.exit_at)
            ):
                process.exit_at = float("inf") if process.index % 2 else process.exit_at
                process.exit_code = 1
                return None if process.index % 2 else 1
        return process.exit_code

    def _end(self, process: Process, outcome: Any) -> None:
        process.alive, process.stopped, process.outcome = False, self.now, outcome
        if process.zombie:
            return
        if outcome.result == "again":
            self._again(process, self.random.uniform(5, 120))
        else:
            self.final[process.job][process.index] = outcome

    # -- what must hold ------------------------------------------------------------------------------------------------------

    def _check_start(self, process: Process) -> None:
        mine = [
            one
            for one in self.processes
            if one.job == process.job and one is not process and one.started is not None
        ]
        for one in mine:
            if one.generation == process.generation:
                if one.index == process.index:
                    raise Violation(f"two processes of child {one.index} in generation {one.generation}")
                if one.addresses != process.addresses:
                    raise Violation(f"generation {one.generation} has two rosters")
            elif one.stopped is None:
                raise Violation(
                    f"{self._name(one)} of generation {one.generation} runs beside generation {process.generation}"
                )
        if len(process.addresses) != self.weather.size:
            raise Violation("an array without all its children")
        if process.addresses[process.index] != process.address:
            raise Violation(f"{self._name(process)} has the place of another")
        for index, address in enumerate(process.addresses):
            if not any(
                one.address == address and (one.job, one.index) == (process.job, index)
                for one in self.processes
            ):
                raise Violation(f"child {index} of {process.job} is no process of it")

    def _check_results(self) -> None:
        for process in self.processes:
            self._check_process(process)
        for job, results in self.final.items():
            said = {
                (one.result, one.reason) for one in results.values() if one and "reached" not in one.reason
            }
            if len(said) > 1:
                raise Violation(f"{job} has several results: {said}")
            if any(result == "success" for result, _ in said):
                self._check_success(job)
            elif not any(one is not None for one in results.values()) and self.weather.attempts > self._spent(
                job
            ):
                raise Violation(f"{job} ended without a result")

    def _spent(self, job: str) -> int:
        return max(one.attempt for one in self.processes if one.job == job)

    def _check_process(self, process: Process) -> None:
        end = process.stopped
        if end is None:
            raise Violation(f"{self._name(process)} never ended")
        waiting = (process.started if process.started is not None else end) - process.born
        if waiting - process.paused > self.settings.deadline + 3 * self.settings.lease:
            raise Violation(f"{self._name(process)} waited for {waiting:.0f} s")
        if process.started is None or process.outcome is None:
            return
        gone = [
            one.stopped
            for one in self._array(process)
            if one.stopped is not None and not (one.outcome and one.outcome.result == "success")
        ]
        if gone and end - max(min(gone), process.started) > 5 * self.settings.lease:
            raise Violation(f"{self._name(process)} stayed {end - min(gone):.0f} s after another was gone")

    def _check_success(self, job: str) -> None:
        last = max((one.generation for one in self.processes if one.job == job and one.generation), default=0)
        node_array = [one for one in self.processes if one.job == job and one.generation == last]
        if len(node_array) != self.weather.size:
            raise Violation(f"{job} succeeded with {len(node_array)} children")
        for one in node_array:
            if one.exit_at is None or one.exit_code or one.exit_at > self.now:
                raise Violation(f"{job} succeeded, and {self._name(one)} did not")


KINDS = 12


def weather(seed: int) -> Weather:
    """Return what goes wrong in the life of a seed; most kinds have one fault, and promise how it ends."""
    draw = random.Random(seed * 7919)  # noqa: S311 - a seeded schedule
    size = draw.choice([2, 3, 3, 4, 5])
    kinds = [
        lambda: Weather(size=size, jobs=draw.choice([1, 2])),
        lambda: Weather(size=size, losses=1, attempts=8),
        lambda: Weather(
            size=max(size, 3),
            absent=True,
            tardy=draw.choice([False, True]),
            slow=draw.choice([False, True]),
            spread=draw.choice([1, 100]),
        ),
        lambda: Weather(size=size, zombies=draw.choice([1, 2]), attempts=8, jobs=draw.choice([1, 2])),
        lambda: Weather(size=size, failing_program=True, attempts=3, slow=draw.choice([False, True])),
        lambda: Weather(size=size, outages=2, cuts=2, unanswered=0.02, attempts=8),
        lambda: Weather(
            size=size, losses=3, zombies=2, attempts=draw.choice([2, 8]), unanswered=0.05, spread=600
        ),
        lambda: Weather(
            size=size,
            losses=2,
            zombies=2,
            outages=1,
            cuts=2,
            unanswered=0.1,
            jobs=2,
            attempts=6,
            spread=draw.choice([10, 900]),
        ),
        lambda: Weather(
            size=size,
            doubled_leader=True,
            slow=True,
            unanswered=0.15,
            attempts=10,
            spread=draw.choice([1, 20]),
        ),
        lambda: Weather(size=size, partition=True, attempts=8, spread=draw.choice([1, 50])),
        lambda: Weather(size=size, dead_place=True, attempts=2),
        lambda: Weather(size=size, pauses=True, zombies=1, losses=1, attempts=10),
    ]
    return kinds[seed % KINDS]()


def run(seed: int) -> Life:
    """Live the life of a seed, and check what its kind promises."""
    life = Life(seed=seed, weather=weather(seed)).live()
    kind = seed % KINDS
    results = [one for job in life.final.values() for one in job.values()]
    if kind in (0, 1, 3, 8, 9) and not all(one and one.result == "success" for one in results):
        raise Violation(f"no success although nothing stood in its way: {results}")
    if kind == 0 and any(one.attempt > 1 for one in life.processes):
        raise Violation("a child was started again although nothing was lost")
    if kind == 0 and max(one.stopped - one.born for one in life.processes if one.stopped) > 600:
        raise Violation("a calm life took too long")
    if kind == 2 and not all(one and one.result == "failure" and "missing" in one.reason for one in results):
        raise Violation(f"nobody names the missing child: {results}")
    if kind == 4 and not all(one and "exit code 3" in one.reason for one in results):
        raise Violation(f"nobody names the failed program: {results}")
    if kind == 4 and any(one.attempt > 1 for one in life.processes):
        raise Violation("a program that failed was started again")
    return life
