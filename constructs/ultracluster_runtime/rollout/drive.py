"""Run the steps of a rollout, and record in the journal what begins and how it ends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ultracluster_runtime.rollout.decide import Decision, Entry, Kind, Task, decide
from ultracluster_runtime.rollout.plan import RolloutPlan


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """Result of a step."""

    # Whether the step passed. None if it was abandoned with an unknown outcome; it is repeated.
    passed: bool | None
    note: str = ""


class Journal(Protocol):
    """Stores entries; see `ultracluster_runtime.rollout.journal.FileJournal`."""

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries, in order."""
        ...

    def append(self, entry: Entry) -> None:
        """Durably append an entry."""
        ...


class Executor(Protocol):
    """Runs steps concurrently."""

    def begin(self, task: Task) -> None:
        """Begin a step and return immediately."""
        ...

    def wait(self) -> tuple[Task, Result]:
        """Wait until a running step ends."""
        ...

    def stop_requested(self) -> bool:
        """Return whether the user asked to begin no more steps."""
        ...


def drive(
    plan: RolloutPlan, journal: Journal, executor: Executor, *, at_once: int, now: Callable[[], str]
) -> Decision:
    """Run the remaining steps of a rollout, with at most `at_once` clusters concurrently, and return the final decision.

    An entry is written before a step begins, and another one after it has ended. So whenever this process dies, the
    journal, whose last entry is `STARTED`, contains every step that may have run. The decision is neither finished nor
    stopped if the user asked to stop.
    """
    under_way: set[tuple[str, str]] = set()
    while True:
        decision = decide(plan, journal.entries, under_way=under_way, at_once=at_once)
        if decision.finished:
            journal.append(Entry(kind=Kind.FINISHED, at=now()))
        if decision.finished or decision.stopped:
            return decision
        if executor.stop_requested():
            decision = Decision()
        for task in decision.begin:
            journal.append(Entry(kind=Kind.BEGUN, at=now(), cluster=task.cluster, step=task.step))
            under_way.add((task.cluster, task.step))
            executor.begin(task)
        if not under_way:
            return decision
        task, result = executor.wait()
        under_way.discard((task.cluster, task.step))
        if result.passed is not None:
            kind = Kind.PASSED if result.passed else Kind.FAILED
            journal.append(Entry(kind=kind, at=now(), cluster=task.cluster, step=task.step, note=result.note))
