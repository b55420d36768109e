"""The whole life of a cluster on the local AWS, from the standing order to the report, by the commands that a person types."""

import itertools
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from moto.ec2.models import ec2_backends
from moto.ec2.responses import general
from tests.integration.drill_faults import COMMAND_FAULTS, FUNCTION_FAULTS, Wire, WireFault, names
from tests.integration.page_account import BLOCK, IMAGE, REGION, Account
from tests.training.nodes import free_port
from tests.unit.docs.pages import ROOT
from tests.unit.scripts.fabric import HERE as FABRIC

from ultracluster_cli.operate import nodes
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.jobs import runner
from ultracluster_local.jobs.nodes import launch
from ultracluster_local.jobs.settings import JobSettings
from ultracluster_local.services.ec2.capacity_market import CapacityMarket
from ultracluster_runtime.purchasing.ec2_driver import Ec2Driver

__all__ = ["CLUSTER", "Drill", "chosen_faults"]

CLUSTER = "quickstart"
ORDER, MORE = "december", "december-more"
NODES = 2
PATIENCE = 240.0  # for machines that do much else
STEPS = "--checkpoints /fsx/run --steps 100000 --step-seconds 0.1 --metrics-seconds 0.5"
TIMES = {
    "UC_LOST_SECONDS": 18,
    "UC_RENDEZVOUS_POLL": 0.3,
    "UC_RENDEZVOUS_LEASE": 8,
    "UC_RENDEZVOUS_DEADLINE": 45,
}
"""Variables of the image: a job misses its nodes in real time, and the clock moves after that."""
MINUTE = timedelta(minutes=1)
STATES = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
TRAINING = ROOT / ".ultracluster" / "training" / "bin"
"""Programs of `make training`. Without them, jobs run the same program with this Python, and without torchrun."""
COMMANDS = (
    *("capacity find", "capacity approve", "capacity reconcile", "capacity resolve", "capacity status"),
    *(
        "capacity extend",
        "plan",
        "deploy",
        "jobs submit",
        "jobs list",
        "jobs why",
        "nodes list",
        "nodes replace",
    ),
    *("status", "dashboard", "cost report", "destroy"),
)
DONE = ("nodes replace", "capacity approve", "capacity extend", "destroy")
"""Commands that refuse what was done already."""

CLOCKS = ("start", "checkpoint", "drain", "minute")
WORLD = ("price", "killed", "payment", "lost-events", "late-events", "refusal", "host")


def chosen_faults(seed: int) -> dict[str, str]:
    """Return twenty faults by their places: twelve commands, three moves of the clock, and five of the world."""
    chance = random.Random(seed)  # noqa: S311 - a choice, not a secret
    commands = {place: chance.choice(COMMAND_FAULTS) for place in chance.sample(COMMANDS, 12)}
    clocks = {f"clock {place}": chance.choice(FUNCTION_FAULTS) for place in chance.sample(CLOCKS, 3)}
    return commands | clocks | dict.fromkeys(chance.sample(WORLD, 5), "world")


