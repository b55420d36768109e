"""Simulation of a queue with blocks, minute by minute: the parts of EC2 and AWS Batch that the life cycle uses.

The clock of the life cycle may be wrong, wake-ups may be lost, doubled or faulty. The world itself tells the truth, and
counts what happens to jobs.
"""

import random
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from ultracluster_runtime.lifecycle.actions import (
    Action,
    Notify,
    RequestCheckpoint,
    SetEnvironment,
    SetFleet,
    SetProtection,
    SetQueue,
    TerminateJob,
)
from ultracluster_runtime.lifecycle.observations import (
    Environment,
    Fleet,
    Job,
    Observations,
    Queue,
    Refusal,
    Reservation,
)
from ultracluster_runtime.lifecycle.plan import run_cycle
from ultracluster_runtime.lifecycle.state import LifecycleState

EPOCH = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LEAD = timedelta(minutes=20)
NODES = 4
SCALE_IN = 5  # minutes after which AWS Batch ends a node without a job


class Violation(BaseException):
    """The life cycle did what it must never do. Not an `Exception`: those it survives."""


class Crash(BaseException):
    """The function is killed in the middle."""


@cache
def at(minute: float) -> datetime:
    return EPOCH + minute * MINUTE


_reservation = cache(Reservation)  # it is never changed, and the same in very many minutes


@dataclass(frozen=True, kw_only=True)
class Faults:
    """What goes wrong in one wake-up: `action N` fails before or after it took effect, or the function dies there."""

    before: frozenset[int] = frozenset()
    after: frozenset[int] = frozenset()
    crash: int | None = None
    blind: frozenset[str] = frozenset()  # names of facts that cannot be seen
    others_unseen: bool = False
    no_state: bool = False
    no_save: bool = False
    stale: int = 0  # minutes by which the reservation is shown too old


NO_FAULTS = Faults()
_roads = [False]


@contextmanager
def by_fleets() -> Iterator[None]:
    """Let Auto Scaling groups start the nodes of all blocks."""
    _roads.append(True)
    try:
        yield
    finally:
        _roads.pop()


