"""Seeded lives of a block whose nodes become sick, minute by minute, beside a life of the same block in which people are told.

The world knows which nodes are sick. The life cycle sees what nodes publish, of which some is lost, late or harmless, and its
requests and its memory fail now and then. People answer a notice after half an hour to eight hours: an assumption.
"""

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from tests.unit.runtime.lifecycle.lifecycle_simulation import Violation

from ultracluster_runtime.lifecycle.actions import Action, DrainNode, Notify, ReplaceNode, RequestCheckpoint
from ultracluster_runtime.lifecycle.observations import (
    Environment,
    Fleet,
    Job,
    Observations,
    Queue,
    Reservation,
)
from ultracluster_runtime.lifecycle.plan import run_cycle
from ultracluster_runtime.lifecycle.reader import ManagedBlock, _sick
from ultracluster_runtime.lifecycle.state import LifecycleState

START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
HOURS, SLOTS, LEAD = 12, 4, 20
FAULTS = {"memory": ["HBM_UNCORRECTABLE_ERROR"], "dma": ["DMA_ERROR"], "devices": []}


@dataclass(kw_only=True)
class Node:
    launched: int
    fault: str = ""
    blinks: range = range(0)  # devices that are missing for a moment, of a healthy node
    drained: bool = False
    comes_back: bool = False  # on the same host


@dataclass(kw_only=True)
class Work:
    nodes: frozenset[str]
    until: int
    resumes: bool
    writes: range = range(0)
    fails_at: int | None = None