@dataclass
class Drill:
    """A life of a cluster.

    Attributes:
        account: The local AWS, and the folder of the person.
        launched_by: What starts the nodes: ``batch`` or ``auto-scaling``.
        faults: Faults that are still to come, by place.
        told: What the product said about each fault.
        untold: What it said about faults that it did not name.
        lives: First step and checkpoints of each attempt of the training, in order.
        script: The commands with their exit codes, in order.
    """

    account: Account
    launched_by: str
    faults: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    untold: dict[str, str] = field(default_factory=dict)
    script: list[tuple[str, int]] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    late_report: Any = None
    report: Any = None
    lives: list[tuple[int, list[int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.wire = Wire(self.account.local)
        self.market: CapacityMarket = self.account.local.capacity_market(REGION)

    # What a person does

    def type(self, line: str, *, json_too: bool = False) -> Any:
        """Type a command, again after a fault; return what it says, or its JSON."""
        words = line.split()
        place = next((place for place in self.faults if line.startswith(place)), None)
        if place is not None:
            self._through(place, words)
        ended, said, out = self._typed(words + ["--json"] * json_too)
        done = place in DONE and ended == 2  # the answer was lost, not the deed
        assert ended == 0 or done, f"{line}\n{said}"
        return json.loads(out) if json_too and not done else said

    def _typed(self, words: list[str]) -> tuple[int, str, str]:
        ended, out, screen = self.account.type(*words)
        line = " ".join(words)
        self.script.append((line, ended))
        assert "Traceback" not in screen, f"{line}\n{screen}"
        assert "a bug in ultracluster" not in screen, f"{line}\n{screen}"
        return ended, screen + out, out

    def _through(self, place: str, words: list[str]) -> None:
        """Type a command while AWS has a fault, which it must name."""
        fault = WireFault(self.faults.pop(place))
        self.wire.fault = fault
        _, said, _ = self._typed(words)
        self.wire.fault = None
        self._judge(place, fault, said, named=names(fault.kind, said))

    def _judge(self, place: str, fault: WireFault, said: str, *, named: bool) -> None:
        """Note what was said of a fault."""
        what = f"{place}: {fault.operation} {fault.kind}"
        said = re.sub(r"(\x1b\[2m[^\x1b]*\x1b\[0m\x1b\[K\s*)+(\x1b\[K)?", "", said)  # how long it has taken
        words = re.sub(r"\s+", " ", said).strip()
        (self.told if named and fault.struck else self.untold)[what] = words

    def clock(self, *words: str, place: str = "minute") -> None:
        """Move the clock, and a minute more if functions failed meanwhile, since they run every minute."""
        line = ["local", "clock", *words, "--wait", "0"]
        if (kind := self.faults.pop(f"clock {place}", None)) is None:
            self._typed(line)
            return
        fault = WireFault(kind, by_person=False)
        self.wire.fault = fault
        _, said, _ = self._typed(line)
        self.wire.fault = None
        self._judge(f"clock {place}", fault, said, named="failed: " in said)
        self._typed(["local", "clock", "+1m", "--wait", "0"])

    def until_told(self, place: str, words: str) -> None:
        """Move the clock minute by minute until the people in `notify` are told of a fault."""
        for _ in range(30):
            self.hear()
            if found := [message for message in self.messages if re.search(words, message)]:
                self.told[place] = found[0].splitlines()[0]
                return
            self.clock("+1m")
        raise AssertionError(f"{place}: nobody was told {words!r}: {self.messages}")

    def world(self, fault: str) -> bool:
        """Whether a fault of the world is to come now."""
        return self.faults.pop(fault, None) is not None

    # The chapters

    def live(self) -> None:
        """Live from the first chapter to the last."""
        chapters = self.prepare, self.buy, self.deploy, self.train, self.lose_a_node, self.extend, self.end
        for chapter in chapters:
            chapter()

    def prepare(self) -> None:
        """Write the rollout file, which names an order, and what its jobs need."""
        self.account.export_ledger()
        self.account.seed()
        self.market.reservations.pop(BLOCK)  # nothing is bought yet
        launcher = "torchrun" if (TRAINING / "torchrun").exists() else "raw"
        program = str(ROOT / "examples/hello-trainium/train.py")
        steps = STEPS.split()
        train = [program, *steps] if launcher == "torchrun" else ["python3", program, *steps]
        job = {"image": IMAGE, "launcher": launcher, "command": train}
        jobs: list[dict[str, Any]] = [
            {"name": "precompile", "kind": "precompile", "phase": "compile", **job},
            {
                "name": "pretrain",
                "nodes": NODES,
                "processes_per_node": 1,
                "environment": {"UC_CHECKPOINT_POLL_SECONDS": "0.2"},
                "gates": {"fabric": True},
                "depends_on": ["precompile"],
                "resume": 10,
                **job,
            },
        ]
        capacity = {"order": ORDER, "launched_by": self.launched_by}
        self.account.write_rollout(nodes=NODES, capacity=capacity, jobs=json.loads(json.dumps(jobs)))
        images = {IMAGE.partition(":")[0]: self._programs()}
        self.account.local.run_jobs(JobSettings(images=images))

    def _programs(self) -> Path:
        """Return the folder of programs of the image: Python, torchrun, and fakes of what needs Neuron or EFA devices."""
        folder = self.account.folder / "image"
        folder.mkdir()
        python = TRAINING if (TRAINING / "torchrun").exists() else Path(sys.executable).parent
        variables = " ".join(f"{name}={value}" for name, value in TIMES.items())
        fakes = {
            "python3": f'{variables} UC_RENDEZVOUS_PORT={free_port()} PYTHONPATH={ROOT}/constructs exec {python}/python3 "$@"',
            "torchrun": f'PYTHONPATH={ROOT}/constructs exec {python}/torchrun "$@"',
            "fi_info": f'FAKE_EFA=16 exec {FABRIC}/fakes/fi_info "$@"',
            "nccom-test": f'RUN_FOLDER={folder} exec {FABRIC}/fakes/nccom-test "$@"',
            "neuron_parallel_compile": 'echo "compiled the graphs of $*"',
        }
        for name, command in fakes.items():
            (folder / name).write_text(f"#!/bin/sh\n{command}\n")
            (folder / name).chmod(0o755)
        return folder

    def buy(self) -> None:
        """Approve a standing order, wait until it is on offer, and buy it."""
        tomorrow = datetime.now(UTC).date() + timedelta(
            days=1
        )  # a block of today could start before it is paid
        days = f"{tomorrow} {tomorrow + timedelta(days=30)}"
        what = f"--instance-type trn2.48xlarge --nodes {NODES} --days 2 --between {days} --regions {REGION}"
        money = "--max-fee 4000 --month-cap 8000 --approver Ada"
        self.market.sold_out = True
        assert self.type(f"capacity find {what}", json_too=True)["offerings"] == []
        self.type(f"capacity approve {ORDER} --cluster {CLUSTER} {what} {money}")
        if self.world("price"):
            self.market.sold_out, self.market.price_per_node_hour = False, Decimal(100)
            _, said, _ = self._typed(f"capacity buy {ORDER} --token {self._token(ORDER)}".split())
            assert re.search(r"9,?600\.00", said), said  # above the cap of 4,000
            self.told["price"] = re.sub(r"\s+", " ", said)
            self.market.sold_out, self.market.price_per_node_hour = True, None
        self.market.payment_takes = timedelta(hours=6) if self.world("payment") else timedelta(0)
        if self.world("killed"):
            self._kill_buyer(self._token(ORDER))
        self._wait_and_buy(self._token(ORDER))
        if self.market.payment_takes:
            said = self.type(f"capacity reconcile {ORDER}")
            self.told["payment"] = next(line for line in said.splitlines() if "PURCHASED" in line)  # not PAID
        self.clock("+7h", place="paid")
        self.type(f"capacity reconcile {ORDER}")
        self.type("capacity resolve rollout.yaml --write")
        (row,) = self.type(f"capacity status {ORDER}", json_too=True)["orders"]
        assert row["state"] == "PAID", row
        self.block = str(row["reservations"])

    def _token(self, order: str) -> str:
        _, _, out = self._typed(["capacity", "status", order, "--json"])
        return str(json.loads(out)["orders"][0]["token"])

    def _wait_and_buy(self, token: str) -> None:
        looks = itertools.count()

        def later(_: float) -> None:
            self.market.sold_out = next(looks) < 2

        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(Ec2Driver.__init__.__kwdefaults__, "sleep", later)  # type: ignore[misc]
            said = self.type(f"capacity buy {ORDER} --wait --token {token}")
        if not self.wire.killed:
            self.told["late offer"] = next(line for line in said.splitlines() if "Searching every" in line)

    def _kill_buyer(self, token: str) -> None:
        """Kill the process that buys, when EC2 has sold and not yet answered."""
        self.market.sold_out = False
        program = [sys.executable, "-P", "-m", "ultracluster_cli", "capacity", "buy", ORDER, "--token", token]
        with subprocess.Popen(
            program,
            cwd=self.account.folder,
            env=self.account.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as buyer:
            self.wire.kill_at_purchase(buyer)
            buyer.wait(PATIENCE)
        assert self.wire.killed
        assert buyer.returncode < 0
        said = self.type(f"capacity status {ORDER}")
        assert "SENDING" in said, said
        self.told["killed"] = next(line for line in said.splitlines() if "SENDING" in line)

    def deploy(self) -> None:
        """Rehearse, deploy, and hear the notifications from now on."""
        self.type("validate rollout.yaml")
        self.type("deploy rollout.yaml --without-capacity --yes")
        self.type("plan rollout.yaml")
        self.type("deploy rollout.yaml --yes")
        sns, sqs = self.account.client("sns"), self.account.client("sqs")
        self.queue = sqs.create_queue(QueueName="people")["QueueUrl"]
        named = sqs.get_queue_attributes(QueueUrl=self.queue, AttributeNames=["QueueArn"])
        for topic in sns.list_topics()["Topics"]:
            arn = named["Attributes"]["QueueArn"]
            sns.subscribe(TopicArn=topic["TopicArn"], Protocol="sqs", Endpoint=arn)

    def hear(self) -> None:
        """Read what the people in `notify` got."""
        sqs = self.account.client("sqs")
        while found := sqs.receive_message(QueueUrl=self.queue, MaxNumberOfMessages=10).get("Messages"):
            for each in found:
                body = json.loads(each["Body"])
                self.messages.append(f"{body.get('Subject', '')}\n{body['Message']}")
                sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=each["ReceiptHandle"])

    def train(self) -> None:
        """Submit the job with its precompilation and its gate, and start the block."""
        self.market.event_copies = 0 if (lost := self.world("lost-events")) else 1
        if late := self.world("late-events"):
            self.market.event_delay = 7 * MINUTE
        self.submit()
        waiting = [job for job in self.jobs() if job["jobName"] == "pretrain" and job["status"] == "PENDING"]
        assert len(waiting) == 1
        self.wait_for("precompile", "SUCCEEDED")
        self.clock("--to", "start", place="start")
        self.wait_for("pretrain-fabric", "SUCCEEDED")
        job = self.follow()
        assert job in self.type(f"jobs list {CLUSTER}")
        self.type(f"jobs why {job}")
        for fault in ["lost events"] * lost + ["late events"] * late:
            self.told[fault] = "nothing waited for them: the block opened within a minute of its start"

    def submit(self) -> None:
        """Submit the job; after a lost answer, stop what the list shows before it is submitted again, as the message says."""
        line = f"jobs submit {CLUSTER} pretrain"
        if self.faults.get("jobs submit"):
            self._through("jobs submit", line.split())
            _, _, listed = self._typed(["jobs", "list", CLUSTER, "--json"])
            for job in json.loads(listed)["jobs"]:
                self._typed(["jobs", "stop", job["job"], "--now"])
        self.type(line)

    def lose_a_node(self) -> None:
        """Lose nodes under a job, which is submitted again: a host is gone, a person replaces a node, another one refuses to join."""
        if self.world("host"):
            job = self.wait_for("pretrain", "RUNNING")
            self.account.client("ec2").terminate_instances(InstanceIds=self._running()[-1:])
            self.wait_for(job, "FAILED")  # the launcher misses the node in real time
            self.until_told("host", "was lost")
            self.clock("+1m")  # in which an Auto Scaling group misses the host
            self.follow()
        job = self.wait_for("pretrain", "RUNNING")
        node = self.type(f"nodes list {CLUSTER}", json_too=True)["nodes"][-1]["node"]
        refusal = self.world("refusal")
        with pytest.MonkeyPatch.context() as patch:
            if (
                refusal
            ):  # Batch launches no node before the one that refuses, or the resumed job would run there
                patch.setattr(runner, "launch", lambda *_, **__: [])
            # In real time, so that the request of the checkpoint is over when the job goes on.
            patch.setattr(nodes, "datetime", datetime)
            patch.setattr(nodes, "time", SimpleNamespace(sleep=lambda _: time.sleep(0.5)))
            self.type(f"nodes replace {node} --wait 6s --yes")
            self.wait_for(job, "FAILED")
            if refusal:
                self._refuse_a_node()
        self.clock("+3m", place="replaced")
        self.follow()

    def _refuse_a_node(self) -> None:
        """Let a node shut itself down that lacks devices.

        With Auto Scaling, a child of the resumed array may wait there: the others wait until their deadline, and it is resumed again.
        """
        if self.launched_by == "batch":
            environments = self.account.client("batch").describe_compute_environments()["computeEnvironments"]
            for_training = next(
                one for one in environments if "trn2.48xlarge" in one["computeResources"]["instanceTypes"]
            )
            (launched,) = launch(REGION, for_training, 1, most_vcpus=10_000)
            node = launched.instance_id
        else:
            node = self._running()[0]
        text = "ultracluster: refused to join the cluster: 15 of 16 Neuron devices"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(general, "SAMPLE_CONSOLE_OUTPUT", text)
            self.account.client("ec2").terminate_instances(InstanceIds=[node])
            instance = ec2_backends[ACCOUNT][REGION].get_instance_by_id(node)
            instance.state_reason.code = "Client.InstanceInitiatedShutdown"
            self.until_told("refusal", f"node {node} refused to join")

    def _running(self) -> list[str]:
        _, _, out = self._typed(["nodes", "list", CLUSTER, "--json"])
        return [node["node"] for node in json.loads(out)["nodes"] if node["state"] == "running"]

    def extend(self) -> None:
        """Buy an extension that is paid late, after the jobs were drained; they resume in it."""
        _, end = self.market.reservations[self.block].period()

        def at(before: timedelta) -> str:
            return f"{end - before:%Y-%m-%dT%H:%M:%SZ}"

        self.clock(at(120 * MINUTE), place="notice")
        self.market.payment_takes = timedelta(minutes=89, seconds=30)
        what = f"--reservation-id {self.block} --region {REGION} --days 1 --cluster {CLUSTER}"
        money = f"--max-fee 2000 --month-cap 8000 --approver Ada --expected-end {at(0 * MINUTE)}"
        self.type(f"capacity extend {MORE} {what} {money}")
        self.type(f"capacity buy {MORE} --token {self._token(MORE)}")
        job = self.wait_for("pretrain", "RUNNING")
        self.clock("--to", "checkpoint", place="checkpoint")
        self.until(lambda: len(self.checkpoints(job)) > 0, lambda: self.log(job))
        self.clock(at(31 * MINUTE), place="last call")
        self.wait_for(job, "FAILED")
        self.clock(at(29 * MINUTE), place="paid again")
        self.follow()
        self.type(f"capacity reconcile {MORE}")
        self.type("capacity resolve rollout.yaml --write")

    def end(self) -> None:
        """Let the extension end, look, report, and destroy."""
        job = self.wait_for("pretrain", "RUNNING")
        self.clock("--to", "checkpoint", place="checkpoint")
        self.until(lambda: len(self.checkpoints(job)) > 0, lambda: self.log(job))
        self.clock("--to", "drain", place="drain")
        self.wait_for(job, "FAILED")
        self.type("status rollout.yaml --picture timeline.svg")
        self.clock("--to", "end", place="end")
        self.clock("+30h", place="a day later")  # a report is written when there is time
        self.hear()
        self.type(f"dashboard --cluster {CLUSTER} --region {REGION} --hours 103 --save recording.json")
        self.late_report = self.type("cost report rollout.yaml", json_too=True)
        self.report = self.type("cost report rollout.yaml --from recording.json", json_too=True)
        self.lives = [*self._attempts()]
        self.type("destroy rollout.yaml --yes")

    def write(self, folder: Path) -> None:
        """Write what was typed and told, the report and its page, and the picture of the timeline."""
        folder.mkdir(parents=True, exist_ok=True)
        told = [f"{place}\t{words}" for place, words in [*self.told.items(), *self.untold.items()]]
        typed = [f"{ended}\t{line}" for line, ended in self.script]
        (folder / "told.txt").write_text("\n".join(told) + "\n")
        (folder / "typed.txt").write_text("\n".join(typed) + "\n")
        (folder / "messages.txt").write_text("\n---\n".join(self.messages) + "\n")
        for name in ("timeline.svg", "recording.json"):
            if (self.account.folder / name).exists():
                (folder / name).write_bytes((self.account.folder / name).read_bytes())

    # What is seen

    def jobs(self) -> list[dict[str, Any]]:
        """Return all jobs, in the order of their submission."""
        ids = self.account.job_ids(*STATES)
        found = self.account.client("batch").describe_jobs(jobs=ids)["jobs"] if ids else []
        return sorted(found, key=lambda job: job["createdAt"])

    def wait_for(self, named: str, state: str) -> str:
        """Wait until the job of an ID, or the last one of a name, is in a state; return its ID."""
        found: list[dict[str, Any]] = []

        def there() -> bool:
            found[:] = [
                job for job in self.jobs() if named in (job["jobId"], job["jobName"].partition("-resume-")[0])
            ][-1:]
            return bool(found) and state in self.states(found[0])

        self.until(there, lambda: f"{named} is not {state}: {found} {self.log(found[0]['jobId'])}")
        return str(found[0]["jobId"])

    def states(self, job: dict[str, Any]) -> list[str]:
        """Return the state of a job; of an array, which waits for its children, also theirs if they share one."""
        size = job.get("arrayProperties", {}).get("size", 0)
        children = [f"{job['jobId']}:{index}" for index in range(size)]
        described = self.account.client("batch").describe_jobs(jobs=children)["jobs"] if children else []
        shared = {child["status"] for child in described}
        return [job["status"], *(shared if len(shared) == 1 else ())]

    def until(self, seen: Callable[[], bool], explain: Callable[[], str]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not seen():
            assert time.monotonic() < deadline, explain()
            time.sleep(0.5)

    def log(self, job: str) -> str:
        return self.account.type("jobs", "logs", job, "--tail", "10000")[1]

    def first_log(self, job: str) -> str:
        """Return what the first node of a job has written, without the time that a command takes."""
        first = f"{job}{'#' if self.launched_by == 'batch' else ':'}0"
        (described,) = self.account.client("batch").describe_jobs(jobs=[first])["jobs"]
        container = described["container"]
        if "logStreamName" not in container:
            return ""
        group = container["logConfiguration"]["options"]["awslogs-group"]
        stream = {"logGroupName": group, "logStreamName": container["logStreamName"]}
        events = self.account.client("logs").get_log_events(startFromHead=True, **stream)["events"]
        return "\n".join(event["message"] for event in events)

    def _attempts(self) -> Iterator[tuple[int, list[int]]]:
        """Yield the first step and the checkpoints of each attempt of the training, in order: each has a log stream."""
        logs = self.account.client("logs")
        for group in logs.describe_log_groups()["logGroups"]:
            name = {"logGroupName": group["logGroupName"]}
            pages = logs.get_paginator("describe_log_streams").paginate(**name)
            streams = [stream for page in pages for stream in page["logStreams"]]
            for stream in sorted(streams, key=lambda stream: stream["creationTime"]):
                told = logs.get_log_events(logStreamName=stream["logStreamName"], startFromHead=True, **name)
                text = "\n".join(event["message"] for event in told["events"])
                for first in re.findall(r"nodes, from step (\d+)", text):
                    yield int(first), [int(step) for step in re.findall(r"checkpoint of step (\d+)", text)]

    def checkpoints(self, job: str) -> list[int]:
        """Return the steps of the checkpoints that a job has written."""
        return [int(step) for step in re.findall(r"checkpoint of step (\d+)", self.first_log(job))]

    def follow(self) -> str:
        """Wait until the training has made steps, in the last job that resumes it, and let minutes pass; return the ID of the job."""
        job = ""

        def trains() -> bool:
            nonlocal job
            job = self.wait_for("pretrain", "RUNNING")
            return "loss" in self.first_log(job)

        self.until(trains, lambda: self.log(job))
        for _ in range(2):
            self.clock("+1m")
        return job