@dataclass(kw_only=True)
class Block:
    """One block, its compute environment and the function that looks after it."""

    name: str
    start: int
    end: int
    ultraserver: bool = False
    skew: timedelta = timedelta(0)
    over_from: tuple[int, str] | None = None  # it is released in this minute, in this state
    known_until: int | None = None  # EC2 forgets it in this minute
    extensions: dict[int, tuple[int, int]] = field(default_factory=dict)  # bought in: (paid in, new end)
    enabled: bool = True  # as the template leaves it
    memory: str = "{}"
    nodes: dict[str, int] = field(default_factory=dict)  # node: idle for minutes
    launched: dict[str, int] = field(default_factory=dict)  # node: launched in this minute
    told: dict[str, int] = field(default_factory=dict)  # node: first told, for this end
    notices: list[Notify] = field(default_factory=list)
    busy_minutes: int = 0
    modified: range = range(0)  # minutes in which the environment is UPDATING
    refusing: range = range(0)  # minutes in which nodes that are launched refuse to join
    refused: dict[str, int] = field(default_factory=dict)  # node: launched
    fleet: bool = field(default_factory=lambda: _roads[-1])  # an Auto Scaling group starts the nodes
    desired: int = 0
    protected: set[str] = field(default_factory=set)
    losing: range = range(0)  # minutes in which a node is lost
    left_to_ec2: int = 0  # nodes that EC2 had to end
    spent: int = 0  # launches, of nodes that join and of those that refuse

    def end_at(self, minute: int) -> int:
        if not self.extensions:
            return self.end
        return max(self.end, *(end for paid, end in self.extensions.values() if paid <= minute), 0)

    def state_at(self, minute: int) -> str:
        if self.over_from and minute >= self.over_from[0]:
            return self.over_from[1]
        if minute < self.start:
            return "scheduled"
        return "active" if minute < self.end_at(minute) else "expired"

    def reservation_at(self, minute: int) -> Reservation | None:
        if self.known_until is not None and minute >= self.known_until:
            return None
        return _reservation(
            state=self.state_at(minute),
            is_block=True,
            ultraserver=self.ultraserver,
            instances=NODES if self.start <= minute else 0,
            start=at(self.start),
            end=at(self.end_at(minute)),
        )

    def drain_at(self, minute: int) -> int:
        return self.end_at(minute) - (70 if self.ultraserver else 40)

    def terminates_at(self, minute: int) -> int:
        return self.end_at(minute) - (60 if self.ultraserver else 30)

    def usable_at(self, minute: int) -> bool:
        """By the truth: paid, delivered and not in its drain."""
        return self.state_at(minute) == "active" and minute < self.drain_at(minute)

    def serves_at(self, minute: int) -> bool:
        return self.state_at(minute) in ("scheduled", "active") and minute < self.drain_at(minute)

    def limited(self, minute: int) -> bool:
        """Whether so many nodes refused within an hour that the group may stop replacing them."""
        return sum(minute - at <= 61 for at in self.refused.values()) >= 3

    def pending_at(self, minute: int) -> bool:
        return any(bought <= minute < paid for bought, (paid, _) in self.extensions.items())

    def seen(self, simulation: "Simulation", faults: Faults) -> Observations:
        """What the function sees, by its own clock."""
        minute = simulation.minute
        facts = Observations(
            now=at(minute) + self.skew,
            reservation_id=self.name,
            checkpoint_lead=LEAD,
            reservation=self.reservation_at(minute - faults.stale),
            environment=Environment(
                enabled=self.enabled, status="UPDATING" if minute in self.modified else "VALID"
            ),
            queue=Queue(
                enabled=simulation.queue_enabled,
                others_serve=None if faults.others_unseen else simulation.others_serve(self),
            ),
            nodes=frozenset(self.nodes),
            jobs=tuple(Job(job_id=job, nodes=nodes) for job, nodes in simulation.running.items()),
            extension_pending=self.pending_at(minute),
            launched={node: at(self.launched[node]) for node in self.nodes},
            refusals=tuple(
                Refusal(node=node, launched=at(launched), reason="15 of 16 Neuron devices")
                for node, launched in self.refused.items()
                if minute - launched < 60
            ),
            has_fleet=self.fleet,
            fleet=Fleet(
                desired=self.desired,
                most=NODES + 1,
                protected=frozenset(self.nodes.keys() & self.protected),
                exposed=frozenset(self.nodes.keys() - self.protected),
            )
            if self.fleet
            else None,
        )
        unseen: dict[str, Any] = dict.fromkeys(faults.blind)
        return replace(facts, **unseen) if unseen else facts

    def invoke(self, simulation: "Simulation", faults: Faults) -> None:
        """One run of the function, on what it can see, with what goes wrong."""
        facts = self.seen(simulation, faults)
        count = iter(range(10_000))

        def perform(action: Action) -> None:
            number = next(count)
            if number == faults.crash:
                raise Crash
            if number in faults.before:
                raise ConnectionError("the request was lost")
            simulation.do(action, self)
            if number in faults.after:
                raise ConnectionError("the answer was lost")

        def save(memory: LifecycleState) -> None:
            if faults.no_save:
                raise ConnectionError("the memory was not written")
            self.memory = memory.to_json()

        memory = None if faults.no_state else LifecycleState.from_json(self.memory, reservation_id=self.name)
        try:
            run_cycle(facts, memory, perform=perform, save=save)
        except Crash:
            return
        if faults == NO_FAULTS:
            simulation.check_after_clean_wake(self, facts)


