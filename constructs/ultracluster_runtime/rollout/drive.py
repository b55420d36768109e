"""Takes the steps of a rollout: writes down what begins, lets it happen, writes down how it ended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ultracluster_runtime.rollout.machine import Decision, Entry, Kind, Task, decide
from ultracluster_runtime.rollout.plan import RolloutPlan

__all__ = ["Executor", "Journal", "Result", "drive"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """How a step ended.

    Attributes:
        passed: Whether it passed. None if it was given up, so that nobody knows; it is taken again.
        note: What is to be said of it.
    """

    passed: bool | None
    note: str = ""


class Journal(Protocol):
    """Where entries are kept; see `ultracluster_runtime.rollout.journal.FileJournal`."""

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries, in order."""
        ...

    def append(self, entry: Entry) -> None:
        """Add an entry for good."""
        ...


class Executor(Protocol):
    """Who does the work: several steps at the same time."""

    def begin(self, task: Task) -> None:
        """Begin a step, and return at once."""
        ...

    def wait(self) -> tuple[Task, Result]:
        """Wait until one of the steps that were begun has ended."""
        ...

    def stop_requested(self) -> bool:
        """Say whether a person wants nothing new to begin."""
        ...


def drive(
    plan: RolloutPlan, journal: Journal, executor: Executor, *, at_once: int, now: Callable[[], str]
) -> Decision:
    """Do what is left of a rollout.

    Every entry that says that something begins is written before it begins, and one that it ended after it has ended. So
    whenever this process dies, the journal knows of everything that may have happened.

    Args:
        plan: The rollout.
        journal: What was done so far; a `STARTED` entry is its last one.
        hands: Who does the work.
        at_once: How many clusters may be under way at the same time.
        now: Gives the present time, in ISO 8601.

    Returns:
        How it ended. Neither finished nor stopped if a person gave up.
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
