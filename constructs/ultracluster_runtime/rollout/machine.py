"""What comes next in a rollout, from what its journal says. Pure: neither clock nor AWS, and nothing is remembered.

A cluster takes its steps one after the other, the clusters of a wave side by side. A wave begins when every cluster of
the one before has taken all of its steps. After a failure nothing new begins; what is under way comes to its end.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from ultracluster_runtime.rollout.plan import PlannedCluster, RolloutPlan

__all__ = ["Decision", "Entry", "Kind", "State", "Task", "decide", "states_of"]


class Kind(StrEnum):
    """What an entry of the journal says."""

    PLANNED = "planned"
    """The rollout was planned; the plan is in `values`. Always the first entry, and only that."""
    STARTED = "started"
    """A process has begun, or resumed, the work."""
    BEGUN = "begun"
    """A step is about to begin. Written before the first request is sent."""
    PASSED = "passed"
    """A step has come to its good end, and is never taken again."""
    FAILED = "failed"
    """A step has failed. It is taken again after the next `STARTED`, and not before."""
    FINISHED = "finished"
    """Every cluster has taken every step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A line of the journal.

    Attributes:
        kind: What it says.
        at: When, in ISO 8601. For people; nothing is decided by it.
        cluster: The cluster; empty if it is not about one.
        step: The step; empty likewise.
        note: What is to be said of it, such as the reason of a failure.
        values: More of `PLANNED` and `STARTED`.
    """

    kind: Kind
    at: str = ""
    cluster: str = ""
    step: str = ""
    note: str = ""
    values: dict[str, Any] = field(default_factory=dict)


class State(StrEnum):
    """How a step of a cluster stands."""

    BEGUN = "begun"
    PASSED = "passed"
    FAILED = "failed"


_STATES: Final = {Kind.BEGUN: State.BEGUN, Kind.PASSED: State.PASSED, Kind.FAILED: State.FAILED}


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """A step to take now.

    Attributes:
        cluster: The cluster.
        step: The step.
        interrupted: Whether an earlier process had begun it and nobody knows how that ended.
        attempt: 1, and one more for each time that it has failed.
    """

    cluster: str
    step: str
    interrupted: bool
    attempt: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What to do now.

    Attributes:
        begin: Steps to begin.
        finished: Whether everything is done.
        stopped: Whether nothing more is done, because something failed.
    """

    begin: tuple[Task, ...] = ()
    finished: bool = False
    stopped: bool = False


def states_of(entries: Sequence[Entry]) -> dict[tuple[str, str], State]:
    """Say how each step stands that was ever begun, by cluster and step.

    Args:
        entries: The journal.
    """
    states: dict[tuple[str, str], State] = {}
    for entry in entries:
        if entry.kind is Kind.STARTED:
            states = {step: state for step, state in states.items() if state is not State.FAILED}
        elif entry.kind in _STATES:
            states[entry.cluster, entry.step] = _STATES[entry.kind]
    return states


def decide(
    plan: RolloutPlan, entries: Sequence[Entry], *, under_way: Collection[tuple[str, str]], at_once: int
) -> Decision:
    """Say what comes next.

    Args:
        plan: The rollout.
        entries: The journal.
        under_way: Cluster and step of what this process has begun and not ended.
        at_once: How many clusters may be under way at the same time.

    Returns:
        Steps to begin, or that the rollout is over. Neither, if there is something to wait for.
    """
    states = states_of(entries)
    for wave in plan.waves:
        clusters = [cluster for cluster in plan.clusters if cluster.wave == wave]
        next_steps = [step for cluster in clusters if (step := _next(cluster, states)) is not None]
        if not next_steps:
            continue
        if any(states.get(step) is State.FAILED for step in next_steps):
            return Decision(stopped=not under_way)
        free = max(at_once - len(under_way), 0)
        begin = [step for step in next_steps if step not in under_way][:free]
        return Decision(begin=tuple(_task(*step, states, entries) for step in begin))
    return Decision(finished=True)


def _next(cluster: PlannedCluster, states: Mapping[tuple[str, str], State]) -> tuple[str, str] | None:
    """The first step that the cluster has not taken; None if there is none."""
    steps = ((cluster.name, step) for step in cluster.steps)
    return next((step for step in steps if states.get(step) is not State.PASSED), None)


def _task(cluster: str, step: str, states: Mapping[tuple[str, str], State], entries: Sequence[Entry]) -> Task:
    failures = [
        entry for entry in entries if entry.kind is Kind.FAILED and (entry.cluster, entry.step) == (cluster, step)
    ]
    return Task(
        cluster=cluster,
        step=step,
        interrupted=states.get((cluster, step)) is State.BEGUN,
        attempt=1 + len(failures),
    )
