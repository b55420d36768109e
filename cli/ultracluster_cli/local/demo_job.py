"""Train in two chapters of the demo: from the start of the block over its checkpoint and drain into an extension."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from ultracluster_cli._aws.target import Target
from ultracluster_cli.local.demo_purchase import CommandRunner, Purchase, chapter, failed_command, usd
from ultracluster_cli.output import echo, short_time
from ultracluster_cli.progress import doing, measure
from ultracluster_cli.project.shipped import shipped
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.jobs.describe import describe_job
from ultracluster_runtime.jobs.logs import find_stream, read_new
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError

_STEP: Final = re.compile(r"step \d+ loss ([\d.]+)")
_CHECKPOINT: Final = re.compile(r"checkpoint of step (\d+)")
_FIRST: Final = re.compile(r"\d+ nodes, from step (\d+)")
_SHOWN: Final = 10  # points of the loss curve
_LEVELS: Final = "▁▂▃▄▅▆▇█"
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

    def train(self, cluster: Cluster, purchase: Purchase) -> TrainedJob:
        """Submit the job (a message if it fails), and move the clock through the block, whose extension is paid after the drain."""
        region, client = cluster.region, self.target.client.in_region(cluster.region)
        with measure("training"), doing("Training"):
            chapter(5, "Train", "a job waits in the queue, and starts with its block.")
            job = self._submit(cluster)
            start = self._clock("--to", "start", region=region)
            log = _Log(job, client)
            echo(f"  {start}: the block starts. {log.losses()}")
            chapter(6, "Outlive the block", "more days are bought but paid late, so the job resumes.")
            end = datetime.fromisoformat(purchase.end)
            self._clock(_text(end - _EXTENDED_BEFORE_END), region=region)
            self._extend(cluster, purchase)
            asked = self._clock("--to", "checkpoint", region=region)
            checkpoint = int(log.wait_for(_CHECKPOINT)[1])
            echo(f"  {asked}: asked for a checkpoint, the job writes it at step {checkpoint}.")
            # While the payment of the extension is pending, jobs run until two minutes before EC2 terminates the nodes.
            ended_at = self._clock(_text(end - timedelta(minutes=31)), region=region)
            ended = _wait_for_job(job, "FAILED", client)
            echo(f"  {ended_at}: the nodes are about to be terminated, so the job is ended.")
            paid = self._clock(_text(end - timedelta(minutes=29)), region=region)
            resumed = self._resumed(cluster, job)
            log = _Log(resumed, client)
            first = int(log.wait_for(_FIRST)[1])
            loss = float(log.wait_for(_STEP)[1])
            echo(f"  {paid}: paid; the job resumes at step {first}, with loss {loss:.2f}.")
        return TrainedJob(
            job=job, reason=ended["statusReason"], checkpoint=checkpoint, resumed=resumed, first_step=first
        )

    def _submit(self, cluster: Cluster) -> str:
        folder = shipped("examples") / "hello-trainium"
        if folder.is_relative_to(Path.cwd()):
            folder = folder.relative_to(Path.cwd())
        answer = self.run(
            *("run", "train.py", "--folder", str(folder), "--nodes", str(cluster.nodes)),
            *("--", "--checkpoints", "/fsx/hello", "--steps", "100000", "--step-seconds", str(_STEP_SECONDS)),
            more=[
                *("--cluster", cluster.name, "--region", cluster.region),
                *("--env", "UC_CHECKPOINT_POLL_SECONDS=0.5", "--detach"),
            ],
        )
        return str(answer["job"])

    def _clock(self, *words: str, region: str) -> str:
        """Move the clock, and return the time that it is then."""
        more = [*words, "--wait", "0", "--region", region]
        answer = self.run("local", "clock", more=more, shown=False)
        failed = [call for call in answer["delivered"] if call["error"]]
        if failed:
            raise failed_command(f"{failed[0]['target']} failed: {failed[0]['error']}")
        return short_time(datetime.fromisoformat(answer["now"]))

    def _extend(self, cluster: Cluster, purchase: Purchase) -> None:
        from ultracluster_local.services.ec2.capacity_market import capacity_market  # noqa: PLC0415 - optional dependency

        # Paid after jobs are ended at the last moment, and before EC2 terminates the nodes.
        capacity_market(cluster.region).payment_takes = _EXTENDED_BEFORE_END - timedelta(
            minutes=30, seconds=30
        )
        order = f"{purchase.order}-more"
        approved = self.run(
            *("capacity", "extend", order, "--reservation-id", purchase.reservation_id),
            *("--region", cluster.region, "--days", str(_DAYS)),
            # A person is asked for these.
            more=[
                *("--cluster", cluster.name, "--expected-end", purchase.end, "--max-fee", purchase.fee),
                *("--month-cap", str(10 * Decimal(purchase.fee)), "--approver", "demo"),
            ],
        )
        token = approved["order"]["token"]
        row = self.run("capacity", "buy", order, more=["--token", token], shown=False)["order"]
        end = short_time(datetime.fromisoformat(purchase.end) + timedelta(days=_DAYS))
        echo(f"  Bought until {end}, for {usd(row['fee'])}.")

    def _resumed(self, cluster: Cluster, job: str) -> str:
        def jobs() -> Any:
            listed = self.run("jobs", "list", cluster.name, "--region", cluster.region, shown=False)
            return listed["jobs"]

        rows = _wait(jobs, lambda rows: any(row["resumes"] == job for row in rows), f"resumed job of {job}")
        return str(next(row["job"] for row in rows if row["resumes"] == job))


class _Log:
    """The log of the main node of a job, as it grows."""

    def __init__(self, job: str, client: Clients) -> None:
        _wait_for_job(job, "RUNNING", client)
        self._lines = self._follow(job, client)

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

    def losses(self) -> str:
        """Return the next losses as a curve, with the first and the last one."""
        values = [float(self.wait_for(_STEP)[1]) for _ in range(_SHOWN)]
        curve = "".join(_LEVELS[round((len(_LEVELS) - 1) * value / max(values))] for value in values)
        return f"Loss {values[0]:.2f} {curve} {values[-1]:.2f}."


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
