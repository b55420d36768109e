"""Simulation of rollouts: stacks that count their changes, steps that end in any order, and crashes at any point."""

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ultracluster_runtime.rollout.decide import Entry, Kind, Task
from ultracluster_runtime.rollout.drive import Result
from ultracluster_runtime.rollout.plan import (
    ALARMS,
    DEPLOY,
    STACKS,
    PlannedCluster,
    PlannedStack,
    RolloutPlan,
)

WAVES = {"canary": ("a",), "early": ("b", "c"), "late": ("d", "e", "f")}
STEPS = (DEPLOY, STACKS, "job:smoke", ALARMS)


class Death(Exception):  # noqa: N818 - no error: it is what kill -9 does
    """The process has died here."""


def plan(waves: dict[str, tuple[str, ...]] = WAVES) -> RolloutPlan:
    return RolloutPlan(
        file="rollout.yaml",
        digest="0",
        target="account 123456789012",
        bake_minutes=0,
        waves=tuple(waves),
        clusters=tuple(
            PlannedCluster(
                name=name,
                wave=wave,
                region="us-east-2",
                assembly="run/assembly",
                stacks=(PlannedStack(name=f"{name}-Cluster", region="us-east-2", before=None, after="new"),),
                steps=STEPS,
            )
            for wave, names in waves.items()
            for name in names
        ),
    )


@dataclass
class World:
    """What outlives a process: AWS, and the lines on the disk."""

    lines: list[str] = field(default_factory=list)
    changes: Counter[str] = field(default_factory=Counter)
    done: list[tuple[str, str]] = field(default_factory=list)
    """Every step that was really taken, in order: by AWS, whatever our process knows of it."""
    failing: set[tuple[str, str]] = field(default_factory=set)

    def take(self, task: Task) -> Result:
        step = (task.cluster, task.step)
        self.done.append(step)
        if step in self.failing:
            return Result(passed=False, note="no such luck")
        if task.step == DEPLOY:
            # CloudFormation has nothing to do for a template that is there already.
            self.changes[task.cluster] = max(self.changes[task.cluster], 1)
        return Result(passed=True)


class Process:
    """One life of our process: its journal, its hands, and the point at which it dies."""

    def __init__(self, world: World, *, seed: int, dies_at: int | None = None) -> None:
        self.world = world
        self.random = random.Random(seed)  # noqa: S311 - a simulation
        self.points = 0
        self.dies_at = dies_at
        self.running: list[Task] = []
        self.most_at_once = 0
        self.stop = False
        self.entries = [self._entry(line) for line in world.lines if line.endswith("\n")]
        world.lines[:] = [line for line in world.lines if line.endswith("\n")]

    @staticmethod
    def _entry(line: str) -> Entry:
        values: dict[str, Any] = json.loads(line)
        return Entry(kind=Kind(values["kind"]), cluster=values["cluster"], step=values["step"])

    def _point(self) -> None:
        self.points += 1
        if self.points == self.dies_at:
            raise Death

    # The journal

    def append(self, entry: Entry) -> None:
        line = json.dumps({"kind": entry.kind, "cluster": entry.cluster, "step": entry.step}) + "\n"
        self._point()
        self.world.lines.append(line[: len(line) // 2])
        self._point()  # a torn line
        self.world.lines[-1] = line
        self._point()
        self.entries.append(entry)

    # The hands

    def begin(self, task: Task) -> None:
        self._point()
        self.running.append(task)
        self.most_at_once = max(self.most_at_once, len(self.running))

    def wait(self) -> tuple[Task, Result]:
        # What runs in AWS goes on when we die: each task may have happened or not.
        task = self.running.pop(self.random.randrange(len(self.running)))
        self._point()
        result = self.world.take(task)
        try:
            self._point()
        except Death:
            for other in self.running:
                if self.random.random() < 0.5:
                    self.world.take(other)
            raise
        return task, result

    def stop_requested(self) -> bool:
        return self.stop
