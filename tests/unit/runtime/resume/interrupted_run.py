"""A training run over two Capacity Blocks, minute by minute: one of four nodes refuses at boot, one is lost in the run, and the
first block ends.

The life cycle of each block and the function that submits jobs again run as they do in Lambda, on real boto3 clients; EC2 and AWS
Batch are a fake that this module moves forward.
"""
# ruff: noqa: N802 - methods are named as the calls that they answer

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tests.unit.runtime.lifecycle.lifecycle_aws import ENVIRONMENT, OTHER, QUEUE, TOPIC
from tests.unit.runtime.resume.resume_aws import QUEUES, ResumeAws, multi_node

from ultracluster_runtime.lifecycle.driver import manage_block
from ultracluster_runtime.lifecycle.reader import ManagedBlock
from ultracluster_runtime.resume.sweep import sweep

BEGIN: Final = datetime(2026, 12, 1, 11, 0, tzinfo=UTC)
HOURS: Final = 5  # of each block; real ones last a day or more
GAP_HOURS: Final = 2
NODES: Final = 4
STEPS: Final = 390  # one takes a minute
CHECKPOINT_EVERY: Final = 30  # steps
STARTUP: Final = 5  # minutes until the first step of a job
BOOT: Final = 6  # minutes until a node joins
REFUSES_AFTER: Final = 4
HANGS: Final = 3  # minutes until the launcher ends a job that has lost a node
SCALE_IN: Final = 5
REASON: Final = "15 of 16 Neuron devices"


@dataclass(kw_only=True)
class Block:
    """A block and its compute environment."""

    reservation_id: str
    environment: str
    start: datetime
    end: datetime

    def state_at(self, now: datetime) -> str:
        return "scheduled" if now < self.start else "active" if now < self.end else "expired"

    @property
    def drain_at(self) -> datetime:
        return self.end - timedelta(minutes=40)

    def described(self, now: datetime) -> dict[str, Any]:
        return {
            "CapacityReservationId": self.reservation_id,
            "ReservationType": "capacity-block",
            "State": self.state_at(now),
            "InstanceType": "trn2.48xlarge",
            "TotalInstanceCount": NODES if now >= self.start else 0,
            "StartDate": self.start,
            "EndDate": self.end,
        }


@dataclass(kw_only=True)
class Node:
    """An instance."""

    block: Block
    launched: datetime
    bad: bool = False
    state: str = "running"
    reason: str = ""
    idle: int = 0

    def joined(self, now: datetime) -> bool:
        return self.state == "running" and not self.bad and (now - self.launched) >= timedelta(minutes=BOOT)


@dataclass(kw_only=True)
class Run:
    """A job on its nodes."""

    nodes: tuple[str, ...]
    progress: int
    starts_in: int = STARTUP
    asked: bool = False
    ends_in: int | None = None


@dataclass
class Story:
    """What happened."""

    notices: list[tuple[datetime, str, str]] = field(default_factory=list)
    jobs: list[tuple[str, str, int, int]] = field(default_factory=list)  # job, end, first step, last step
    minutes: Counter[str] = field(default_factory=Counter)  # node-minutes, by what they were spent on


