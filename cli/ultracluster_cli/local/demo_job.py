"""Train in the demo: from the start of the bought block over its checkpoint and drain into an extension."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_UP, Decimal
from pathlib import Path
from typing import Any, Final

from ultracluster_cli._aws.target import Target
from ultracluster_cli.local.demo_purchase import CommandRunner, Purchase, failed_command
from ultracluster_cli.output import say, short_time
from ultracluster_cli.progress import measure
from ultracluster_cli.project.project_files import shipped
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.jobs.describe import describe_job
from ultracluster_runtime.jobs.logs import find_stream, read_new
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError

_STEP: Final = re.compile(r"step (\d+) loss ([\d.]+)")
_CHECKPOINT: Final = re.compile(r"checkpoint of step (\d+)")
_FIRST: Final = re.compile(r"\d+ nodes, from step (\d+)")
_SHOWN: Final = 10  # lines of the loss curve, before the checkpoint and after the resume
_BAR: Final = 50  # with what stands before it, 79 columns
_PATIENCE_SECONDS: Final = 90.0
_POLL_SECONDS: Final = 0.1
_STEP_SECONDS: Final = 0.02
_DAYS: Final = 7
_EXTENDED_BEFORE_END: Final = timedelta(hours=2)


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainedJob:
    """A job of the demo and the job that continued it.

    Attributes:
        job: ID of the job that the drain ended.
        reason: Its status reason.
        checkpoint: Step of its checkpoint.
        resumed: ID of the job that continued it in the extension.
        first_step: Step at which that one began.
    """

    job: str
    reason: str
    checkpoint: int
    resumed: str
    first_step: int


def can_train(cluster: Cluster) -> bool:
    """Whether a cluster has a single job of several nodes, on which `ultracluster run` bases its own."""
    return len(cluster.jobs) == 1 and cluster.jobs[0].kind == "multi-node" and cluster.jobs[0].resume > 0


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoTraining:
    """Run `examples/hello-trainium` on a cluster of the demo with the commands of users."""

    target: Target
    run: CommandRunner
    steps: dict[str, float]

    def train(self, cluster: Cluster, purchase: Purchase) -> TrainedJob:
        """Submit the job (a message if it fails), and move the clock through the block, whose extension is paid after the drain."""
        region, client = cluster.region, self.target.client.in_region(cluster.region)
        with measure(self.steps, "training"):
            job = self._submit(cluster)
            start = short_time(datetime.fromisoformat(purchase.start))
            say(f"Job {job} waits for the block, which starts {start}")
            self._clock("--to", "start", region=region)
            log = _Log(job, client)
            log.show_steps(_SHOWN)
            end = datetime.fromisoformat(purchase.end)
            self._clock(_text(end - _EXTENDED_BEFORE_END), region=region)
            self._extend(cluster, purchase)
            self._clock("--to", "checkpoint", region=region)
            checkpoint = int(log.wait_for(_CHECKPOINT)[1])
            say(f"The launcher asked for a checkpoint: it is complete at step {checkpoint}")
            # While the payment of the extension is pending, jobs run until two minutes before EC2 terminates the nodes.
            self._clock(_text(end - timedelta(minutes=31)), region=region)
            ended = _wait_for_job(job, "FAILED", client)
            say(f"The job has ended: {ended['statusReason']}")
            self._clock(_text(end - timedelta(minutes=29)), region=region)
            resumed = self._resumed(cluster, job)
            log = _Log(resumed, client, highest=log.highest)
            first = int(log.wait_for(_FIRST)[1])
            say(f"Job {resumed} continues it on {cluster.nodes} nodes, from step {first}")
            log.show_steps(_SHOWN)
        return TrainedJob(
            job=job, reason=ended["statusReason"], checkpoint=checkpoint, resumed=resumed, first_step=first
        )

    def _submit(self, cluster: Cluster) -> str:
        folder = shipped("examples") / "hello-trainium"
        if folder.is_relative_to(Path.cwd()):
            folder = folder.relative_to(Path.cwd())
        place = ["--cluster", cluster.name, "--region", cluster.region]
        answer = self.run(
            *("run", "train.py", "--folder", str(folder), *place, "--nodes", str(cluster.nodes)),
            *("--launcher", "raw", "--env", "UC_CHECKPOINT_POLL_SECONDS=0.5", "--json"),
            *("--", "--checkpoints", "/fsx/hello", "--steps", "100000", "--step-seconds", str(_STEP_SECONDS)),
        )
        return str(answer["job"])

    def _clock(self, *words: str, region: str) -> None:
        answer = self.run("local", "clock", *words, "--wait", "0", "--region", region, "--json")
        failed = [call for call in answer["delivered"] if call["error"]]
        if failed:
            raise failed_command(f"{failed[0]['target']} failed: {failed[0]['error']}")
        now = datetime.fromisoformat(answer["now"])
        say(f"  It is {now:%Y-%m-%d %H:%M} UTC; {len(answer['delivered'])} calls of functions and notices")

    def _extend(self, cluster: Cluster, purchase: Purchase) -> None:
        from ultracluster_local.services.ec2.capacity_market import capacity_market  # noqa: PLC0415 - optional dependency

        # Paid after jobs are ended at the last moment, and before EC2 terminates the nodes.
        capacity_market(cluster.region).payment_takes = _EXTENDED_BEFORE_END - timedelta(
            minutes=30, seconds=30
        )
        order = f"{purchase.order}-more"
        fee = Decimal(purchase.fake_fee.partition(" ")[0]).quantize(Decimal("0.01"), rounding=ROUND_UP)
        approved = self.run(
            *("capacity", "extend", order, "--cluster", cluster.name),
            *("--reservation-id", purchase.reservation_id, "--region", cluster.region),
            *("--expected-end", purchase.end, "--days", str(_DAYS)),
            *("--max-fee", str(fee), "--month-cap", str(10 * fee), "--approver", "demo", "--json"),
        )
        token = approved["order"]["token"]
        row = self.run("capacity", "buy", order, "--token", token, "--json")["order"]
        say(
            f"  Order {order} is {row['state']} for {row['fee']} USD of fake money; its payment is made to take its time"
        )

    def _resumed(self, cluster: Cluster, job: str) -> str:
        def jobs() -> Any:
            return self.run("jobs", "list", cluster.name, "--region", cluster.region, "--json", quiet=True)[
                "jobs"
            ]

        rows = _wait(jobs, lambda rows: any(row["resumes"] == job for row in rows), f"resumed job of {job}")
        return str(next(row["job"] for row in rows if row["resumes"] == job))


class _Log:
    """The log of the main node of a job, as it grows."""

    def __init__(self, job: str, client: Clients, *, highest: float = 0.0) -> None:
        _wait_for_job(job, "RUNNING", client)
        self._lines = self._follow(job, client)
        self.highest = highest  # of the losses, for the scale of the bars

    @staticmethod
    def _follow(job: str, client: Clients) -> Iterator[str]:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        stream, token = find_stream(job, node=None, client=client), None
        while time.monotonic() < deadline:
            status = describe_job(job, client=client)["status"]
            for lines, following in read_new(stream, token=token, client=client):
                token = following
                yield from (line.message for line in lines)
            if status == "FAILED":
                break
            time.sleep(_POLL_SECONDS)
        raise _failed_job(job, client)

    def wait_for(self, pattern: re.Pattern[str]) -> re.Match[str]:
        return next(match for line in self._lines if (match := pattern.match(line)))

    def show_steps(self, count: int) -> None:
        for _ in range(count):
            step = self.wait_for(_STEP)
            loss = float(step[2])
            self.highest = max(self.highest, loss)
            bar = "█" * max(round(_BAR * loss / (self.highest or 1)), 1)
            say(f"  step {int(step[1]):6,}  loss {loss:.4f}  {bar}")


def _wait_for_job(job: str, status: str, client: Clients) -> Any:
    """Wait until a job is in a state; an error with its last words if it ends in another."""
    described = _wait(
        lambda: describe_job(job, client=client),
        lambda described: described["status"] in {status, "SUCCEEDED", "FAILED"},
        f"job {job} that is {status}",
    )
    if described["status"] != status:
        raise _failed_job(job, client)
    return described


def _failed_job(job: str, client: Clients) -> FindingsError:
    described, stream = describe_job(job, client=client), find_stream(job, node=None, client=client)
    words = [line.message for lines, _ in read_new(stream, token=None, client=client) for line in lines]
    last = f"; its last line: {words[-1]}" if words else ""
    return failed_command(
        f"job {job} is {described['status']}: {described.get('statusReason', 'no reason')}{last}"
    )


def _wait(read: Callable[[], Any], done: Callable[[Any], bool], what: str) -> Any:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not done(state := read()):
        if time.monotonic() > deadline:
            raise failed_command(f"no {what} within {_PATIENCE_SECONDS:.0f} s")
        time.sleep(_POLL_SECONDS)
    return state


def _text(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"
