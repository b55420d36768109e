"""The whole life of a cluster on the local AWS, from the standing order to the report, by the commands that a person types."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.integration.page_account import BLOCK, IMAGE, REGION, Account
from tests.unit.docs.pages import ROOT
from tests.unit.scripts.fabric import HERE as FABRIC

from ultracluster_local.jobs.settings import JobSettings
from ultracluster_local.services.ec2.capacity_market import CapacityMarket
from ultracluster_runtime.purchasing.ec2_driver import Ec2Driver

__all__ = ["CLUSTER", "Drill"]

CLUSTER = "quickstart"
ORDER, MORE = "december", "december-more"
NODES = 2
PATIENCE = 120.0
STATES = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
TRAINING = ROOT / ".ultracluster" / "training" / "bin"
"""Programs of `make training`. Without them, jobs run the same program with this Python, and without torchrun."""


@dataclass
class Drill:
    """A life of a cluster.

    Attributes:
        account: The local AWS, and the folder of the person.
        launched_by: What starts the nodes: ``batch`` or ``auto-scaling``.
        script: The commands with their exit codes and what they said, in order.
    """

    account: Account
    launched_by: str
    script: list[tuple[str, int, str]] = field(default_factory=list)
    report: Any = None

    @property
    def market(self) -> CapacityMarket:
        return self.account.local.capacity_market(REGION)

    # What a person does

    def type(self, line: str, *, code: int = 0) -> str:
        """Type a command that ends with this code; return all that it says."""
        ended, out, screen = self.account.type(*line.split())
        said = screen + out
        self.script.append((line, ended, said))
        assert ended == code, f"{line}\n{said}"
        assert "Traceback" not in said, f"{line}\n{said}"
        return said

    def ask(self, line: str) -> Any:
        """Type a command that answers in JSON."""
        ended, out, screen = self.account.type(*line.split(), "--json")
        self.script.append((line, ended, screen))
        assert ended == 0, f"{line}\n{screen}"
        return json.loads(out)

    def clock(self, *words: str) -> None:
        self.type(" ".join(["local clock", *words, "--wait 0"]))

    # The chapters

    def prepare(self) -> None:
        """Write the rollout file, which names an order, and what its jobs need."""
        self.account.export_ledger()
        self.account.seed()
        self.market.reservations.pop(BLOCK)  # nothing is bought yet
        launcher = "torchrun" if (TRAINING / "torchrun").exists() else "raw"
        program = str(ROOT / "examples/hello-trainium/train.py")
        steps = ["--checkpoints", "/fsx/run", "--steps", "100000", "--step-seconds", "0.05"]
        train = [program, *steps] if launcher == "torchrun" else ["python3", program, *steps]
        self.account.write_rollout(
            nodes=NODES,
            capacity={"order": ORDER, "launched_by": self.launched_by},
            jobs=[
                {
                    "name": "precompile",
                    "kind": "precompile",
                    "phase": "compile",
                    "image": IMAGE,
                    "launcher": launcher,
                    "command": [*train],
                },
                {
                    "name": "pretrain",
                    "nodes": NODES,
                    "image": IMAGE,
                    "launcher": launcher,
                    "processes_per_node": 1,
                    "command": train,
                    "environment": {"UC_CHECKPOINT_POLL_SECONDS": "0.2"},
                    "gates": {"fabric": True},
                    "depends_on": ["precompile"],
                    "resume": 10,
                },
            ],
        )
        self.account.local.run_jobs(JobSettings(images={IMAGE.partition(":")[0]: self.programs()}))

    def programs(self) -> Path:
        """Return the folder of programs of the image: Python, torchrun, and fakes of what needs Neuron or EFA devices."""
        folder = self.account.folder / "image"
        folder.mkdir()
        python = TRAINING if (TRAINING / "torchrun").exists() else Path(__import__("sys").executable).parent
        fakes = {
            **{
                name: f'PYTHONPATH={ROOT}/constructs exec {python}/{name} "$@"'
                for name in ("python3", "torchrun")
            },
            "fi_info": f'FAKE_EFA=16 exec {FABRIC}/fakes/fi_info "$@"',
            "nccom-test": f'RUN_FOLDER={folder} exec {FABRIC}/fakes/nccom-test "$@"',
            "neuron_parallel_compile": 'echo "compiled the graphs of $*"',
        }
        for name, command in fakes.items():
            (folder / name).write_text(f"#!/bin/sh\n{command}\n")
            (folder / name).chmod(0o755)
        return folder

    def buy(self) -> str:
        """Approve a standing order, wait until it is on offer, and buy it; return the reservation."""
        today = datetime.now(UTC).date()
        days = f"{today} {today + timedelta(days=30)}"
        what = f"--instance-type trn2.48xlarge --nodes {NODES} --days 2 --between {days} --regions {REGION}"
        self.market.sold_out = True
        assert self.ask(f"capacity find {what}")["offerings"] == []
        money = "--max-fee 4000 --month-cap 8000 --approver Ada"
        approved = self.ask(f"capacity approve {ORDER} --cluster {CLUSTER} {what} {money}")
        looks = iter(range(3))

        def later(_: float) -> None:
            self.market.sold_out = next(looks, None) is not None

        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(Ec2Driver.__init__.__kwdefaults__, "sleep", later)
            self.type(f"capacity buy {ORDER} --wait --token {approved['order']['token']}")
        self.clock("+13h")
        self.type(f"capacity reconcile {ORDER}")
        self.type("capacity resolve rollout.yaml --write")
        (row,) = self.ask(f"capacity status {ORDER}")["orders"]
        assert row["state"] == "PAID"
        return str(row["reservations"])

    def deploy(self) -> None:
        """Rehearse, deploy, and read the notifications from now on."""
        self.type("validate rollout.yaml")
        self.type("deploy rollout.yaml --without-capacity --yes")
        self.type("plan rollout.yaml")
        self.type("deploy rollout.yaml --yes")
        sns, sqs = self.account.client("sns"), self.account.client("sqs")
        queue = sqs.create_queue(QueueName="people")["QueueUrl"]
        (arn,) = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"].values()
        for topic in sns.list_topics()["Topics"]:
            sns.subscribe(TopicArn=topic["TopicArn"], Protocol="sqs", Endpoint=arn)

    def train(self) -> None:
        """Submit the job with its precompilation and its gate, and start the block."""
        self.type(f"jobs submit {CLUSTER} pretrain")
        self.wait_for("precompile", "SUCCEEDED")
        self.clock("--to start")
        self.wait_for("pretrain-fabric", "SUCCEEDED")
        self.follow(self.wait_for("pretrain", "RUNNING"))

    def lose_a_node(self) -> None:
        """Replace a node under its job, which is submitted again."""
        job = self.wait_for("pretrain", "RUNNING")
        node = self.ask("nodes list quickstart")["nodes"][-1]["node"]
        self.type(f"nodes replace {node} --yes")
        self.wait_for(job, "FAILED")
        self.clock("+3m")
        self.follow(self.wait_for("pretrain", "RUNNING"))

    def extend(self) -> None:
        """Buy an extension that is paid late, after the jobs were drained; they resume in it."""
        (block,) = self.market.reservations.values()
        _, end = block.period()
        self.clock(f"{end - timedelta(hours=2):%Y-%m-%dT%H:%M:%SZ}")
        self.market.payment_takes = timedelta(minutes=89, seconds=30)
        what = f"--reservation-id {block.reservation_id} --region {REGION} --days 1 --cluster {CLUSTER}"
        money = f"--max-fee 2000 --month-cap 8000 --approver Ada --expected-end {end:%Y-%m-%dT%H:%M:%SZ}"
        approved = self.ask(f"capacity extend {MORE} {what} {money}")
        self.type(f"capacity buy {MORE} --token {approved['order']['token']}")
        job = self.wait_for("pretrain", "RUNNING")
        self.clock("--to checkpoint")
        self.until(lambda: len(self.checkpoints(job)) > 0, lambda: self.log(job))
        self.clock(f"{end - timedelta(minutes=31):%Y-%m-%dT%H:%M:%SZ}")
        self.wait_for(job, "FAILED")
        self.clock(f"{end - timedelta(minutes=29):%Y-%m-%dT%H:%M:%SZ}")
        self.follow(self.wait_for("pretrain", "RUNNING"))
        self.type(f"capacity reconcile {MORE}")
        self.type("capacity resolve rollout.yaml --write")

    def end(self) -> None:
        """Let the extension end, look, report, and destroy."""
        job = self.wait_for("pretrain", "RUNNING")
        self.clock("--to checkpoint")
        self.until(lambda: len(self.checkpoints(job)) > 0, lambda: self.log(job))
        self.clock("--to drain")
        self.wait_for(job, "FAILED")
        self.type("status rollout.yaml --picture timeline.svg")
        self.clock("--to end")
        self.type(f"dashboard --cluster {CLUSTER} --region {REGION} --hours 74 --save recording.json")
        self.report = self.ask("cost report rollout.yaml")
        self.type("destroy rollout.yaml --yes")

    # What is seen

    def jobs(self) -> list[dict[str, Any]]:
        """Return the last attempts of all jobs, in the order of their submission."""
        batch = self.account.client("batch")
        return (
            batch.describe_jobs(jobs=self.account.job_ids(*STATES))["jobs"]
            if self.account.job_ids(*STATES)
            else []
        )

    def wait_for(self, named: str, state: str) -> str:
        """Wait until the job of an ID, or the last one of a name, is in a state; return its ID."""
        found: list[dict[str, Any]] = []

        def there() -> bool:
            jobs = [
                job for job in self.jobs() if named in (job["jobId"], job["jobName"].partition("-resume-")[0])
            ]
            found[:] = sorted(jobs, key=lambda job: job["createdAt"])[-1:]
            return bool(found) and found[0]["status"] == state

        self.until(there, lambda: f"{named} is not {state}: {found}")
        return str(found[0]["jobId"])

    def until(self, seen: Callable[[], bool], explain: Callable[[], str]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not seen():
            assert time.monotonic() < deadline, explain()
            time.sleep(0.2)

    def log(self, job: str) -> str:
        return self.account.type("jobs", "logs", job)[1]

    def checkpoints(self, job: str) -> list[int]:
        return [int(step) for step in re.findall(r"checkpoint of step (\d+)", self.log(job))]

    def follow(self, job: str) -> None:
        """Wait until a job has made steps, and let minutes pass."""
        self.until(lambda: "loss" in self.log(job), lambda: self.log(job))
        for _ in range(3):
            self.clock("+1m")