class InterruptedRun(ResumeAws):
    """The two blocks, their nodes, the queue and the run."""

    tables = frozenset({"states", "endings"})

    def __init__(self, *, resume: int = 5, refusals: int = 1, loses_a_node: bool = True) -> None:
        first = Block(
            reservation_id="cr-0123456789abcdef0",
            environment=ENVIRONMENT,
            start=BEGIN + timedelta(minutes=30),
            end=BEGIN + timedelta(minutes=30, hours=HOURS),
        )
        start = first.end + timedelta(hours=GAP_HOURS)
        second = Block(
            reservation_id="cr-0fedcba9876543210",
            environment=OTHER,
            start=start,
            end=start + timedelta(hours=HOURS),
        )
        super().__init__(
            multi_node("11111111-0000", status="RUNNABLE", tags={"ultracluster:resume": str(resume)})
        )
        self.blocks = (first, second)
        self.now = BEGIN
        self.nodes: dict[str, Node] = {}
        self.runs: dict[str, Run] = {}
        self.saved = 0
        self.story = Story()
        self._refusals = refusals
        self._loss_at = first.start + timedelta(minutes=130) if loses_a_node else None
        self.environments[OTHER] = self._environment("other", "ENABLED") | {
            "computeResources": {"type": "EC2", "maxvCpus": 1, "subnets": []}
        }
        for block in self.blocks:
            resources = self.environments[block.environment]["computeResources"]
            resources["launchTemplate"] = {"launchTemplateId": block.reservation_id, "version": "7"}
            self.templates[block.reservation_id] = block.reservation_id

    # Time

    def play(self) -> Story:
        """Let both blocks pass."""
        while self.now <= self.blocks[-1].end + timedelta(minutes=2):
            told = len(self.published)
            self.reservations = {block.reservation_id: block.described(self.now) for block in self.blocks}
            for block in self.blocks:
                manage_block(
                    self._managed(block), self.clients, self.now, owner=f"{block.reservation_id} {self.now}"
                )
            sweep(QUEUES, self.clients, self.now, owner=f"resume {self.now}")
            for notice in self.published[told:]:
                self.story.notices.append((self.now, notice["Subject"], notice["Message"]))
            self._pass_minute()
            self.now += timedelta(minutes=1)
        return self.story

    @staticmethod
    def _managed(block: Block) -> ManagedBlock:
        return ManagedBlock(
            reservation_id=block.reservation_id,
            compute_environment=block.environment,
            job_queue=QUEUE,
            topic=TOPIC,
            state_table="states",
            checkpoint_lead=timedelta(minutes=20),
        )

    def _pass_minute(self) -> None:
        self._move_nodes()
        self._count()
        for job_id, run in list(self.runs.items()):
            self._train(job_id, run)
        self._schedule()

    def _move_nodes(self) -> None:
        busy = {node for run in self.runs.values() for node in run.nodes}
        for name, node in self.nodes.items():
            age = self.now - node.launched
            if node.state == "running" and node.bad and age >= timedelta(minutes=REFUSES_AFTER):
                node.state, node.reason = "shutting-down", "Client.InstanceInitiatedShutdown"
                self.shut_down[name] = ""
            elif node.state == "shutting-down" and age >= timedelta(minutes=REFUSES_AFTER + 2):
                node.state = "terminated"
                self.shut_down[name] = f"ultracluster: refused to join the cluster: {REASON}\r\n"
            elif node.state == "running" and self.now >= node.block.end - timedelta(minutes=30):
                self._take(name, "Server.ScheduledStop")
            node.idle = 0 if name in busy or not node.joined(self.now) else node.idle + 1
        if self._loss_at is not None and self.now >= self._loss_at and self.runs:
            ((job_id, run),) = self.runs.items()
            self._loss_at = None
            self._take(run.nodes[2], "Server.InternalError")
            self.described[f"{job_id}#2"] |= {
                "status": "FAILED",
                "statusReason": f"Host EC2 (instance {run.nodes[2]}) terminated.",
                "stoppedAt": self._milliseconds(),
            }
            run.ends_in = HANGS

    def _take(self, name: str, reason: str) -> None:
        self.nodes[name].state, self.nodes[name].reason = "terminated", reason

    def _count(self) -> None:
        for block in self.blocks:
            if block.state_at(self.now) != "active":
                continue
            running = [run for run in self.runs.values() if self.nodes[run.nodes[0]].block is block]
            if running:
                (run,) = running
                spent = "hanging" if run.ends_in is not None else "starting" if run.starts_in else "trained"
            elif self.now >= block.drain_at:
                spent = "after the drain"
            else:
                waits = any(job["status"] == "RUNNABLE" for job in self.described.values())
                spent = "waiting for nodes" if waits else "nothing to run"
            self.story.minutes[spent] += NODES

    def _train(self, job_id: str, run: Run) -> None:
        if run.ends_in is not None:
            run.ends_in -= 1
            if run.ends_in == 0:
                self._end(job_id, "FAILED", "Essential container in task exited")
            return
        if run.starts_in:
            run.starts_in -= 1
            return
        run.progress += 1
        if run.asked or run.progress % CHECKPOINT_EVERY == 0:
            self.saved, run.asked = run.progress, False
        if run.progress == STEPS:
            self._end(job_id, "SUCCEEDED", "")

    def _end(self, job_id: str, status: str, reason: str, **members: Any) -> None:
        run = self.runs.pop(job_id)
        if status == "FAILED":
            self.story.minutes["trained"] -= NODES * (run.progress - self.saved)
            self.story.minutes["trained again later"] += NODES * (run.progress - self.saved)
        ended = {"status": status, "statusReason": reason, "stoppedAt": self._milliseconds(), **members}
        for name in (job_id, *(f"{job_id}#{index}" for index in range(NODES))):
            if self.described[name]["status"] == "RUNNING":
                self.described[name] |= ended
        first = self.described[job_id]["firstStep"]
        self.story.jobs.append((job_id, reason or status, first, run.progress))

    def _schedule(self) -> None:
        waiting = [job_id for job_id, job in self.described.items() if job["status"] == "RUNNABLE"]
        for block in self.blocks:
            if self.environments[block.environment]["state"] != "ENABLED":
                continue
            alive = [
                name for name, node in self.nodes.items() if node.block is block and node.state == "running"
            ]
            for name in alive:
                if not waiting and self.nodes[name].idle > SCALE_IN:
                    self._take(name, "Client.UserInitiatedShutdown")
            if not waiting or self.runs or block.state_at(self.now) != "active":
                continue
            # A node that shuts down still holds its place in the reservation.
            held = [
                name
                for name, node in self.nodes.items()
                if node.block is block and node.state in ("running", "shutting-down")
            ]
            for _ in range(NODES - len(held)):
                bad = self._refusals > 0 and len(self.nodes) >= NODES - 1
                self._refusals -= bad
                self.nodes[f"i-{len(self.nodes) + 1:017x}"] = Node(block=block, launched=self.now, bad=bad)
            joined = [name for name in alive if self.nodes[name].joined(self.now)]
            if len(joined) >= NODES:
                self._start(waiting[0], tuple(joined[:NODES]))

    def _start(self, job_id: str, nodes: tuple[str, ...]) -> None:
        started = {"status": "RUNNING", "startedAt": self._milliseconds(), "firstStep": self.saved}
        self.described[job_id] |= started
        for index, node in enumerate(nodes):
            name = self.environments[self.nodes[node].block.environment]["ecsClusterArn"].rpartition("/")[2]
            arn = f"arn:aws:ecs:us-east-2:123456789012:container-instance/{name}/{node}"
            self.described[f"{job_id}#{index}"] = {
                "jobId": f"{job_id}#{index}",
                "jobName": "node",
                "jobQueue": QUEUE,
                "jobDefinition": "d",
                "status": "RUNNING",
                "startedAt": 1,
                "container": {"containerInstanceArn": arn},
            }
        self.runs[job_id] = Run(nodes=nodes, progress=self.saved)

    def _milliseconds(self) -> int:
        return int(self.now.timestamp() * 1000)

    # What AWS answers

    def _DescribeInstances(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        names = {each["Name"]: each["Values"] for each in asked["Filters"]}
        (wanted,) = [values[0] for name, values in names.items() if name != "instance-state-name"]
        shown = [
            {
                "InstanceId": name,
                "State": {"Name": node.state},
                "LaunchTime": node.launched,
                "StateReason": {"Code": node.reason},
                # An instance that has ended may no longer name its reservation.
                **({"CapacityReservationId": wanted} if node.state != "terminated" else {}),
            }
            for name, node in self.nodes.items()
            if (
                node.block.reservation_id == wanted
                and node.state in names["instance-state-name"]
                and self.now - node.launched < timedelta(hours=1)
            )
            or (
                node.block.reservation_id == wanted
                and node.state == "running"
                and "running" in names["instance-state-name"]
            )
        ]
        return {"Reservations": [{"Instances": shown}]}

    def _ListJobs(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if "multiNodeJobId" not in asked:
            return super()._ListJobs(asked)
        shown = [
            {"jobId": name, "jobName": "node"}
            for name, job in self.described.items()
            if name.startswith(f"{asked['multiNodeJobId']}#") and job["status"] == asked["jobStatus"]
        ]
        return {"jobSummaryList": shown}

    def _DescribeJobs(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        shown = super()._DescribeJobs(asked)["jobs"]
        return {"jobs": [{key: value for key, value in job.items() if key != "firstStep"} for job in shown]}

    def _TerminateJob(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self._end(asked["jobId"], "FAILED", asked["reason"], isTerminated=True)
        return {}

    def _SendCommand(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        for run in self.runs.values():
            run.asked = run.asked or bool(set(run.nodes) & set(asked["InstanceIds"]))
        return {}