@dataclass(kw_only=True)
class Life:
    seed: int
    replaces: bool
    minute: int = 0
    nodes: dict[str, Node] = field(default_factory=dict)
    jobs: dict[str, Work] = field(default_factory=dict)
    empty_until: list[tuple[int, bool]] = field(default_factory=list)  # slots that EC2 cleans up
    memory: str = "{}"
    figures: Counter[str] = field(default_factory=Counter)
    replaced: dict[str, int] = field(default_factory=dict)
    told: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)  # noqa: S311 - chance that can be repeated
        self.noise = random.Random(-self.seed)  # noqa: S311 - chance that can be repeated
        self.fleet = self.seed % 2 == 0
        self.events: list[tuple[int, str]] = []
        sick = self.chance.choice((0, 1, 1, 1, 2, 3))
        self.plan = {
            self.chance.randrange(30, 60 * HOURS - 60): self.chance.choice([*FAULTS]) for _ in range(sick)
        }
        self.blinking = {self.chance.randrange(30, 60 * HOURS): self.chance.choice((1, 2)) for _ in range(3)}
        self.answers_after = self.chance.randrange(30, 480)
        for number in range(SLOTS):
            self.nodes[f"i-{number}"] = Node(launched=-60)

    def live(self) -> "Life":
        while self.minute < 60 * HOURS:
            self._happen()
            self._publish()
            if self.noise.random() > 0.05:  # a wake-up that is lost
                self._wake()
            if not self.replaces:
                self._people()
            self._count()
            self.minute += 1
        return self

    def _happen(self) -> None:
        if fault := self.plan.get(self.minute):
            healthy = [name for name, node in self.nodes.items() if not node.fault]
            if healthy:
                node = self.nodes[self.chance.choice(healthy)]
                node.fault, node.comes_back = fault, self.chance.random() < 0.2
                self.figures["faults"] += 1
        if blinks := self.blinking.get(self.minute):
            self.nodes[min(self.nodes, default="")].blinks = range(self.minute, self.minute + blinks) if self.nodes else 0  # type: ignore[assignment]  # fmt: skip
        for until, again in [each for each in self.empty_until if each[0] <= self.minute]:
            self.empty_until.remove((until, again))
            self.nodes[f"i-{self.seed}-{self.minute}-{len(self.nodes)}"] = Node(
                launched=self.minute, fault="dma" if again else ""
            )
        for name, job in list(self.jobs.items()):
            broken = any(self.nodes[node].fault in {"memory", "dma"} for node in job.nodes)
            if broken and job.fails_at is None:
                job.fails_at = self.minute + self.chance.randrange(1, 10)  # the runtime of Neuron gives up
            if self.minute >= min(job.until, job.fails_at or job.until):
                del self.jobs[name]
        busy = {node for job in self.jobs.values() for node in job.nodes}
        free = [
            name
            for name, node in self.nodes.items()
            if name not in busy and not node.drained and self.minute - node.launched >= 10
        ]
        wanted = self.chance.choice((1, 1, 2, 4))
        if len(free) >= wanted and self.chance.random() < 0.5:
            name = f"job-{self.minute}"
            self.jobs[name] = Work(
                nodes=frozenset(self.chance.sample(free, wanted)),
                until=self.minute + self.chance.randrange(20, 300),
                resumes=self.chance.random() < 0.5,
            )

    def _publish(self) -> None:
        self.events = [event for event in self.events if event[0] > self.minute - 5]
        for name, node in self.nodes.items():
            boots = self.minute - node.launched < 3
            missing = node.fault == "devices" or self.minute in node.blinks or boots
            event = {
                "InstanceId": name,
                "Faults": FAULTS.get(node.fault, []),
                "NeuronDevicesMissing": int(missing),
                "EfaDevicesMissing": 0,
                "EccCorrected": self.noise.randrange(1000),
                "EfaRetransmits": self.noise.randrange(10**6),
            }
            if self.noise.random() > 0.05:
                self.events.append((self.minute, json.dumps(event)))

    def _observe(self) -> Observations:
        now = START + timedelta(minutes=self.minute)
        launched = {name: START + timedelta(minutes=node.launched) for name, node in self.nodes.items()}
        pages = [{"events": [{"message": message} for _, message in self.events]}]
        logs = SimpleNamespace(get_paginator=lambda _: SimpleNamespace(paginate=lambda **_: pages))
        block = ManagedBlock(
            reservation_id="cr-1", compute_environment="", job_queue="", topic="", state_table="",
            checkpoint_lead=timedelta(minutes=LEAD), metrics_log_group="nodes",
        )  # fmt: skip
        clients: Any = lambda _: logs  # noqa: E731
        sick = {} if self.noise.random() < 0.05 else _sick(clients, block, now, launched)
        return Observations(
            now=now,
            reservation_id="cr-1",
            checkpoint_lead=timedelta(minutes=LEAD),
            reservation=Reservation(
                state="active", is_block=True, ultraserver=False, instances=SLOTS,
                start=START - timedelta(hours=1), end=START + timedelta(hours=HOURS + 1),
            ),
            environment=Environment(enabled=True),
            queue=Queue(enabled=True, others_serve=False),
            nodes=None if self.noise.random() < 0.02 else frozenset(self.nodes),
            jobs=None if self.noise.random() < 0.02 else tuple(Job(job_id=name, nodes=job.nodes) for name, job in self.jobs.items()),
            extension_pending=False,
            launched=launched,
            has_fleet=self.fleet,
            fleet=Fleet(desired=SLOTS, most=SLOTS) if self.fleet else None,
            sick=sick,
            replaces_sick=self.replaces,
            resumed=frozenset(name for name, job in self.jobs.items() if job.resumes),
        )  # fmt: skip

    def _wake(self) -> None:
        state = (
            None
            if self.noise.random() < 0.02
            else LifecycleState.from_json(self.memory, reservation_id="cr-1")
        )

        def perform(action: Action) -> None:
            if self.noise.random() < 0.05:
                raise ConnectionError("the request was lost")
            self._do(action)
            if self.noise.random() < 0.05:
                raise ConnectionError("the answer was lost")

        def save(stored: LifecycleState) -> None:
            if self.noise.random() < 0.05:
                raise ConnectionError("the memory was not written")
            self.memory = stored.to_json()

        run_cycle(self._observe(), state, perform=perform, save=save)

    def _do(self, action: Action) -> None:
        match action:
            case DrainNode(node=node):
                self.nodes[node].drained = True
            case RequestCheckpoint(nodes=nodes):
                for job in self.jobs.values():
                    if job.nodes & nodes and not job.writes:
                        job.writes = range(self.minute, self.minute + self.chance.randrange(1, LEAD))
            case ReplaceNode(node=node):
                self._replace(node)
            case Notify(notices=notices):
                for name in notices:
                    self.told.setdefault(name, self.minute)

    def _replace(self, name: str) -> None:
        if name not in self.nodes:
            return  # it is ending
        if not self.replaces:
            raise Violation(f"{name} is replaced though people are only told")
        self.replaced[name] = self.minute
        if len([at for at in self.replaced.values() if self.minute - at < 60]) > 2:
            raise Violation(f"more than two nodes within an hour: {self.replaced}")
        self.figures["replaced"] += 1
        self.figures["replaced falsely"] += not self.nodes[name].fault
        for job in [job for job, work in self.jobs.items() if name in work.nodes]:
            work = self.jobs.pop(job)
            self.figures["jobs lost"] += not work.resumes
            self.figures["jobs resumed"] += work.resumes
            if self.minute in work.writes:
                raise Violation(f"{job} was writing a checkpoint when {name} was replaced")
        self._end(name)

    def _end(self, name: str) -> None:
        self.empty_until.append((self.minute + self.chance.randrange(5, 10), self.nodes.pop(name).comes_back))

    def _people(self) -> None:
        for name in [name for name in self.nodes if f"sick {name}" in self.told]:
            if self.minute - self.told[f"sick {name}"] == self.answers_after:
                for job in [job for job, work in self.jobs.items() if name in work.nodes]:
                    del self.jobs[job]
                self._end(name)

    def _count(self) -> None:
        bad = {name for name, node in self.nodes.items() if node.fault or node.drained}
        for job in self.jobs.values():
            if bad & job.nodes and any(self.nodes[node].fault for node in job.nodes):
                bad |= job.nodes
        boots = {name for name, node in self.nodes.items() if self.minute - node.launched < 10}
        self.figures["minutes lost"] += len(bad | boots) + SLOTS - len(self.nodes)


def live(seeds: range) -> dict[bool, Counter[str]]:
    """Live each seed with and without replacement, and return the figures of both."""
    sums: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for seed in seeds:
        for replaces, figures in sums.items():
            try:
                figures.update(Life(seed=seed, replaces=replaces).live().figures)
            except Violation as violation:
                raise Violation(f"seed {seed}: {violation}") from violation
    return sums


def describe(sums: dict[bool, Counter[str]], lives: int) -> str:
    """Say what was lost with and without replacement."""
    told, ours = sums[False], sums[True]
    return (
        f"{lives:,} lives with {ours['faults']:,} faults: {told['minutes lost']:,} paid node-minutes lost when people are told, "
        f"{ours['minutes lost']:,} with replacement; {ours['replaced']:,} nodes replaced, {ours['replaced falsely']} of them falsely, "
        f"{ours['jobs resumed']:,} jobs resumed, {ours['jobs lost']} lost"
    )