class Simulation:
    """The queue, its compute environments, jobs and nodes."""

    def __init__(
        self,
        *blocks: Block,
        on_demand: bool = False,
        seed: int = 0,
        tolerance: int = 2,
        never_works: type[Action] | None = None,
    ) -> None:
        self.blocks = blocks
        self.on_demand = on_demand
        self.tolerance = (
            tolerance  # minutes in which a deadline may be missed: skew, and wake-ups that are lost
        )
        self.never_works = never_works
        self.minute = 0
        self.queue_enabled = True
        self.waiting = 0
        self.running: dict[str, frozenset[str]] = {}
        self.started: dict[str, int] = {}
        self.ended: dict[str, str] = {}
        self.warnings: dict[str, int] = {}  # job: minutes between the first word to its last node and its end
        self._random = random.Random(seed)  # noqa: S311 - chance that can be repeated
        self._serial = 0
        self._wrong: dict[str, int] = {}

    # States

    def copy(self) -> "Simulation":
        """The same state in a world of its own."""
        other = copy(self)
        other.blocks = tuple(
            replace(
                block,
                nodes=block.nodes.copy(),
                launched=block.launched.copy(),
                refused=block.refused.copy(),
                told=block.told.copy(),
                notices=block.notices.copy(),
                protected=block.protected.copy(),
            )
            for block in self.blocks
        )
        for name in ("running", "started", "ended", "warnings", "_wrong", "_random"):
            setattr(other, name, copy(getattr(self, name)))
        return other

    @property
    def state(self) -> Hashable:
        """All that can make a difference to what happens from here on; not what is over, such as jobs that ended."""
        return (
            (self.minute, self.queue_enabled, self.waiting, self._serial, self._random.getstate()),
            (len(self.started), *((job, nodes, self.started[job]) for job, nodes in self.running.items())),
            frozenset((what, minutes) for what, minutes in self._wrong.items() if minutes),
            *(
                (
                    (block.enabled, block.memory, tuple(block.nodes.items()), frozenset(block.told.items())),
                    (block.desired, frozenset(block.protected & block.nodes.keys())),
                )
                for block in self.blocks
            ),
        )

    # AWS

    def others_serve(self, block: Block) -> bool:
        return self.on_demand or any(
            other.enabled or other.serves_at(self.minute) for other in self.blocks if other is not block
        )

    def do(self, action: Action, block: Block) -> None:  # noqa: C901 - one case for each action
        if self.never_works is not None and isinstance(action, self.never_works):
            raise PermissionError("access denied")
        match action:
            case SetEnvironment(enabled=enabled):
                if self.minute in block.modified:
                    raise Violation(f"{self.minute}: {block.name} is changed while it is being modified")
                self._check_closing(block, enabled=enabled)
                block.enabled = enabled
            case SetFleet(nodes=nodes):
                self._check_size(block, nodes)
                block.desired = nodes
            case SetProtection(nodes=group, protected=protected):
                self._check_protection(block, group, protected=protected)
                block.protected = block.protected | group if protected else block.protected - group
            case SetQueue(enabled=enabled):
                self._check_closing_the_queue(block, enabled=enabled)
                self.queue_enabled = enabled
            case RequestCheckpoint(nodes=nodes):
                self._check_telling(nodes, block)
                for node in nodes:
                    block.told.setdefault(node, self.minute)
            case TerminateJob(job_id=job):
                self._check_termination(job, block)
                self._end(job, "terminated")
            case Notify():
                block.notices.append(action)

    def _check_closing(self, block: Block, *, enabled: bool) -> None:
        if not enabled and self._surely(block, "active") and (block.fleet or len(block.refused) < 3):
            raise Violation(f"{self.minute}: {block.name} is closed in paid time")

    def _check_size(self, block: Block, nodes: int) -> None:
        if nodes and block.state_at(self.minute) != "active" and block.state_at(self.minute - 3) != "active":
            raise Violation(f"{self.minute}: {block.name} wants {nodes} nodes outside its time")
        if nodes < NODES and self._surely(block, "active") and not block.limited(self.minute):
            raise Violation(f"{self.minute}: {block.name} wants {nodes} nodes in paid time")
        if nodes < len(block.nodes) and self._surely(block, "active"):
            raise Violation(f"{self.minute}: {block.name} gives running nodes up")
        if nodes > NODES:
            raise Violation(f"{self.minute}: {block.name} wants more nodes than it has")

    def _check_protection(self, block: Block, group: frozenset[str], *, protected: bool) -> None:
        if not group or not group <= block.nodes.keys():
            raise Violation(f"{self.minute}: {block.name} protects nodes that it does not have: {group}")
        if not protected and self._surely(block, "active"):
            raise Violation(f"{self.minute}: {block.name} gives nodes up in paid time")

    def _check_closing_the_queue(self, block: Block, *, enabled: bool) -> None:
        if not enabled and (self._surely(block, "scheduled", "active") or self.others_serve(block)):
            raise Violation(f"{self.minute}: the queue is closed though something serves it")

    def _check_telling(self, nodes: frozenset[str], block: Block) -> None:
        if not nodes or not nodes <= set(block.nodes):
            raise Violation(f"{self.minute}: {block.name} tells nobody, or nodes of others: {nodes}")

    def _check_termination(self, job: str, block: Block) -> None:
        if job not in self.running:
            return
        if not self.running[job] & set(block.nodes):
            raise Violation(f"{self.minute}: {block.name} ends {job} on nodes of others")
        if self._surely(block, "active"):
            raise Violation(f"{self.minute}: {job} is ended before the drain")

    def _surely(self, block: Block, *states: str) -> bool:
        """In one of these states and before its drain, whatever clock and EC2 may show.

        The clock may be a minute fast, and EC2 may for three minutes still show an old state or end.
        """
        return all(
            block.state_at(before) in states and self.minute + 1 < block.drain_at(before)
            for before in range(self.minute - 3, self.minute + 1)
        )

    def _end(self, job: str, how: str) -> None:
        nodes = self.running.pop(job, None)
        if nodes is None:
            return
        self.ended[job] = how
        words = [block.told[node] for block in self.blocks for node in nodes & set(block.told)]
        if len(words) == len(nodes):
            self.warnings[job] = self.minute - max(words)
        for block in self.blocks:
            for node in nodes & set(block.nodes):
                in_time = self.started[job] < block.drain_at(self.minute)
                if (
                    how not in ("finished", "lost")
                    and in_time
                    and block.told.get(node, self.minute) >= self.minute
                ):
                    raise Violation(f"{self.minute}: {job} is {how} on {node} and was never told")

    def submit(self, jobs: int = 1) -> None:
        if self.queue_enabled:
            self.waiting += jobs

    # Time

    def pass_minute(self) -> None:
        """Let jobs start and end, nodes come and go, and EC2 take what is its own."""
        for block in self.blocks:
            if block.state_at(self.minute) != "active" or self.minute >= block.terminates_at(self.minute):
                for job in [job for job, nodes in self.running.items() if nodes & set(block.nodes)]:
                    # A block that is released without warning takes its jobs with it, and nobody can tell them.
                    self._end(job, "lost" if block.over_from else "killed")
                block.left_to_ec2 += len(block.nodes)
                block.nodes.clear()
            elif block.fleet:
                self._scale(block)
            if any(paid == self.minute for paid, _ in block.extensions.values()):
                block.told.clear()  # another end: what was told is over
        for job in [job for job in self.running if self._random.random() < 0.01]:
            self._end(job, "finished")
        self._start_jobs()
        for block in self.blocks:
            busy = {node for nodes in self.running.values() for node in nodes & set(block.nodes)}
            block.busy_minutes += len(busy)
            for node in list(block.nodes):
                block.nodes[node] = 0 if node in busy else block.nodes[node] + 1
                if block.nodes[node] > SCALE_IN and not block.fleet:
                    del block.nodes[node]
        self.check()
        self.minute += 1

    def _scale(self, block: Block) -> None:
        """Do what an Auto Scaling group does: end unprotected nodes, replace lost ones, launch what is missing."""
        if self.minute in block.losing and block.nodes:
            self._end_node(block, min(block.nodes), "lost")
        for node in [node for node in block.nodes if node not in block.protected]:
            if len(block.nodes) > block.desired:
                self._end_node(block, node, "scaled in")
        while len(block.nodes) < block.desired:
            if not (node := self._launch(block)):
                return
            block.protected.add(node)

    def _launch(self, block: Block) -> str:
        """Launch a node; return its name, or nothing if it refuses to join."""
        self._serial += 1
        node = f"i-{block.name}-{self._serial}"
        block.spent += 1
        if self.minute in block.refusing:
            block.refused[node] = self.minute
            return ""
        block.nodes[node] = 0
        block.launched[node] = self.minute
        return node

    def _end_node(self, block: Block, node: str, how: str) -> None:
        for job in [job for job, nodes in self.running.items() if node in nodes]:
            if how != "lost":
                raise Violation(f"{self.minute}: the group ends {node}, on which {job} runs")
            self._end(job, how)
        del block.nodes[node]

    def _start_jobs(self) -> None:
        for block in self.blocks:
            launchable = block.state_at(self.minute) == "active" and self.minute < block.terminates_at(
                self.minute
            )
            while self.waiting and block.enabled and launchable:
                busy = {node for nodes in self.running.values() for node in nodes}
                free = [node for node in block.nodes if node not in busy]
                wanted = self._random.choice((1, 2))
                while len(free) < wanted and len(block.nodes) < NODES and not block.fleet:
                    if not (node := self._launch(block)):
                        break
                    free.append(node)
                if len(free) < wanted:
                    break
                self._start(frozenset(free[:wanted]))
        if self.waiting and self.on_demand:
            self._serial += 1
            self._start(frozenset({f"i-on-demand-{self._serial}"}))

    def _start(self, nodes: frozenset[str]) -> None:
        self.waiting -= 1
        job = f"job-{len(self.started)}"
        self.started[job] = self.minute
        self.running[job] = nodes

    # What must hold

    def check(self) -> None:
        """Nothing is wrong for longer than the tolerance."""
        for block in self.blocks:
            past = block.state_at(self.minute) == "active" and self.minute >= block.drain_at(self.minute)
            usable = block.usable_at(self.minute)
            self._note(f"{block.name} is open past its drain", block.enabled and past)
            self._note(
                f"{block.name} is closed in paid time",
                not block.enabled and block.usable_at(self.minute) and (block.fleet or not block.refused),
            )
            if block.fleet:
                self._note(f"{block.name} wants nodes outside its time", block.desired > 0 and not usable)
                short = usable and block.desired < NODES and not block.limited(self.minute)
                self._note(f"{block.name} wants too few nodes in paid time", short)
        serves = any(block.serves_at(self.minute) for block in self.blocks)
        self._note("the queue is closed though a block serves it", serves and not self.queue_enabled)
        nothing = not self.on_demand and not any(
            block.enabled or block.serves_at(self.minute) for block in self.blocks
        )
        self._note("the queue is open though nothing serves it", nothing and self.queue_enabled)

    def _note(self, what: str, wrong: bool) -> None:
        self._wrong[what] = self._wrong.get(what, 0) + 1 if wrong else 0
        if self._wrong[what] > self.tolerance:
            raise Violation(f"{self.minute}: {what} for more than {self.tolerance} minutes")

    def check_after_clean_wake(self, block: Block, facts: Observations) -> None:
        """After one undisturbed wake-up everything is as its clock says, at once."""
        window = facts.window
        if window is None or facts.reservation is None or self.never_works is SetEnvironment:
            return
        if facts.reservation.state not in ("scheduled", "active", "expired"):
            return
        if self.minute in block.modified or block.refused:
            return
        wanted = facts.reservation.state == "active" and facts.now < window.drain_at
        if block.fleet and block.desired != (NODES if wanted else 0) and self.never_works is not SetFleet:
            raise Violation(f"{self.minute}: {block.name} wants {block.desired} nodes after a wake-up")
        if block.enabled is not wanted:
            raise Violation(
                f"{self.minute}: {block.name} is {'open' if block.enabled else 'closed'} after a wake-up"
            )

    def check_notices(self, block: Block, expected: dict[str, int], *, extra: int) -> None:
        """Every notice was sent, and none more often than what went wrong can explain."""
        sent: dict[str, int] = {}
        for notice in block.notices:
            for name in notice.notices:
                sent[name] = sent.get(name, 0) + 1
        for name, times in expected.items():
            if not times <= sent.get(name, 0):
                raise Violation(f"{block.name}: {name} was sent {sent.get(name, 0)} times, not {times}")
        if sum(sent.values()) > sum(expected.values()) + extra:
            raise Violation(f"{block.name}: too many notices: {sent}")


def reports(block: Block) -> list[dict[str, Any]]:
    return [notice.report for notice in block.notices if notice.report]
