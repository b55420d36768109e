"""Decide the next steps of a rollout from its journal. Pure: no clock, no AWS calls, no state.

A cluster takes its steps one after the other, the clusters of a wave in parallel. A wave begins when every cluster of
the previous one has passed all steps. After a failure no new steps begin; running steps complete.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from ultracluster_runtime.rollout.plan import PlannedCluster, RolloutPlan


class Kind(StrEnum):
    """Kind of a journal entry."""

    PLANNED = "planned"  # the rollout was planned; the plan is in values. Only the first entry has this kind.
    STARTED = "started"  # a process began or resumed the work
    BEGUN = "begun"  # a step is about to begin. Written before its first request is sent.
    PASSED = "passed"  # a step passed and is never repeated
    FAILED = "failed"  # a step failed. It is retried after the next STARTED, and not before.
    FINISHED = "finished"  # every cluster passed every step


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """Entry of the journal."""

    kind: Kind
    at: str = ""  # time in ISO 8601, for information only
    cluster: str = ""  # cluster; empty if not about one
    step: str = ""  # step; empty if not about one
    note: str = ""  # message, such as the reason of a failure
    values: dict[str, Any] = field(default_factory=dict)  # additional values of PLANNED and STARTED


_STATES: Final = frozenset({Kind.BEGUN, Kind.PASSED, Kind.FAILED})  # of a step of a cluster


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """Step to run now."""

    cluster: str
    step: str
    interrupted: bool  # whether an earlier process began it with an unknown outcome
    attempt: int  # 1, plus 1 for each failure


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What to do now."""

    begin: tuple[Task, ...] = ()
    finished: bool = False  # whether all steps have passed
    stopped: bool = False  # whether the rollout stops because of a failure


def states_of(entries: Sequence[Entry]) -> dict[tuple[str, str], Kind]:
    """Return the state of each step that was ever begun, by cluster and step."""
    states: dict[tuple[str, str], Kind] = {}
    for entry in entries:
        if entry.kind is Kind.STARTED:
            states = {step: state for step, state in states.items() if state is not Kind.FAILED}
        elif entry.kind in _STATES:
            states[entry.cluster, entry.step] = entry.kind
    return states


def decide(
    plan: RolloutPlan, entries: Sequence[Entry], *, under_way: Collection[tuple[str, str]], at_once: int
) -> Decision:
    """Return the steps to begin, or that the rollout is over; neither if running steps must end first.

    `under_way` holds cluster and step of what this process is running, on at most `at_once` clusters.
    """
    states = states_of(entries)
    for wave in plan.waves:
        clusters = [cluster for cluster in plan.clusters if cluster.wave == wave]
        next_steps = [step for cluster in clusters if (step := _next(cluster, states)) is not None]
        if not next_steps:
            continue
        if any(states.get(step) is Kind.FAILED for step in next_steps):
            return Decision(stopped=not under_way)
        free = max(at_once - len(under_way), 0)
        begin = [step for step in next_steps if step not in under_way][:free]
        return Decision(begin=tuple(_task(*step, states, entries) for step in begin))
    return Decision(finished=True)


def _next(cluster: PlannedCluster, states: Mapping[tuple[str, str], Kind]) -> tuple[str, str] | None:
    """Return the first step that a cluster has not passed; None if there is none."""
    steps = ((cluster.name, step) for step in cluster.steps)
    return next((step for step in steps if states.get(step) is not Kind.PASSED), None)


def _task(cluster: str, step: str, states: Mapping[tuple[str, str], Kind], entries: Sequence[Entry]) -> Task:
    failures = [
        entry
        for entry in entries
        if entry.kind is Kind.FAILED and (entry.cluster, entry.step) == (cluster, step)
    ]
    return Task(
        cluster=cluster,
        step=step,
        interrupted=states.get((cluster, step)) is Kind.BEGUN,
        attempt=1 + len(failures),
    )
